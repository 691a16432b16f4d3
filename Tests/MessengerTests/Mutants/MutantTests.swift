import ContractCheck
import ContractClient
import Foundation
import MessengerCheck
import NIOConcurrencyHelpers
import Testbed
import Testing

/// The checker is useful: it fails for servers that break one promise each.
@Suite(.timeLimit(.minutes(30))) struct MutantTests {
    /// The mutants. The scenarios of the clause that a mutant breaks must fail.
    static let all: [Mutant] = [
        Mutant.registering, Mutant.signingIn, Mutant.refreshing, Mutant.signingOut, Mutant.account,
        Mutant.profiles, Mutant.accountDeletions, Mutant.users, Mutant.searching, Mutant.blocking, Mutant.reporting,
        Mutant.creatingChats, Mutant.chatLists, Mutant.chatDetails, Mutant.memberships,
        Mutant.sending, Mutant.histories, Mutant.edits, Mutant.deletions, Mutant.marks, Mutant.uploads, Mutant.removals,
        Mutant.downloads, Mutant.idempotency, Mutant.errors, Mutant.requestBodies, Mutant.authentication,
        Mutant.authorisation, Mutant.handshakes, Mutant.subscriptions, Mutant.pushes, Mutant.keepalives,
        Mutant.socketErrors, Mutant.backlogs, Mutant.memberEvents, Mutant.changeEvents, Mutant.typingEvents,
    ].flatMap(\.self)

    /// The mutants that a run of the checker cannot notice, each with the reason and the test that does.
    static let survivors: [String: String] = [
        "POST /auth/login: lets access tokens outlive their hour": "takes an hour: ClockTests",
        "Idempotency-Key: is forgotten after an hour": "takes an hour: ClockTests",
        "/ws handshake: says nothing to who stays silent": "takes ten seconds of silence: LiveSocketTests",
        "POST /auth/register: limits without saying for how long": "this machine is not limited: ClockTests",
    ]

    @Test func theCheckerNoticesEveryMutant() async throws {
        let start = ContinuousClock.now
        var outcomes = try await together(Self.all.count, width: 4) { try await Self.outcome(of: Self.all[$0]) }
        // Four mutants run at once. On a busy machine one may exceed its time; it then runs again alone.
        for (index, mutant) in Self.all.enumerated() {
            if case .timedOut = outcomes[index] { outcomes[index] = try await Self.outcome(of: mutant) }
        }
        let survived = zip(Self.all, outcomes).filter { $1 != .caught }
        let score = Double(Self.all.count - survived.count) / Double(Self.all.count) * 100
        print(
            "\(Self.all.count - survived.count) of \(Self.all.count) mutants caught (\(String(format: "%.1f", score)) %),"
                + " in \(ContinuousClock.now - start)")
        #expect(
            Set(survived.map(\.0.testDescription)) == Set(Self.survivors.keys),
            "\(survived.map { "\($0.testDescription): \($1)" }.joined(separator: "\n"))")
        #expect(score >= 95)
        #expect(Set(Self.all.map(\.testDescription)).count == Self.all.count, "two mutants of one name")
    }

    /// The proxy alone changes nothing, so a failure is due to the defect.
    @Test(arguments: MessengerScenarios.all)
    func aServerWithoutADefectPasses(_ scenario: Scenario<MessengerWorld>) async throws {
        try await Self.withServer(of: Mutant("none", "") { Defect() }) { server, hasShown in
            try await scenario.run(MessengerWorld(server))
            #expect(hasShown.withLockedValue { $0 } == false)
        }
    }

    enum Outcome: Sendable, Equatable {
        case caught
        case survived
        /// The defect changed nothing, so there was nothing to notice.
        case neverShown
        case timedOut(String)
    }

    private static func outcome(of mutant: Mutant) async throws -> Outcome {
        let outcome = NIOLockedValueBox(Outcome.survived)
        try await withServer(of: mutant) { server, hasShown in
            for scenario in mutant.scenarios {
                // Only waiting shows that a frame is missing, so the limit is well above the time that the frame takes
                // otherwise.
                let limit: Duration =
                    mutant.isSilent ? .seconds(2) + (try await duration(of: scenario)) * 3 : .seconds(60)
                do {
                    try await scenario.run(MessengerWorld(server), within: limit)
                } catch is TimedOut {
                    outcome.withLockedValue { $0 = mutant.isSilent ? .caught : .timedOut(scenario.name) }
                    return
                } catch {
                    let shown = hasShown.withLockedValue { $0 }
                    if ProcessInfo.processInfo.environment["CONCORD_MUTANTS"] != nil {
                        print("\(mutant.testDescription) | \(scenario.name) | \("\(error)".prefix(250))")
                    }
                    outcome.withLockedValue { $0 = shown ? .caught : .neverShown }
                    return
                }
            }
            if !hasShown.withLockedValue({ $0 }) { outcome.withLockedValue { $0 = .neverShown } }
        }
        return outcome.withLockedValue { $0 }
    }

    /// Returns the time that a scenario takes now on a server without a defect.
    private static func duration(of scenario: Scenario<MessengerWorld>) async throws -> Duration {
        let duration = NIOLockedValueBox(Duration.zero)
        try await withServer(of: Mutant("none", "") { Defect() }) { server, _ in
            let start = ContinuousClock.now
            try await scenario.run(MessengerWorld(server))
            duration.withLockedValue { $0 = ContinuousClock.now - start }
        }
        return duration.withLockedValue { $0 }
    }

    private static func withServer(
        of mutant: Mutant, _ body: @escaping @Sendable (Server, Traces) async throws -> Void
    ) async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess), clock: TestClock(step: 20)) { host in
            let (defect, hasShown) = (mutant.make(), Traces(false))
            let sockets = DefectiveSockets(base: host.sockets, defect: defect, hasShown: hasShown)
            let server = Server(
                baseURL: host.baseURL,
                transport: DefectiveTransport(base: host.transport, defect: defect, hasShown: hasShown),
                sockets: sockets)
            defer { sockets.end() }
            try await body(server, hasShown)
        }
    }
}
