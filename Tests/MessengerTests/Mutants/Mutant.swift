import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerCheck
import Testbed
import Testing

/// A server that breaks one promise: the real server, with a defect that changes requests, answers or frames.
struct Mutant: Sendable, CustomTestStringConvertible {
    let name: String
    /// The clause whose scenarios must fail.
    let clause: String
    /// Whether only a missing frame shows the defect. A scenario that waits for the frame must then reach its time
    /// limit.
    let isSilent: Bool
    /// Creates the defect for a server. It has a state of its own.
    let make: @Sendable () -> Defect

    init(_ name: String, _ clause: String, isSilent: Bool = false, _ make: @escaping @Sendable () -> Defect) {
        self.name = name
        self.clause = clause
        self.isSilent = isSilent
        self.make = make
    }

    var testDescription: String { "\(clause): \(name)" }

    var scenarios: [Scenario<MessengerWorld>] { MessengerScenarios.all.filter { $0.clause == clause } }
}
