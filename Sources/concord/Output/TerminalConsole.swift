import Backend
import Foundation

/// The terminal on which an operator gave a command.
struct TerminalConsole: OperatorConsole {
    /// Returns the next piece of a command's input; nil at its end.
    typealias Input = @Sendable () throws -> [UInt8]?

    let input: Input
    let bar = ProgressBar()

    func write(_ bytes: [UInt8]) async throws {
        bar.clear()
        try FileHandle.standardOutput.write(contentsOf: bytes)
    }

    func show(_ done: Int, of total: Int) async throws { bar.show(done, of: total) }
    func read() async throws -> [UInt8]? { try input() }
}

/// A progress bar: one line of a terminal, which is redrawn with each step. Nothing is written when standard error is
/// not a terminal.
final class ProgressBar: Sendable {
    private static let width = 40
    private let isTerminal = isatty(STDERR_FILENO) == 1

    func show(_ done: Int, of total: Int) {
        guard isTerminal else { return }
        let full = total == 0 ? Self.width : done * Self.width / total
        let bar = String(repeating: "#", count: full) + String(repeating: "-", count: Self.width - full)
        FileHandle.standardError.say("\r\u{1B}[K[\(bar)] \(done)/\(total)")
    }

    /// Clears the line.
    func clear() { if isTerminal { FileHandle.standardError.say("\r\u{1B}[K") } }
}
