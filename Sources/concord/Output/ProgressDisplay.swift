import ContractCheck
import Foundation

/// Shows the progress of a run on standard error: one line that is redrawn on a terminal, or a line for each scenario
/// in a log.
final class ProgressDisplay: Sendable {
    private let isTerminal = isatty(STDERR_FILENO) == 1

    func show(_ progress: Checker.Progress) {
        switch progress {
        case .finished(let verdict, let number, let count):
            let position = "\(number)/\(count)"
            if isTerminal {
                write("\r\u{1B}[K\(position)  \(verdict.name.prefix(70))")
                if verdict.outcome == .failed { write("\r\u{1B}[KBROKEN  \(verdict.clause): \(verdict.name)\n") }
            } else {
                let seconds = String(format: "%.1f", verdict.seconds)
                write("\(position)  \(verdict.outcome)  \(seconds) s  \(verdict.clause): \(verdict.name)\n")
            }
        case .waiting(let seconds):
            let words = "waiting \(seconds) s: the server limits the rate of requests"
            write(isTerminal ? "\r\u{1B}[K\(words)" : "\(words)\n")
        case .interrupted:
            clear()
            let seconds = Checker.graceAfterInterruption.components.seconds
            write("cleaning up for \(seconds) s at most; interrupt again to end at once\n")
        }
    }

    /// Says what an interrupted run has left on the server, which its report could not say.
    func showRemaining(of report: Report) {
        let things = report.leftBehind.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        if !things.isEmpty { write("left behind: \(things.joined(separator: ", "))\n") }
    }

    /// Clears the line.
    func clear() { if isTerminal { write("\r\u{1B}[K") } }

    private func write(_ text: String) { FileHandle.standardError.say(text) }
}
