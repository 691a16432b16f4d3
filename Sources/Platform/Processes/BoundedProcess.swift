import CSpawn
import Foundation
import NIOConcurrencyHelpers

/// Runs a program with limits on its time and output. When `run` returns, the program has ended, in any case.
///
/// The program has a process group of its own, none of the server's sockets and files, and no signal blocked or ignored.
///
/// It uses `posix_spawn` and a thread for each run. Foundation's `Process` needs a run loop, and leaks descriptors to
/// other child processes. swift-subprocess 1.0.2 ends the whole server when a program does not read its input to the
/// end.
public struct BoundedProcess: Sendable {
    public enum Ending: Sendable, Equatable {
        case exited(Int32)
        case signalled(Int32)
        case timedOut
        case tooMuchOutput
        case cancelled
    }

    /// The error of a program that could not be started, with the reason.
    public struct NotStarted: Error {
        public let reason: String

        init(_ code: Int32) { reason = String(cString: strerror(code)) }
    }

    private let executable: String
    private let arguments: [String]
    private let environment: [String: String]
    private let timeout: Duration?
    private let outputLimit: Int
    private let keepsErrors: Bool

    /// - Parameters:
    ///   - executable: The program's path.
    ///   - environment: The environment variables of the program, which has no others.
    ///   - timeout: The time limit from start to end; nil for none.
    ///   - outputLimit: The most bytes of output. The program is ended when it has written more.
    ///   - keepsErrors: Whether standard error belongs to the output. Otherwise it is discarded.
    public init(
        executable: String, arguments: [String], environment: [String: String] = [:], timeout: Duration? = nil,
        outputLimit: Int, keepsErrors: Bool = false
    ) {
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
        self.timeout = timeout
        self.outputLimit = outputLimit
        self.keepsErrors = keepsErrors
    }

    /// Runs the program on a thread of its own. When the task is cancelled, the program is ended.
    ///
    /// - Parameter input: A descriptor that becomes the standard input.
    /// - Returns: How it ended, and its output until then.
    public func run(input: Int32) async throws(NotStarted) -> (ending: Ending, output: [UInt8]) {
        let isCancelled = NIOLockedValueBox(false)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let thread = Thread {
                    continuation.resume(
                        returning: Result { () throws(NotStarted) in
                            try runBlocking(input: input) { isCancelled.withLockedValue { $0 } }
                        })
                }
                thread.name = "helper process"
                thread.start()
            }
        } onCancel: {
            isCancelled.withLockedValue { $0 = true }
        }
        return try result.get()
    }

    /// Runs the program on the calling thread.
    ///
    /// - Parameters:
    ///   - input: A descriptor that becomes the standard input; nil for no input.
    ///   - isCancelled: Returns whether the program is to be ended. It is called about fifty times a second.
    /// - Returns: How it ended, and its output until then.
    public func runBlocking(
        input: Int32?, isCancelled: () -> Bool
    ) throws(NotStarted) -> (ending: Ending, output: [UInt8]) {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        let (readEnd, writeEnd) = try Self.pipe()
        defer { close(readEnd) }
        let child: Child
        do {
            defer { close(writeEnd) }
            child = Child(pid: try spawn(input: input, output: writeEnd))
        }
        var output: [UInt8] = []
        var isOpen = true
        while true {
            if isCancelled() { return (child.end(as: .cancelled), output) }
            if let deadline, ContinuousClock.now >= deadline { return (child.end(as: .timedOut), output) }
            if output.count > outputLimit { return (child.end(as: .tooMuchOutput), output) }
            // Other processes may hold the pipe, so the output is complete when there is nothing to read after the
            // program has ended.
            if isOpen, Self.isReadable(readEnd, within: 20) {
                isOpen = Self.read(readEnd, into: &output)
            } else if let ending = child.ending() {
                return (ending, output)
            } else if !isOpen {
                usleep(1000)
            }
        }
    }

    // MARK: Starting

    private func spawn(input: Int32?, output: Int32) throws(NotStarted) -> pid_t {
        #if canImport(Darwin)
        var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?)
        #else
        var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        if keepsErrors {
            posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        }
        // Otherwise the program would inherit most sockets of the server, which would keep their ports in use and their
        // clients waiting.
        var flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        #if canImport(Darwin)
        flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
        #else
        cspawn_close_from(&actions, 3)
        #endif
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var strings = ([executable] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for string in strings + variables { free(string) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, executable, &actions, &attributes, &strings, &variables)
        guard code == 0 else { throw NotStarted(code) }
        return pid
    }

    /// Creates a pipe. On a Mac, a process that is being started concurrently may inherit its ends, so nothing here relies
    /// on their being closed.
    private static func pipe() throws(NotStarted) -> (readEnd: Int32, writeEnd: Int32) {
        var ends: [Int32] = [-1, -1]
        let code = cspawn_pipe(&ends)
        guard code == 0 else { throw NotStarted(code) }
        return (ends[0], ends[1])
    }

    // MARK: Reading

    private static func isReadable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&event, 1, milliseconds) > 0
    }

    /// Returns false at the end of the output.
    private static func read(_ descriptor: Int32, into output: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Foundation.read(descriptor, &buffer, buffer.count)
        if count > 0 { output += buffer[..<count] }
        return count > 0 || count < 0 && errno == EINTR
    }
}

/// A child process. After its end was observed, it must not be waited for again.
private struct Child {
    let pid: pid_t

    /// Returns how the process has ended; nil while it runs.
    func ending() -> BoundedProcess.Ending? {
        var status: Int32 = 0
        guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
        // These are macros of <sys/wait.h>, which Swift does not import.
        return status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .signalled(status & 0x7F)
    }

    /// Ends the process and all processes that it may have started.
    func end(as ending: BoundedProcess.Ending) -> BoundedProcess.Ending {
        kill(-pid, SIGKILL)
        while waitpid(pid, nil, 0) < 0, errno == EINTR {}
        return ending
    }
}
