import Foundation
import Testbed

/// The `concord` command, or another one of this package, as a process of its own.
final class ConcordProcess: Sendable {
    private let process: Process
    private let ending: ProcessEnding
    private let output = Output()
    private let errors = Output()
    private let input: Input?

    /// Returns the path of a command that was built along with the tests.
    static func executable(_ name: String) -> URL {
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return tests.deletingLastPathComponent().appendingPathComponent(name)
    }

    /// - Parameters:
    ///   - folder: The folder in which it runs; nil for that of the tests.
    ///   - hasInput: Whether the test writes to its standard input, with ``type(_:)`` and ``endInput()``.
    ///   - descriptors: How many files and sockets it may have open; nil for as many as the tests themselves.
    init(
        _ arguments: [String], command: String = "concord", executable: String? = nil,
        environment: [String: String] = [:], in folder: String? = nil, hasInput: Bool = false,
        descriptors: Int? = nil
    ) throws {
        process = Process()
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
        process.executableURL = executable.map { URL(fileURLWithPath: $0) } ?? Self.executable(command)
        process.arguments = arguments
        if let descriptors {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments =
                ["-c", "ulimit -n \(descriptors); exec \"$0\" \"$@\"", Self.executable(command).path] + arguments
        }
        // The developer's own settings must not have an effect. Many servers run at the same time, and only some of
        // them have an operator's port.
        let usual = ["PATH": "/usr/bin:/bin", "CONCORD_TEST_PASSWORDS": "1", "CONCORD_PORT_OPERATOR": "off"]
        process.environment = usual.merging(environment) { _, new in new }
        process.standardOutput = output.end
        process.standardError = errors.end
        input = hasInput ? Input() : nil
        if let input { process.standardInput = input.end }
        ending = try ProcessEnding(running: process)
        input?.begin()
        output.begin()
        errors.begin()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// Serves Messenger from a folder, and returns once it is ready.
    static func serving(
        data: String, port: Int, more: [String] = [], environment: [String: String] = [:]
    ) async throws -> ConcordProcess {
        let process = try ConcordProcess(
            ["serve", "messenger", "--data", data, "--port", "messenger=\(port)"] + more,
            environment: environment)
        try await process.waitUntilReady()
        return process
    }

    /// Returns a token of Deuce Diary's own issuer, as `concord deuce-diary token create` prints it.
    static func diaryToken(_ user: String, _ folder: String, _ more: String...) async throws -> String {
        let process = try ConcordProcess(["deuce-diary", "token", "create", "--data", folder, "--user", user] + more)
        let output = await process.wholeOutput()
        let status = await process.status()
        guard status == 0 else { throw Ended(status: status, errors: await process.standardError()) }
        return output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func waitUntilReady() async throws {
        try await wait { $0.contains("ready\n") }
    }

    /// Waits until the log meets a condition.
    func waitForLog(_ condition: (String) -> Bool) async throws {
        if condition(errors.text) { return }
        for await text in errors.texts where condition(text) { return }
        throw Ended(status: await status(), errors: errors.text)
    }

    /// Waits until the output meets a condition.
    func wait(for condition: (String) -> Bool) async throws {
        if condition(output.text) { return }
        for await text in output.texts where condition(text) { return }
        throw Ended(status: await status(), errors: errors.text)
    }

    /// Writes a line to the standard input.
    func type(_ line: String) throws { try input?.write(line + "\n") }
    func endInput() { input?.finish() }

    func waitForErrors(_ words: String) async throws {
        for await text in errors.texts where text.contains(words) { return }
        throw Ended(status: await status(), errors: errors.text)
    }

    /// The path of a tool of Linux.
    private static let prlimit = "/usr/bin/prlimit"
    static var canLimitDescriptors: Bool { FileManager.default.isExecutableFile(atPath: prlimit) }

    /// Limits the files and sockets that the process may open in addition to those it has now.
    func limitDescriptors(toFurther count: Int) async throws {
        let pid = process.processIdentifier
        let now = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
        let tool = Process()
        tool.executableURL = URL(fileURLWithPath: Self.prlimit)
        tool.arguments = ["--pid", "\(pid)", "--nofile=\(now + count):"]
        let status = await (try ProcessEnding(running: tool)).status
        guard status == 0 else { throw Ended(status: status, errors: "prlimit") }
    }

    var identifier: Int32 { process.processIdentifier }

    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Returns the exit code, or 128 plus the signal's number.
    func status() async -> Int32 { await ending.status }

    /// The standard output so far.
    var standardOutput: String { output.text }
    func wholeOutput() async -> String { await output.wholeText() }
    /// Returns the standard error, once the process has ended.
    func standardError() async -> String {
        _ = await status()
        return await errors.wholeText()
    }

    struct Ended: Error, CustomStringConvertible {
        let status: Int32
        let errors: String
        var description: String { "concord ended with \(status): \(errors)" }
    }
}
