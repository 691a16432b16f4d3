import Backend
import CoreMetrics
import Foundation
import Logging
import NIOConcurrencyHelpers

/// Writes lines to a descriptor on a thread of its own, so that logging never waits for the reader of the log.
///
/// The lines that wait have a limit. Beyond it lines are dropped and counted, and the count is logged as soon as
/// writing continues. The newest lines stay in memory.
final class LogWriter: Sendable {
    private struct State {
        var lines: [UInt8] = []
        var recent = RecentLines()
        var dropped = 0
        var isIdle = false
    }

    private let state = NIOLockedValueBox(State())
    private let work = DispatchSemaphore(value: 0)
    private let descriptor: Int32
    private let capacity: Int
    private let notice: @Sendable (_ dropped: Int) -> String
    private let drops = Counter(label: "concord_log_lines_dropped_total")

    /// - Parameters:
    ///   - capacity: The bytes that may wait.
    ///   - notice: Returns the line that reports how many lines were dropped.
    init(
        to descriptor: Int32, capacity: Int = 4 << 20, notice: @escaping @Sendable (_ dropped: Int) -> String
    ) {
        self.descriptor = descriptor
        self.capacity = capacity
        self.notice = notice
        let thread = Thread { [self] in
            while true { writeNext() }
        }
        thread.name = "log"
        thread.start()
    }

    /// The newest lines, the oldest first.
    @Sendable func recentLines() -> [RecentLines.Line] { state.withLockedValue { $0.recent }.all }

    /// Adds a line, which includes its line end. It does not wait.
    ///
    /// - Parameter person: The person whose request the line is about; nil for other lines.
    func write(_ line: String, _ level: Logger.Level = .info, of person: RecentLines.Person? = nil) {
        let wakes = state.withLockedValue { state in
            state.recent.add(line, level, of: person)
            guard state.lines.count + line.utf8.count <= capacity else {
                drops.increment()
                state.dropped += 1
                return false
            }
            state.lines += line.utf8
            defer { state.isIdle = false }
            return state.isIdle
        }
        if wakes { work.signal() }
    }

    private func writeNext() {
        let (batch, dropped) = state.withLockedValue { state -> ([UInt8], Int) in
            state.isIdle = state.lines.isEmpty
            defer {
                state.lines = []
                if !state.isIdle { state.dropped = 0 }
            }
            return (state.lines, state.isIdle ? 0 : state.dropped)
        }
        if batch.isEmpty { return work.wait() }
        // The dropped lines came after those that were kept.
        guard put(batch) else {
            let lines = batch.count { $0 == UInt8(ascii: "\n") }
            return state.withLockedValue { $0.dropped += dropped + lines }
        }
        if dropped > 0, !put(Array(notice(dropped).utf8)) { state.withLockedValue { $0.dropped += dropped } }
    }

    /// Writes bytes, and returns whether all of them could be written.
    private func put(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // Another process has made the descriptor non-blocking.
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Waits until everything is written, for a limited number of seconds.
    func flush(within limit: Double) {
        let end = Date.now + limit
        while !state.withLockedValue({ $0.isIdle && $0.lines.isEmpty }), Date.now < end { usleep(2000) }
    }
}

extension LogWriter {
    private static let atEnd = NIOLockedValueBox<LogWriter?>(nil)

    /// Flushes at every kind of exit, for at most two seconds, in case the log is not being read.
    func flushAtExit() {
        let isFirst = Self.atEnd.withLockedValue { writer in
            defer { writer = self }
            return writer == nil
        }
        if isFirst { atexit { LogWriter.atEnd.withLockedValue { $0 }?.flush(within: 2) } }
    }
}
