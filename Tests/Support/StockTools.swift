import Foundation
import Testing

/// Programs that were written elsewhere: those that `make test` installs from PyPI, and the shell.
public enum StockTools {
    public static let python = ProcessInfo.processInfo.environment["CONCORD_PYTHON"]
    /// The path of rclone. pip installs programs next to the interpreter.
    public static let rclone = python.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/rclone" }
        .flatMap { FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil }

    /// The package's own folder.
    public static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// Runs a program until it ends.
    ///
    /// - Parameters:
    ///   - input: A file to be its standard input; by default there is none.
    ///   - environment: The whole environment; by default the tests' own.
    /// - Returns: Its exit code, and what it wrote to standard output and standard error, interleaved.
    public static func run(
        _ program: String, _ arguments: [String], input: String = "/dev/null", environment: [String: String]? = nil
    ) async throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        if let environment { process.environment = environment }
        process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: input))
        let output = Output()
        process.standardOutput = output.end
        process.standardError = output.end
        let ending = try ProcessEnding(running: process)
        output.begin()
        return (await ending.status, await output.wholeText())
    }

    /// An entry of a ZIP file.
    public struct ZIPEntry: Decodable, Sendable {
        public let name: String
        public let size: Int64
        /// Year, month, day, hour, minute, second.
        public let date: [Int]
        /// The type and permissions, as Unix has them.
        public let mode: Int
        public let offset: Int64
        /// The content, in Latin-1 where it is no UTF-8; nil for a large one.
        public let text: String?
    }

    /// Reads a ZIP file with Python, which checks the contents' checksums.
    public static func entries(ofZIP path: String) async throws -> [ZIPEntry] {
        let script = "\(package)/Tests/StockClient/zip_entries.py"
        let (status, output) = try await run(try #require(python), [script, path])
        try #require(status == 0, "\(output)")
        return try JSONDecoder().decode([ZIPEntry].self, from: Data(output.utf8))
    }
}
