import ObjectStore

/// Decides what becomes of a file that is put under a signed URL.
public struct UploadPlaces: Sendable {
    /// What may be put at a key.
    public enum Admission: Sendable {
        /// Any file: it replaces what was there.
        case open
        /// The same bytes as those that are there, for an answer that was lost. Others are a 409.
        case taken
    }

    let receive: @Sendable (_ key: ObjectKey, _ put: @Sendable (Admission) async throws -> Void) async throws -> Void

    /// - Parameter receive: Calls `put` with what may be put at the key. As long as it runs, what it was told of the key
    ///   holds. Throws when nothing may be put there.
    public init(
        receive:
            @escaping @Sendable (
                _ key: ObjectKey, _ put: @Sendable (Admission) async throws -> Void
            ) async throws -> Void
    ) {
        self.receive = receive
    }
}
