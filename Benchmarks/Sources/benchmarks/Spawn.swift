import Foundation

/// Starts other programs.
enum Spawn {
    /// Starts a program that writes its standard output into a pipe.
    ///
    /// - Parameters:
    ///   - name: A path, or a name that is searched as the shell does.
    ///   - input: The path of a file that becomes its standard input.
    /// - Returns: Its id, and the read end of the pipe.
    static func start(
        _ name: String, _ arguments: [String], input: String? = nil
    ) throws -> (pid: pid_t, output: Int32) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Failed("pipe: \(String(cString: strerror(errno)))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        if let input { posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0) }

        // Dispatch's threads block most signals, and a child that inherited this would not receive its alarm.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

        var arguments = ([name] + arguments).map { strdup($0) } + [nil]
        // An operator's CONCORD_ settings must not affect the benchmarks.
        let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("CONCORD_") }
            .merging(["CONCORD_PORT_OPERATOR": "off"]) { _, new in new }
        var environment = inherited.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, name, &actions, &attributes, &arguments, &environment)
        close(ends[1])
        guard code == 0 else {
            close(ends[0])
            throw Failed("\(name) cannot be started: \(String(cString: strerror(code)))")
        }
        return (pid, ends[0])
    }

    /// Runs a program until it ends, as ``bytes(of:_:input:)`` does, and returns its output as text.
    static func run(_ name: String, _ arguments: [String]) throws -> (output: String, cpu: Duration) {
        let (output, cpu) = try bytes(of: name, arguments)
        return (String(decoding: output, as: UTF8.self), cpu)
    }

    /// Runs a program until it ends.
    ///
    /// - Returns: Its standard output, and its CPU time.
    /// - Throws: ``Failed`` unless it ends with 0. The reason is on standard error.
    @discardableResult
    static func bytes(
        of name: String, _ arguments: [String], input: String? = nil
    ) throws -> (output: Data, cpu: Duration) {
        let (pid, output) = try start(name, arguments, input: input)
        Leftovers.add(process: pid)
        let text = try FileHandle(fileDescriptor: output, closeOnDealloc: true).readToEnd() ?? Data()
        var status: Int32 = 0
        var usage = rusage()
        wait4(pid, &status, 0, &usage)
        Leftovers.remove(process: pid)
        guard status == 0 else { throw Failed("\(name) failed") }
        return (text, usage.cpu)
    }
}

extension rusage {
    /// The CPU time in user and kernel mode.
    var cpu: Duration {
        [ru_utime, ru_stime].reduce(.zero) { $0 + .seconds($1.tv_sec) + .microseconds($1.tv_usec) }
    }
}
