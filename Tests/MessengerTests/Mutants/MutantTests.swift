import ContractCheck
import MessengerCheck
import MessengerExamples
import Testbed
import Testing

/// The checker is useful: it fails for servers that break one promise each.
@Suite(.timeLimit(.minutes(Mutant.minutes))) struct MutantTests {
    /// The mutants. The scenarios of the clause that a mutant breaks must fail.
    static let all: [Mutant] = [
        Mutant.registering, Mutant.signingIn, Mutant.refreshing, Mutant.signingOut, Mutant.account,
        Mutant.profiles, Mutant.passwords, Mutant.sessionLists, Mutant.recoveries,
        Mutant.archives, Mutant.accountDeletions, Mutant.users, Mutant.searching, Mutant.blocking, Mutant.reporting,
        Mutant.creatingChats, Mutant.chatLists, Mutant.chatDetails, Mutant.memberships,
        Mutant.sending, Mutant.histories, Mutant.edits, Mutant.deletions, Mutant.marks, Mutant.uploads, Mutant.removals,
        Mutant.downloads, Mutant.devices, Mutant.muting, Mutant.idempotency, Mutant.errors, Mutant.requestBodies,
        Mutant.authentication,
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
        try await MutantRun(
            "Messenger", Self.all, survivors: Self.survivors,
            scenarios: MessengerScenarios.all + MessengerScenarios.operated,
            examples: MessengerExamples.all
        ) { route, body in
            try await withMessenger(on: Stack(.sqlite, .inProcess), clock: TestClock(step: 20)) { host in
                try await body(
                    MessengerWorld(
                        route.server(host.baseURL, host.transport, host.sockets), operator: host.operator))
            }
        }.run()
    }
}
