import Foundation

/// A server that breaks one promise: the real server, with a defect that changes requests, answers or frames.
public struct Mutant: Sendable, CustomStringConvertible {
    public let name: String
    /// The clause that the defect breaks: the clause of some scenarios, or an operation such as `GET /me`.
    public let clause: String
    /// Whether only a missing frame shows the defect. A scenario that waits for the frame must then reach its time
    /// limit.
    public let isSilent: Bool
    /// Creates the defect for a server. It has a state of its own.
    public let make: @Sendable () -> Defect

    public init(_ clause: String, _ name: String, isSilent: Bool = false, make: @escaping @Sendable () -> Defect) {
        self.clause = clause
        self.name = name
        self.isSilent = isSilent
        self.make = make
    }

    /// Creates a mutant whose defect has no state.
    public init(_ clause: String, _ name: String, isSilent: Bool = false, _ defect: Defect) {
        self.init(clause, name, isSilent: isSilent) { defect }
    }

    /// The time limit of a suite in minutes. All mutants of an API take hours on a busy machine.
    public static let minutes = ProcessInfo.processInfo.environment["CONCORD_MUTANTS"] == nil ? 30 : 240

    public var description: String { "\(clause): \(name)" }
}
