import Foundation
import NIOConcurrencyHelpers

/// What `make test` installs from PyPI.
enum StockTools {
    static let python = ProcessInfo.processInfo.environment["CONCORD_PYTHON"]
    /// Beside the interpreter, where pip puts programs.
    static let rclone = python.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/rclone" }
        .flatMap { FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil }

    /// The package's own folder.
    static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// What the program writes, when it has ended well, given a file's content as its input.
    static func output(of program: String, _ arguments: [String], input: String) async throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: input))
        let (output, ending) = (Pipe(), Ending())
        process.standardOutput = output
        process.terminationHandler = { ending.end($0.terminationStatus) }
        try process.run()
        let text = try await Task.detached {
            String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        }.value
        let status = await ending.status
        guard status == 0 else { throw Failed(program: program, status: status) }
        return text
    }

    struct Failed: Error {
        let program: String
        let status: Int32
    }

    /// The exit code of a process, to be awaited once.
    final class Ending: Sendable {
        private let statuses: AsyncStream<Int32>
        private let continuation: AsyncStream<Int32>.Continuation

        init() { (statuses, continuation) = AsyncStream.makeStream() }

        func end(_ status: Int32) {
            continuation.yield(status)
            continuation.finish()
        }

        var status: Int32 {
            get async {
                for await status in statuses { return status }
                return -1
            }
        }
    }
}
