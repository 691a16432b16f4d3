import Foundation
import Testbed
import Testing

@testable import Images

/// The server copes with a helper that is missing, crashes, hangs or returns nonsense.
@Suite(.timeLimit(.minutes(30))) struct HelperTests {
    /// Returns the error of a helper that is a shell script.
    private func error(
        _ script: String, mode: Int = 0o700, timeout: Duration = .seconds(600)
    ) async throws -> ImageError? {
        try await withTemporaryFolder { folder in
            let helper = try await Script(script, in: folder, mode: mode)
            let thumbnailer = Thumbnailer(executable: helper.path, timeout: timeout)
            do throws(ImageError) {
                _ = try await thumbnailer.jpeg(of: "/dev/null", .crop(to: 200))
                return nil
            } catch {
                return error
            }
        }
    }

    @Test(arguments: [
        "kill -SEGV $$", "kill -ABRT $$", "kill -KILL $$", "exit 3", "exit 0", "echo '<html>'", "printf '\\377\\330'",
        "printf '\\377\\330\\377'; kill -SEGV $$", "cat /dev/zero", "exec >&-; exit 255",
    ])
    func aHelperThatCrashesOrLies(script: String) async throws {
        #expect(try await error(script) == .crashed)
    }

    @Test(arguments: [("exit 1", ImageError.notAnImage), ("exit 2", .tooLarge), ("kill -XCPU $$", .timedOut)])
    func errorsOfTheHelperAreUnderstood(script: String, expected: ImageError) async throws {
        #expect(try await error(script) == expected)
    }

    @Test(arguments: [
        "exec sleep 3600", "sleep 3600", "exec >&-; exec sleep 3600", "trap '' TERM; while :; do :; done",
    ])
    func aHelperThatHangsIsEnded(script: String) async throws {
        #expect(try await error(script, timeout: .milliseconds(200)) == .timedOut)
    }

    @Test(arguments: ["exit 69", "exit 127", "exit 126", "exit 71", "exit 64"])
    func aHelperThatCannotWork(script: String) async throws {
        guard case .unavailable = try await error(script) else {
            Issue.record("\(script)")
            return
        }
    }

    @Test func aHelperThatIsNone() async throws {
        guard case .unavailable = try await error("exit 0", mode: 0o600) else {
            Issue.record("not executable")
            return
        }
        for path in ["/nonexistent/thumbnail", "/tmp", ""] {
            let thumbnailer = Thumbnailer(executable: path)
            let error = await #expect(throws: ImageError.self) {
                try await thumbnailer.jpeg(of: "/dev/null", .crop(to: 200))
            }
            guard case .unavailable = error else {
                Issue.record("\(path): \(String(describing: error))")
                continue
            }
        }
    }

    @Test func aHelperThatLacksAFormat() async throws {
        try await withTemporaryFolder { folder in
            let helper = try await Script("exit 1", in: folder)
            let missing = try await Thumbnailer(executable: helper.path).missingFormats()
            #expect(missing == ImageFormat.allCases)
        }
        await #expect(throws: ImageError.self) {
            try await Thumbnailer(executable: "/nonexistent/thumbnail").missingFormats()
        }
        #expect(try await Thumbnailer.built.get().missingFormats() == [])
    }

    // MARK: Finding the helper

    @Test func theHelperIsBesideTheProgram() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/bin/thumbnail"
            try FileManager.default.createDirectory(atPath: folder + "/bin", withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/concord", withDestinationPath: folder + "/bin/concord")
            try Data().write(to: URL(fileURLWithPath: folder + "/bin/concord"))
            try expectNone(beside: folder + "/bin/concord", words: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try expectNone(beside: folder + "/bin/concord", words: path)
            try FileManager.default.removeItem(atPath: path)
            try Data().write(to: URL(fileURLWithPath: path))
            try expectNone(beside: folder + "/bin/concord", words: path)

            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            for program in ["/bin/concord", "/concord"] {
                let found = try Thumbnailer.locate(beside: folder + program, environment: ["CONCORD_THUMBNAIL": ""])
                #expect(URL(fileURLWithPath: found) == URL(fileURLWithPath: path).resolvingSymlinksInPath())
            }
            try expectNone(beside: folder + "/lib/concord", words: folder + "/lib/thumbnail")
        }
    }

    @Test func theHelperIsWhereTheVariableSays() throws {
        #expect(try Thumbnailer.locate(environment: ["CONCORD_THUMBNAIL": "/bin/sh"]) == "/bin/sh")
        try expectNone(
            environment: ["CONCORD_THUMBNAIL": "/opt/none"], words: "CONCORD_THUMBNAIL names no program: /opt/none")
    }

    /// Checks that no helper is found, and that the error says so to an operator.
    private func expectNone(
        beside program: String = "/bin/sh", environment: [String: String] = [:], words: String
    ) throws {
        let error = try #require(throws: ImageError.self) {
            try Thumbnailer.locate(beside: program, environment: environment)
        }
        guard case .unavailable = error else {
            Issue.record("\(error)")
            return
        }
        #expect(error.description.contains(words) && error.description.contains("CONCORD_THUMBNAIL"), "\(error)")
    }

    // MARK: Concurrency

    @Test func onlySoManyHelpersRunAtOnce() async throws {
        try await withTemporaryFolder { folder in
            let helper = try await WaitingScript(in: folder)
            let thumbnailer = Thumbnailer(executable: helper.path, timeout: .seconds(300), concurrency: 3)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<12 {
                    group.addTask { _ = try await thumbnailer.jpeg(of: "/dev/null", .crop(to: 200)) }
                }
                _ = await helper.begun(3)
                helper.release()
                try await group.waitForAll()
            }
            let counts = try String(contentsOfFile: folder + "/counts", encoding: .utf8).split(separator: "\n")
            #expect(counts.count == 12)
            #expect(counts.allSatisfy { 1...3 ~= Int($0) ?? 0 }, "\(counts)")
        }
    }

    @Test func theQueueIsBounded() async throws {
        try await withTemporaryFolder { folder in
            let helper = try await WaitingScript(in: folder)
            let thumbnailer = Thumbnailer(
                executable: helper.path, timeout: .seconds(300), concurrency: 1, queueLimit: 1)
            let first = Task { try await thumbnailer.jpeg(of: "/dev/null", .crop(to: 200)) }
            _ = await helper.begun(1)
            let second = Task { try await thumbnailer.jpeg(of: "/dev/null", .crop(to: 200)) }
            while await thumbnailer.queueLength < 1 { await Task.yield() }
            await #expect(throws: ImageError.unavailable("too many images wait for their turn")) {
                try await thumbnailer.jpeg(of: "/dev/null", .crop(to: 200))
            }
            helper.release()
            #expect(try await first.value.count == 3)
            #expect(try await second.value.count == 3)
        }
    }

    /// A user may have one image in work and a few in the queue. Other users do not wait behind them.
    @Test func oneUserDoesNotDelayOthers() async throws {
        try await withTemporaryFolder { folder in
            let helper = try await WaitingScript(in: folder)
            let thumbnailer = Thumbnailer(
                executable: helper.path, timeout: .seconds(300), concurrency: 2, queueLimit: 100, share: 3)
            let make = { @Sendable (person: String) in
                try await thumbnailer.jpeg(of: "/dev/null", .crop(to: 200), for: person)
            }
            let flood = (0..<4).map { _ in Task { try await make("john") } }
            _ = await helper.begun(1)
            while await thumbnailer.queueLength < 3 { await Task.yield() }
            await #expect(throws: ImageError.tooMany) { try await make("john") }
            // A slot is free although John has three images in the queue.
            let jane = Task { try await make("jane") }
            _ = await helper.begun(1)
            #expect(await thumbnailer.queueLength == 3)
            // No slot is free, so she waits in the queue, but John's share does not limit her.
            let another = Task { try await make("jane") }
            while await thumbnailer.queueLength < 4 { await Task.yield() }
            await #expect(throws: ImageError.tooMany) { try await make("john") }
            helper.release()
            for task in flood + [jane, another] { #expect(try await task.value.count == 3) }
            #expect(try await make("john").count == 3)
        }
    }

    @Test func cancellingEndsTheHelperAndLeavesTheQueue() async throws {
        try await withTemporaryFolder { folder in
            let helper = try await WaitingScript(in: folder)
            let thumbnailer = Thumbnailer(executable: helper.path, timeout: .seconds(300), concurrency: 1)
            let running = Task { try await thumbnailer.jpeg(of: "/dev/null", .crop(to: 200)) }
            let pid = await helper.begun(1)[0]
            let waiting = Task { try await thumbnailer.jpeg(of: "/dev/null", .crop(to: 200)) }
            while await thumbnailer.queueLength < 1 { await Task.yield() }
            waiting.cancel()
            await #expect(throws: ImageError.cancelled) { try await waiting.value }
            running.cancel()
            await #expect(throws: ImageError.cancelled) { try await running.value }
            #expect(kill(pid, 0) == -1 && errno == ESRCH)
            // The slot is free again.
            helper.release()
            #expect(try await thumbnailer.jpeg(of: "/dev/null", .crop(to: 200)).count == 3)
        }
    }

    // MARK: Confinement

    #if os(Linux)
    /// If the helper inherited a socket, its port would stay taken and its client would never see the end.
    @Test func theHelperInheritsNoOpenFiles() async throws {
        try await withTemporaryFolder { folder in
            let secret = open(folder + "/secret", O_RDWR | O_CREAT, 0o600)
            try #require(secret > 2)
            defer { close(secret) }
            let helper = try await Script("ls -l /proc/$$/fd >'\(folder)/descriptors'; exit 1", in: folder)
            await #expect(throws: ImageError.notAnImage) {
                try await Thumbnailer(executable: helper.path).jpeg(of: "/dev/null", .crop(to: 200))
            }
            let descriptors = try String(contentsOfFile: folder + "/descriptors", encoding: .utf8)
            #expect(descriptors.contains(" 0 -> /dev/null"))
            #expect(!descriptors.contains("/secret") && !descriptors.contains("socket:"), "\(descriptors)")
        }
    }

    @Test func theHelperHasNoFilesAndNoNetwork() async throws {
        try await withTemporaryFolder { folder in
            // The FIFO is never empty and never at its end, so the helper waits for the rest of its image.
            try #require(mkfifo(folder + "/image", 0o600) == 0)
            let image = open(folder + "/image", O_RDWR | O_CLOEXEC)
            try #require(image >= 0 && write(image, [0xFF, 0xD8, 0xFF] as [UInt8], 3) == 3)
            defer { close(image) }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: try Thumbnailer.locate(environment: [:]))
            process.standardInput = FileHandle(fileDescriptor: image, closeOnDealloc: false)
            process.standardOutput = FileHandle.nullDevice
            let ending = try ProcessEnding(running: process)
            let proc = "/proc/\(process.processIdentifier)"
            var status = ""
            while process.isRunning, !status.contains("Seccomp:\t2") {
                await Task.yield()
                status = (try? String(contentsOfFile: proc + "/status", encoding: .utf8)) ?? ""
            }
            #expect(process.isRunning && status.contains("NoNewPrivs:\t1"))
            let limits = try String(contentsOfFile: proc + "/limits", encoding: .utf8).split(separator: "\n")
            for (name, value) in [
                ("Max cpu time", "20"), ("Max file size", "0"), ("Max core file size", "0"),
                ("Max address space", "\(1536 << 20)"),
            ] {
                let line = limits.first { $0.hasPrefix(name) }?.dropFirst(name.count).split(separator: " ")
                #expect(line?.prefix(2) == [Substring(value), Substring(value)], "\(name)")
            }
            kill(process.processIdentifier, SIGKILL)
            #expect(await ending.status == 128 + SIGKILL)
        }
    }
    #endif
}

extension Thumbnailer {
    fileprivate var queueLength: Int { get async { await slots.queueLength } }
}

/// A helper that is a shell script.
private struct Script {
    let path: String
    private let folder: String

    /// Another process writes the file. The children of other tests may inherit what this process has open for writing,
    /// and a file that is open for writing cannot be run.
    init(_ script: String, in folder: String, mode: Int = 0o700) async throws {
        self.folder = folder
        path = folder + "/helper"
        let run = try await StockTools.run(
            "/bin/sh",
            [
                "-c", #"printf '%s' "$1" >"$2" && chmod "$3" "$2""#, "sh", "#!/bin/sh\nPATH=/usr/bin:/bin\n\(script)\n",
                path, String(mode, radix: 8),
            ])
        try #require(run.status == 0, "\(run.output)")
    }
}

/// A helper that reports its start, waits until it may end, records how many others run, and writes the beginning of a
/// JPEG.
private final class WaitingScript: Sendable {
    let path: String
    private let pids: AsyncStream<pid_t>
    private let began: FileHandle
    private let gate: FileHandle

    init(in folder: String) async throws {
        try FileManager.default.createDirectory(atPath: folder + "/running", withIntermediateDirectories: false)
        (began, gate) = (try Self.fifo(folder + "/began"), try Self.fifo(folder + "/gate"))
        let (pids, continuation) = AsyncStream.makeStream(of: pid_t.self)
        self.pids = pids
        began.readabilityHandler = { handle in
            let lines = String(decoding: handle.availableData, as: UTF8.self).split(separator: "\n")
            for line in lines { continuation.yield(pid_t(line) ?? 0) }
        }
        path = try await Script(
            """
            cd '\(folder)'
            touch running/$$
            echo $$ >began
            read line <gate
            ls running | wc -l >>counts
            rm running/$$
            printf '\\377\\330\\377'
            """, in: folder
        ).path
    }

    deinit { began.readabilityHandler = nil }

    /// Opens the FIFO at both ends, so that no process waits for the other end and none reads an end of file.
    private static func fifo(_ path: String) throws -> FileHandle {
        try #require(mkfifo(path, 0o600) == 0)
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Returns the process ids of the next helpers that start.
    func begun(_ count: Int) async -> [pid_t] {
        var found: [pid_t] = []
        for await pid in pids {
            found.append(pid)
            if found.count == count { break }
        }
        return found
    }

    /// Lets all helpers end, also later ones.
    func release() { gate.write(Data(repeating: UInt8(ascii: "\n"), count: 64)) }
}
