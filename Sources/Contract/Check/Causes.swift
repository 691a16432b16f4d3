import ContractClient
import Foundation

/// A difference for which several scenarios failed.
public struct Cause: Sendable {
    /// The operation at which they stopped, such as `POST /auth/register`; nil where it is not known.
    public let operation: String?
    /// The failure of the first of them.
    public let failure: Failure
    /// The scenarios, in the order of the contract.
    public let scenarios: [Verdict]

    /// The number of scenarios from which on a difference counts as a common cause.
    static let least = 3

    /// Whether a clause is about the operation at which the scenarios stopped.
    func belongs(to clause: String) -> Bool {
        guard let operation else { return false }
        func steps(_ text: String) -> [Substring] { text.split { $0 == " " || $0 == "/" } }
        let (own, others) = (steps(operation), steps(clause))
        return own.count == others.count
            && zip(own, others).allSatisfy {
                $0 == $1 || "{:".contains($0.first ?? " ") || "{:".contains($1.first ?? " ")
            }
    }
}

extension Report {
    /// The differences for which at least three scenarios failed, the most frequent first.
    public var causes: [Cause] {
        var groups: [String: [Verdict]] = [:]
        var order: [String] = []
        for verdict in scenarios {
            guard let key = verdict.failure?.cause else { continue }
            if groups[key] == nil { order.append(key) }
            groups[key, default: []].append(verdict)
        }
        return order.compactMap { key in
            guard let verdicts = groups[key], verdicts.count >= Cause.least, let failure = verdicts.first?.failure
            else { return nil }
            return Cause(operation: failure.operation, failure: failure, scenarios: verdicts)
        }
        .sorted { $0.scenarios.count > $1.scenarios.count }
    }
}

extension Failure {
    /// A text that is the same for failures of one cause: tokens, ids and other numbers do not matter.
    fileprivate var cause: String {
        let difference = summary.replacing(#/[\w.\-]{24,}/#, with: "0")
            .replacing(#/[0-9a-f]*[0-9][0-9a-f-]*/#, with: "0")
        return [operation ?? place ?? "", difference].joined(separator: "\n")
    }

    /// Returns the operation of a request: its method and path, with `{id}` for what looks like an id.
    static func operation(of request: TransportRequest, below base: URL) -> String? {
        let (url, base) = (request.url.absoluteString, base.absoluteString)
        guard url.hasPrefix(base) else { return nil }
        let path: Substring = url[url.index(url.startIndex, offsetBy: base.count)...].prefix { $0 != "?" }
        let steps = path.split { $0 == "/" }.map { (step: Substring) -> String in
            step.contains { $0.isNumber } || step.count > 24 ? "{id}" : String(step)
        }
        return "\(request.method.rawValue) /" + steps.joined(separator: "/")
    }
}
