import Contract
import ContractClient
import ContractExamples

/// Notes which operations' answers, repeats under a key and frames a server gave while scenarios ran.
package final class Coverage: Sendable {
    private let seen = Locked(Set<String>())

    package init() {}

    func add(_ answer: String, _ inclusion: String?) {
        seen.use { seen in
            seen.insert(answer)
            if let inclusion { seen.insert("\(answer) including \(inclusion)") }
        }
    }

    /// Notes that an operation has answered a repeat under an `Idempotency-Key`.
    func add(repeatOf operation: String) { seen.use { _ = $0.insert(Self.repeated(operation)) } }

    private static func repeated(_ operation: String) -> String { "\(operation): a repeat under its key" }

    func add(frame: JSONValue, from sender: FrameExample.Sender) {
        guard let type = frame["type"]?.string else { return }
        seen.use { _ = $0.insert(Self.name(type, sender)) }
    }

    private static func name(_ frame: String, _ sender: FrameExample.Sender) -> String {
        sender == .client ? "frame \(frame) of a client" : "frame \(frame)"
    }

    /// The examples' answers and frames that no scenario has seen, and the repeats of the operations that take a key.
    package func missing(from examples: Examples) -> [String] {
        let answers = examples.operations.flatMap { operation in
            operation.answers.map { answer in
                "\(operation.signature): \(answer.status)" + (answer.inclusion.map { " including \($0)" } ?? "")
            }
        }
        let repeats = examples.operations.filter(\.takesKey).map { Self.repeated($0.signature) }
        let frames = examples.frames.map { Self.name($0.type, $0.sender) }
        let seen = seen.use { $0 }
        return (answers + repeats + frames).filter { !seen.contains($0) }
    }
}
