import Foundation
import Testing

@testable import ObjectStore

/// rclone as an S3 with one bucket: not Concord's idea of S3, and it checks signatures.
struct S3Server: Sendable {
    @TaskLocal static var current: S3Server?

    static let credentials = S3Credentials(
        accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    static let now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }

    let endpoint: String
    let folder: TemporaryFolder

    /// A place in the server's bucket that no other test uses.
    func location() throws -> S3Location {
        try S3Location("s3://bucket?endpoint=\(endpoint)").folder(UUID().uuidString)
    }

    /// A store, closed in the end.
    func withStore<T>(
        at location: S3Location? = nil, as credentials: S3Credentials = credentials,
        now: @escaping @Sendable () -> Int64 = now, _ body: (S3ObjectStore) async throws -> T
    ) async throws -> T {
        let spool = try TemporaryFolder()
        let store = try S3ObjectStore(
            location: location ?? self.location(), credentials: credentials, spoolFolder: spool.path, now: now)
        let result: Result<T, any Error>
        do { result = .success(try await body(store)) } catch { result = .failure(error) }
        try await store.close()
        return try result.get()
    }

    /// Serves while `body` runs.
    static func serving(_ body: @Sendable () async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/bucket", withIntermediateDirectories: false)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: StockTools.package + "/Tools/s3-server")
        process.arguments = [folder.path, credentials.accessKeyID, credentials.secretAccessKey]
        process.environment = ["PATH": "/usr/bin:/bin", "RCLONE": StockTools.rclone ?? ""]
        // The server ends with its input: closed here, or by the system if the tests crash.
        let (input, log, ending) = (Pipe(), Pipe(), StockTools.Ending())
        process.standardInput = input
        process.standardError = log
        process.terminationHandler = { ending.end($0.terminationStatus) }
        try process.run()
        do {
            let endpoint = try await Task.detached { try address(in: log.fileHandleForReading) }.value
            log.fileHandleForReading.readabilityHandler = {
                if $0.availableData.isEmpty { $0.readabilityHandler = nil }
            }
            try await $current.withValue(S3Server(endpoint: endpoint, folder: folder), operation: body)
        } catch {
            try input.fileHandleForWriting.close()
            throw error
        }
        try input.fileHandleForWriting.close()
        _ = await ending.status
    }

    /// Reads the log up to the line that says where the server listens.
    private static func address(in log: FileHandle) throws -> String {
        var text = ""
        while true {
            if let line = text.firstMatch(of: /Starting s3 server on \[(http:\/\/[0-9.:]+)\//) { return String(line.1) }
            let data = log.availableData
            guard !data.isEmpty else { throw Ended(log: text) }
            text += String(decoding: data, as: UTF8.self)
        }
    }

    struct Ended: Error {
        let log: String
    }
}

/// Starts one server for all the tests of a suite.
struct S3ServerTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard StockTools.rclone != nil else { return try await function() }
        try await S3Server.serving(function)
    }
}

extension Trait where Self == S3ServerTrait {
    static var s3Server: Self { S3ServerTrait() }
}
