import Foundation
import ObjectStore
import Testing

/// An S3 server with one bucket: rclone, which is independent of this project and checks signatures.
public struct S3Server: Sendable {
    /// The server of the running suite (``Testing/Trait/s3Server``).
    @TaskLocal public static var current: S3Server?

    public static let accessKeyID = "AKIAIOSFODNN7EXAMPLE"
    public static let secretAccessKey = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    public static let credentials = S3Credentials(accessKeyID: accessKeyID, secretAccessKey: secretAccessKey)
    public static let now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }

    public let endpoint: String

    /// Returns a location in the server's bucket that no other test uses, in the form that `--objects` takes.
    public func place() -> String { "s3://bucket/\(UUID().uuidString)?endpoint=\(endpoint)&patience=120" }

    /// Returns a location in the server's bucket that no other test uses.
    public func location() throws -> S3Location { try S3Location(place()) }

    /// Runs a closure with a store, which is closed afterwards.
    public func withStore<T>(
        at location: S3Location? = nil, as credentials: S3Credentials = credentials,
        now: @escaping @Sendable () -> Int64 = now, _ body: (S3ObjectStore) async throws -> T
    ) async throws -> T {
        try await withTemporaryFolder { spool in
            let store = try S3ObjectStore(
                location: location ?? self.location(), credentials: credentials, spoolFolder: spool, now: now)
            let result: Result<T, any Error>
            do { result = .success(try await body(store)) } catch { result = .failure(error) }
            try await store.close()
            return try result.get()
        }
    }

    /// Runs a server while `body` runs.
    public static func serving(_ body: @Sendable () async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder + "/bucket", withIntermediateDirectories: false)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: StockTools.package + "/Tools/s3-server")
            process.arguments = [folder, accessKeyID, secretAccessKey]
            process.environment = ["PATH": "/usr/bin:/bin", "RCLONE": StockTools.rclone ?? ""]
            // The server ends with its input: closed here, or by the system if the tests crash.
            let (input, log) = (Input(), Output())
            process.standardInput = input.end
            process.standardError = log.end
            let ending = try ProcessEnding(running: process)
            input.begin()
            log.begin()
            let result: Result<Void, any Error>
            do {
                let server = S3Server(endpoint: try await address(in: log))
                result = .success(try await $current.withValue(server, operation: body))
            } catch {
                result = .failure(error)
            }
            input.finish()
            _ = await ending.status
            try result.get()
        }
    }

    /// Reads the log up to the line that says where the server listens, and returns that address.
    private static func address(in log: Output) async throws -> String {
        for await text in log.texts {
            if let line = text.firstMatch(of: /Starting s3 server on \[(http:\/\/[0-9.:]+)\//) { return String(line.1) }
        }
        throw Ended(log: log.text)
    }

    struct Ended: Error {
        let log: String
    }
}

/// A trait that starts one server for all tests of a suite.
public struct S3ServerTrait: SuiteTrait, TestScoping {
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard StockTools.rclone != nil else { return try await function() }
        try await S3Server.serving(function)
    }
}

extension Trait where Self == S3ServerTrait {
    public static var s3Server: Self { S3ServerTrait() }
}
