import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import Testbed
import Testing

@testable import DeuceDiaryCheck

/// The checker is useful: for servers that break one promise each, the scenarios of that clause fail.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryMutantTests {
    struct Mutant: Sendable, CustomTestStringConvertible {
        let clause: String
        let name: String
        let defect: Defect
        /// Whether only a missing frame shows the defect.
        var isSilent = false
        var testDescription: String { "\(clause): \(name)" }

        init(_ clause: String, _ name: String, isSilent: Bool = false, _ defect: Defect) {
            self.clause = clause
            self.name = name
            self.isSilent = isSilent
            self.defect = defect
        }
    }

    // MARK: Kinds of defects

    /// Replaces matches of a regular expression in the successful answers of an operation.
    static func body(_ operation: String, _ pattern: String, _ template: String) -> Defect {
        answer(operation) { text in
            text.replacingOccurrences(of: pattern, with: template, options: .regularExpression)
        }
    }

    static func answer(_ operation: String, _ change: @escaping @Sendable (String) -> String) -> Defect {
        exchange(operation) { request, forward in
            var response = try await forward(request)
            if response.status == .ok { response.text = change(response.text) }
            return response
        }
    }

    /// Reverses a list in an operation's answers.
    static func reversed(_ operation: String, _ member: String? = nil) -> Defect {
        answer(operation) { text in
            guard let json = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else { return text }
            if case .object(var members) = json, let member, case .list(let rows)? = members[member] {
                members[member] = .list(rows.reversed())
                return JSONValue.object(members).description
            }
            if case .list(let rows) = json { return JSONValue.list(rows.reversed()).description }
            return text
        }
    }

    static func status(_ operation: String, _ from: Int, _ to: Int) -> Defect {
        exchange(operation) { request, forward in
            var response = try await forward(request)
            if response.status.code == from { response.status = .init(code: to) }
            return response
        }
    }

    static func refusal(_ operation: String, _ text: String, _ replacement: String) -> Defect {
        exchange(operation) { request, forward in
            var response = try await forward(request)
            if response.text == #"{"message":"\#(text)"}"# { response.text = #"{"message":"\#(replacement)"}"# }
            return response
        }
    }

    /// Sends a refused request again with another body, which the server accepts.
    static func lenient(_ operation: String, _ text: String, _ body: String) -> Defect {
        exchange(operation) { request, forward in
            let response = try await forward(request)
            guard response.text == #"{"message":"\#(text)"}"# else { return response }
            var request = request
            request.body = .bytes(Array(body.utf8))
            return try await forward(request)
        }
    }

    /// Replaces a refusal by a successful answer.
    static func accepting(_ operation: String, _ text: String, _ body: String) -> Defect {
        exchange(operation) { request, forward in
            var response = try await forward(request)
            guard response.text == #"{"message":"\#(text)"}"# else { return response }
            response.status = .ok
            response.text = body
            return response
        }
    }

    /// Replaces matches of a regular expression in an operation's requests.
    static func request(_ operation: String, _ pattern: String, _ template: String) -> Defect {
        exchange(operation) { request, forward in
            var request = request
            if case .bytes(let bytes) = request.body {
                let text = String(decoding: bytes, as: UTF8.self).replacingOccurrences(
                    of: pattern, with: template, options: .regularExpression)
                request.body = .bytes(Array(text.utf8))
            }
            return try await forward(request)
        }
    }

    /// Replaces matches of a regular expression in the queries of an operation's requests.
    static func query(_ operation: String, _ pattern: String, _ template: String) -> Defect {
        exchange(operation) { request, forward in
            var request = request
            let text = request.url.absoluteString.replacingOccurrences(
                of: pattern, with: template, options: .regularExpression)
            if let url = URL(string: text) { request.url = url }
            return try await forward(request)
        }
    }

    static func exchange(
        _ operation: String,
        _ exchange: @escaping @Sendable (TransportRequest, Defect.Forward) async throws -> TransportResponse
    ) -> Defect {
        Defect(exchange: { request, forward in
            let parts = operation.split(separator: " ")
            let (pattern, steps) = (parts[1].split(separator: "/"), request.url.path.split(separator: "/"))
            let applies =
                request.method.rawValue == parts[0] && pattern.count == steps.count
                && zip(pattern, steps).allSatisfy { $0 == $1 || $0.first == "{" }
            return applies ? try await exchange(request, forward) : try await forward(request)
        })
    }

    static func frames(_ change: @escaping @Sendable (String) -> [String]) -> Defect {
        Defect(socket: { SocketDefect(received: change) })
    }

    static func frame(_ pattern: String, _ template: String) -> Defect {
        frames { [$0.replacingOccurrences(of: pattern, with: template, options: .regularExpression)] }
    }

    @Test func theCheckerNoticesEveryMutant() async throws {
        #expect(Set(Self.all.map(\.testDescription)).count == Self.all.count, "two mutants of one name")
        var outcomes = try await together(Self.all.count, width: 4) { try await Self.outcome(of: Self.all[$0]) }
        // Four mutants run at once. On a busy machine one may exceed its time; it then runs again alone.
        for (index, mutant) in Self.all.enumerated() {
            if case .timedOut = outcomes[index] { outcomes[index] = try await Self.outcome(of: mutant) }
        }
        let survived = zip(Self.all, outcomes).filter { $1 != .caught }
        print("\(Self.all.count - survived.count) of \(Self.all.count) mutants of Deuce Diary caught")
        #expect(survived.isEmpty, "\(survived.map { "\($0.testDescription): \($1)" }.joined(separator: "\n"))")
    }

    enum Outcome: Sendable, Equatable {
        case caught
        case survived
        /// The defect changed nothing, so there was nothing to notice.
        case neverShown
        case timedOut(String)
    }

    static func outcome(of mutant: Mutant) async throws -> Outcome {
        let scenarios = DeuceDiaryScenarios.all.filter { $0.clause == mutant.clause }
        #expect(!scenarios.isEmpty, "\(mutant.testDescription)")
        let hasShown = Traces(false)
        for scenario in scenarios {
            var failure: (any Error)?
            try await withDeuceDiary(on: Stack(.sqlite, .inProcess), clock: TestClock(step: 20)) { host in
                let sockets = DefectiveSockets(base: host.sockets, defect: mutant.defect, hasShown: hasShown)
                defer { sockets.end() }
                let transport = DefectiveTransport(base: host.transport, defect: mutant.defect, hasShown: hasShown)
                let server = Server(baseURL: host.baseURL, transport: transport, sockets: sockets)
                do {
                    try await scenario.run(
                        DeuceDiaryWorld(server, tokens: host.tokens), within: .seconds(mutant.isSilent ? 5 : 60))
                } catch {
                    failure = error
                }
            }
            if failure is TimedOut, !mutant.isSilent { return .timedOut(scenario.name) }
            if failure != nil { return hasShown.withLockedValue { $0 } ? .caught : .neverShown }
        }
        return hasShown.withLockedValue { $0 } ? .survived : .neverShown
    }
}

extension TransportResponse {
    static func refusal(_ status: Int, _ text: String) -> TransportResponse {
        TransportResponse(
            status: .init(code: status), headers: [.contentType: "application/json"],
            body: Array(#"{"message":"\#(text)"}"#.utf8))
    }

    fileprivate var text: String {
        get { String(decoding: body, as: UTF8.self) }
        set { body = Array(newValue.utf8) }
    }
}
