import Foundation
import Testing

/// Runs a command in `/bin/sh`, and returns its status and what it wrote to standard output and error together.
///
/// The output goes to a file, because every process that is started meanwhile inherits the ends of Foundation's pipes.
public func runShell(_ command: String, path: String = "/usr/bin:/bin") async throws -> (status: Int32, output: [UInt8])
{
    try await withTemporaryFolder { folder in
        let file = folder + "/output"
        try Data().write(to: URL(fileURLWithPath: file))
        let output = try #require(FileHandle(forWritingAtPath: file))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        process.environment = ["PATH": path]
        process.standardOutput = output
        process.standardError = output
        let status = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        try output.close()
        return (status, [UInt8](try Data(contentsOf: URL(fileURLWithPath: file))))
    }
}
