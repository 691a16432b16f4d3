import Foundation

/// The end of a process, for tasks: `waitUntilExit` needs a run loop of its own thread, which tasks do not have.
public final class ProcessEnding: Sendable {
    private let task: Task<Int32, Never>

    /// Starts the process.
    public init(running process: Process) throws {
        let (ends, continuation) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            let status = process.terminationStatus
            continuation.yield(process.terminationReason == .exit ? status : 128 + status)
            continuation.finish()
        }
        try process.run()
        task = Task {
            for await status in ends { return status }
            return -1
        }
    }

    /// The exit code, or 128 plus the signal's number.
    public var status: Int32 { get async { await task.value } }
}
