import CSpawn
import Foundation

/// Runs a program of the system that belongs to the database, such as `pg_dump`. It blocks.
///
/// Foundation's `Process` would pass the server's sockets on to the program.
struct ToolProcess {
    /// The most bytes of output that are kept.
    private static let outputLimit = 4 << 20

    let program: String
    let arguments: [String]
    let environment: [String: String]

    /// Runs the program to its end.
    ///
    /// - Returns: Its exit code, or 128 and the number of the signal that ended it, and what it wrote.
    /// - Throws: ``PostgreSQLToolError`` when it cannot be started, `CancellationError`.
    func run(isCancelled: () -> Bool) throws -> (status: Int32, output: String) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw failure(errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let pid: pid_t
        do {
            defer { close(ends[1]) }
            pid = try spawn(output: ends[1])
        }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var isOpen = true
        while true {
            if isCancelled() {
                kill(-pid, SIGKILL)
                while waitpid(pid, nil, 0) < 0, errno == EINTR {}
                throw CancellationError()
            }
            var event = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            if isOpen, poll(&event, 1, 50) > 0 {
                let count = read(ends[0], &buffer, buffer.count)
                isOpen = count > 0 || count < 0 && errno == EINTR
                if count > 0, output.count < Self.outputLimit { output += buffer[..<count] }
                continue
            }
            var status: Int32 = 0
            if waitpid(pid, &status, WNOHANG) == pid {
                // These are macros of <sys/wait.h>, which Swift does not import.
                let code = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
                return (code, String(decoding: output, as: UTF8.self))
            }
            if !isOpen { usleep(5000) }
        }
    }

    /// Starts the program in a process group of its own, with none of the server's sockets and files and no signal
    /// blocked or ignored.
    private func spawn(output: Int32) throws -> pid_t {
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
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
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
        var strings = ([program] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for string in strings + variables { free(string) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, program, &actions, &attributes, &strings, &variables)
        guard code == 0 else { throw failure(code) }
        return pid
    }

    private func failure(_ code: Int32) -> PostgreSQLToolError {
        PostgreSQLToolError("\(program) cannot be started: \(String(cString: strerror(code)))")
    }
}
