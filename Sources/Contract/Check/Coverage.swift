import Contract
import ContractClient
import ContractExamples

/// Notes which operations' answers and which frames a server gave while scenarios ran.
package final class Coverage: Sendable {
    private let seen = Locked(Set<String>())

    package init() {}

    func add(_ answer: String, _ inclusion: String?) {
        seen.use { seen in
            seen.insert(answer)
            if let inclusion { seen.insert("\(answer) including \(inclusion)") }
        }
    }

    func add(frame: JSONValue, from sender: FrameExample.Sender) {
        guard let type = frame["type"]?.string else { return }
        seen.use { _ = $0.insert(Self.name(type, sender)) }
    }

    private static func name(_ frame: String, _ sender: FrameExample.Sender) -> String {
        sender == .client ? "frame \(frame) of a client" : "frame \(frame)"
    }

    /// The examples' answers and frames that no scenario has seen.
    package func missing(from examples: Examples) -> [String] {
        let answers = examples.operations.flatMap { operation in
            operation.answers.map { answer in
                "\(operation.signature): \(answer.status)" + (answer.inclusion.map { " including \($0)" } ?? "")
            }
        }
        let frames = examples.frames.map { Self.name($0.type, $0.sender) }
        let seen = seen.use { $0 }
        return (answers + frames).filter { !seen.contains($0) }
    }
}
