import Foundation
import NIOConcurrencyHelpers

/// A server in a process of its own: the measured one, or a floor.
struct ServerProcess: Sendable {
    let pid: pid_t
    let port: Int
    /// The read end stays open, so that the server's later output does not break its pipe.
    private let output: Int32

    /// Starts a server that prints its address in a line of its standard output.
    init(_ executable: String, _ arguments: [String]) throws {
        let (pid, output) = try Spawn.start(executable, arguments)
        Leftovers.add(process: pid)

        guard let port = Self.readPort(output) else {
            Self.end(pid)
            throw Failed("\(executable) ended without a word about its port")
        }
        self.pid = pid
        self.port = port
        self.output = output
    }

    /// Starts this program with the command of a floor.
    static func floor(_ name: String, _ arguments: [String]) throws -> ServerProcess {
        try ServerProcess(Bundle.main.executablePath ?? CommandLine.arguments[0], [name] + arguments)
    }

    private static func readPort(_ output: Int32) -> Int? {
        var text = ""
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1 {
            text.unicodeScalars.append(Unicode.Scalar(byte))
            guard byte == UInt8(ascii: "\n") else { continue }
            if let url = text.range(of: "http://127.0.0.1:") {
                return Int(text[url.upperBound...].prefix { $0.isNumber })
            }
            text = ""
        }
        return nil
    }

    func stop() {
        Self.end(pid)
        close(output)
    }

    private static func end(_ pid: pid_t) {
        // Once the process has been waited for, its id may belong to another.
        guard Leftovers.contains(process: pid) else { return }
        kill(pid, SIGTERM)
        var status: Int32 = 0
        for _ in 0..<1000 {
            if waitpid(pid, &status, WNOHANG) != 0 { return Leftovers.remove(process: pid) }
            usleep(10_000)
        }
        kill(pid, SIGKILL)
        waitpid(pid, &status, 0)
        Leftovers.remove(process: pid)
    }

    // MARK: Figures

    /// The CPU time of all its threads so far, in user and kernel mode.
    var cpu: Duration {
        var (clock, time) = (clockid_t(), timespec())
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return .zero }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The resident memory, in bytes.
    var residentMemory: Double {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? .nan) * 1024
    }
}

/// Processes and folders that are removed when this process ends in any way.
enum Leftovers {
    private static let state = NIOLockedValueBox((processes: Set<pid_t>(), folders: Set<String>()))

    static func add(process: pid_t) { state.withLockedValue { _ = $0.processes.insert(process) } }
    static func contains(process: pid_t) -> Bool { state.withLockedValue { $0.processes.contains(process) } }
    static func remove(process: pid_t) { state.withLockedValue { _ = $0.processes.remove(process) } }

    /// Runs a closure with an empty folder, and removes the folder.
    static func withFolder<T>(_ body: (String) async throws -> T) async throws -> T {
        let folder = FileManager.default.temporaryDirectory.path + "/concord-benchmark-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        state.withLockedValue { _ = $0.folders.insert(folder) }
        defer {
            try? FileManager.default.removeItem(atPath: folder)
            state.withLockedValue { _ = $0.folders.remove(folder) }
        }
        return try await body(folder)
    }

    /// Stops the servers and removes the folders on Ctrl-C, too.
    static func removeOnSignals() {
        for code in [SIGINT, SIGTERM] {
            signal(code, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: code, queue: .global())
            source.setEventHandler {
                state.withLockedValue { state in
                    for process in state.processes { kill(process, SIGKILL) }
                    for folder in state.folders { try? FileManager.default.removeItem(atPath: folder) }
                }
                exit(128 + code)
            }
            source.resume()
            sources.append(source)
        }
    }

    /// The sources, which end with their last reference. They are written once, before anything else runs.
    private nonisolated(unsafe) static var sources: [any DispatchSourceSignal] = []
}
