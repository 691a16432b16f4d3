import Foundation

/// Makes a backup of everything that a server keeps.
public struct MakeBackup: ServerCommand {
    public static let name = "backup"
    public static let role = OperatorRole.all
    /// The variables with the credentials of a bucket.
    static let credentials = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]

    private var location: BackupLocation
    private var keep: Int?
    private var environment: [String: String]

    /// - Parameters:
    ///   - keep: The newest backups that are kept; nil for all.
    ///   - environment: The operator's environment, whose credentials for a bucket are used if there are any. Otherwise
    ///     they are the server's.
    public init(to location: BackupLocation, keep: Int?, environment: [String: String]) {
        self.location = location
        self.keep = keep
        self.environment = location.isBucket ? environment.filter { Self.credentials.contains($0.key) } : [:]
    }

    public func run(in context: ServerContext) async throws {
        let place = try location.open(
            environment: context.source.settings.environment.merging(environment) { $1 },
            scratch: "\(context.source.settings.folder)/uploads/.backups", makes: true)
        let job = BackupJob(
            source: context.source, place: place, keep: keep,
            report: { try await context.print($0) },
            show: { try? await context.console.show($0, of: $1) })
        let result: Result<(name: String, manifest: BackupManifest), any Error>
        do { result = .success(try await job.run()) } catch { result = .failure(error) }
        try await place.close()
        let (name, manifest) = try result.get()
        try await context.source.record(context.audit, "\(name) to \(location.withoutQuery)")
        try await context.print(
            """
            \(name): \(manifest.apis.count) databases and \(manifest.fileCount) files, \(ByteText.of(manifest.size)), \
            in \(String(format: "%.1f", manifest.seconds)) s
            """)
        if !manifest.keysInEnvironment.isEmpty {
            try await context.print(
                "Not in it, because they are in the environment: \(manifest.keysInEnvironment.joined(separator: ", "))")
        }
        let missing = manifest.apis.reduce(0) { $0 + $1.missing.count }
        guard missing == 0 else {
            throw OperatorError(
                """
                The backup \(name) was made, but \(missing) files that rows name were not in the object store: its \
                manifest.json lists them
                """)
        }
    }
}
