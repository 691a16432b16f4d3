import ObjectStore

/// Decides what happens to a file that is uploaded under a signed URL.
public struct UploadPolicy: Sendable {
    /// The files that may be uploaded at a key.
    public enum Admission: Sendable {
        /// Any file may be uploaded; it replaces the existing one.
        case open
        /// Only the same bytes may be uploaded again, for an answer that was lost. Other bytes are a 409.
        case taken
    }

    let receive: @Sendable (_ key: ObjectKey, _ put: @Sendable (Admission) async throws -> Void) async throws -> Void

    /// - Parameter receive: Calls `put` with the files that may be uploaded at the key, and keeps the key locked while
    ///   `put` runs. It throws when nothing may be uploaded.
    public init(
        receive:
            @escaping @Sendable (
                _ key: ObjectKey, _ put: @Sendable (Admission) async throws -> Void
            ) async throws -> Void
    ) {
        self.receive = receive
    }
}
