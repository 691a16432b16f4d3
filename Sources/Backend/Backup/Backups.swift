import Foundation

/// The backups at a place, for commands that need no server: to list, to verify and to restore them.
public struct Backups: Sendable {
    let place: any BackupPlace
    let location: BackupLocation
    private let scratch: String

    /// A line of a list.
    public struct Entry: Sendable {
        /// The name, which is the time in UTC.
        public let name: String
        /// The contents in words; nil when the manifest cannot be read.
        public let contents: String?
    }

    /// Opens the place.
    ///
    /// - Throws: Errors whose descriptions are for the operator.
    public init(at location: BackupLocation, environment: [String: String]) throws {
        self.location = location
        scratch = "\(NSTemporaryDirectory())/concord-\(UUID().uuidString)"
        place = try location.open(environment: environment, scratch: scratch, makes: false)
    }

    /// Closes connections, and removes temporary files.
    public func close() async throws {
        try await place.close()
        try? FileManager.default.removeItem(atPath: scratch)
    }

    /// Returns the complete backups, the oldest first.
    public func list() async throws -> [Entry] {
        var entries: [Entry] = []
        for name in try await place.names() {
            let manifest = try? await place.manifest(of: name)
            entries.append(
                Entry(
                    name: name,
                    contents: manifest.map {
                        """
                        \($0.apis.map(\.name).joined(separator: " ")): \($0.fileCount) files, \(ByteText.of($0.size)), \
                        by \($0.concord)
                        """
                    }))
        }
        return entries
    }

    /// Verifies a backup.
    ///
    /// - Parameter name: Its name; nil for the newest.
    /// - Returns: The name, and a sentence for each thing that is wrong.
    public func verify(
        _ name: String?, showing show: @escaping @Sendable (_ done: Int, _ total: Int) async -> Void
    ) async throws -> (name: String, findings: [String]) {
        PrivateFiles.keepPrivate()
        let name = try await place.name(name)
        return (name, try await BackupVerification(place: place, show: show).findings(in: name))
    }
}
