import Foundation
import Testbed
import Testing

/// The program makes threads for the cores that it may use, and explains a signal that ends it.
@Suite(.timeLimit(.minutes(30))) struct ProcessTests {
    private static let taskset = ["/usr/bin/taskset", "/bin/taskset"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    private func serving(
        _ folder: String, _ more: [String], executable: String? = nil, _ environment: [String: String] = [:]
    ) async throws -> ConcordProcess {
        let program = executable.map { _ in ["-c", "0", ConcordProcess.executable("concord").path] } ?? []
        let arguments = ["serve", "messenger", "--data", folder, "--port", "messenger=0"] + more
        let process = try ConcordProcess(program + arguments, executable: executable, environment: environment)
        try await process.waitUntilReady()
        return process
    }

    /// Returns the names of a process's threads.
    private func threads(of process: ConcordProcess) throws -> [String] {
        let folder = "/proc/\(process.identifier)/task"
        return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { thread in
            (try? String(contentsOfFile: "\(folder)/\(thread)/comm", encoding: .utf8))?
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    /// A process that is bound to one core has one event loop and one thread for blocking work, whatever the machine has.
    @Test(.enabled(if: taskset != nil)) func aProcessOnOneCoreHasOneEventLoop() async throws {
        try await withTemporaryFolder { folder async throws in
            let process = try await serving(folder, [], executable: Self.taskset)
            try await process.waitForLog { $0.contains(#"count=1 reason="the affinity of the process""#) }
            let names = try threads(of: process)
            #expect(names.filter { $0.hasPrefix("NIO-SGLTN-") }.count == 1, "\(names)")
            process.signal(SIGTERM)
            #expect(await process.status() == 0)
        }
    }

    @Test func theOperatorChoosesTheNumberOfThreads() async throws {
        try await withTemporaryFolder { folder async throws in
            let process = try await serving(folder, ["--threads", "3"], ["CONCORD_THREADS": "5"])
            try await process.waitForLog { $0.contains(#"count=3 reason="CONCORD_THREADS or --threads""#) }
            #if os(Linux)
            let names = try threads(of: process)
            #expect(names.filter { $0.hasPrefix("NIO-SGLTN-") }.count == 3, "\(names)")
            #endif
            process.signal(SIGTERM)
            #expect(await process.status() == 0)
        }
        for (flags, variables) in [(["--threads", "0"], [:]), ([], ["CONCORD_THREADS": "many"])] {
            let refused = try ConcordProcess(["serve", "messenger"] + flags, environment: variables)
            #expect(await refused.status() == 64)
        }
    }

    @Test func theSettingsSayHowManyThreadsAndWhy() async throws {
        try await withTemporaryFolder { folder async throws in
            let usual = try ConcordProcess(["config", "messenger", "--data", folder, "--port", "messenger=0"])
            let line = await usual.wholeOutput().split(separator: "\n").first { $0.hasPrefix("threads ") }
            #expect(line?.contains(/\d+: the (cores|affinity|cpuset|CPU quota) of .* default/) == true, "\(line ?? "")")
            let chosen = try ConcordProcess(
                ["config", "messenger", "--data", folder, "--port", "messenger=0"],
                environment: ["CONCORD_THREADS": "2"])
            let other = await chosen.wholeOutput().split(separator: "\n").first { $0.hasPrefix("threads ") }
            #expect(other?.contains(#/ 2 .*CONCORD_THREADS/#) == true, "\(other ?? "")")
        }
    }

    /// SIGBUS ends the process as it would without a handler, after a line that says what it means.
    @Test(arguments: ["text", "json"]) func aBusErrorIsExplained(_ format: String) async throws {
        try await withTemporaryFolder { folder async throws in
            let process = try await serving(folder, ["--log-format", format])
            process.signal(SIGBUS)
            #expect(await process.status() == 128 + SIGBUS)
            let log = await process.standardError()
            let lines = log.split(separator: "\n").filter { $0.contains("a page of a mapped file cannot be read") }
            #expect(lines.count == 1, "\(log)")
            #expect(lines.first?.contains("the next start checks the databases") == true)
            if format == "json" {
                #expect(
                    try lines.first.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) } is [String: String])
            }
            // The next start reads the whole database, and serves.
            let next = try await serving(folder, ["--log-format", format])
            let words = "checking the whole database: it was not stopped cleanly, or it was restored"
            try await next.waitForLog { $0.contains(words) }
            next.signal(SIGTERM)
            #expect(await next.status() == 0)
        }
    }
}
