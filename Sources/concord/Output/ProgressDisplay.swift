import ContractCheck
import Foundation

/// How far a run is, on standard error: one line redrawn on a terminal, in a log a line for each scenario.
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
            let words = "waiting \(seconds) s: the server limits how often it may be asked"
            write(isTerminal ? "\r\u{1B}[K\(words)" : "\(words)\n")
        }
    }

    /// Leaves a clean line.
    func clear() { if isTerminal { write("\r\u{1B}[K") } }

    private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
