import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerCheck
import Testbed
import Testing

/// A server that breaks one promise: the real one, behind something that changes requests, answers or frames.
struct Mutant: Sendable, CustomTestStringConvertible {
    let name: String
    /// The clause whose scenarios must notice.
    let clause: String
    /// Only that something does not come shows it. What waits for it must run into its time limit.
    let isSilent: Bool
    /// Puts the defect in front of a server, with a memory of its own.
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
