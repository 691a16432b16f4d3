import ContractCheck
import Foundation
import MonicaCheck
import MonicaExamples
import Testbed
import Testing

/// The checker is useful: for servers that break one promise each, some scenario that uses the operation fails.
@Suite(.timeLimit(.minutes(Mutant.minutes))) struct MonicaMutantTests {
    /// The mutants that a run of the checker cannot notice, each with the reason.
    static let survivors: [String: String] = [
        "GET /: repeats its first answer": "the welcome is always the same",
        "GET /countries: repeats its first answer": "the countries are always the same",
        "GET /currencies: repeats its first answer": "the currencies are always the same",
        "GET /currencies/{id}: repeats its first answer": "the currencies are always the same",
        "GET /currencies/{id}: still shows what is gone": "no currency is gone",
        "GET /relationshiptypes: repeats its first answer": "the types are always the same",
        "GET /relationshiptypes/{id}: repeats its first answer": "the types are always the same",
        "GET /relationshiptypes/{id}: still shows what is gone": "no type is gone",
        "GET /relationshiptypegroups: repeats its first answer": "the groups are always the same",
        "GET /relationshiptypegroups/{id}: repeats its first answer": "the groups are always the same",
        "GET /relationshiptypegroups/{id}: still shows what is gone": "no group is gone",
        "GET /activitytypes: reversed data": "the contract does not say the order",
        "GET /reminders/upcoming/{month}: still shows what is gone": "no month is gone",
        "GET /tags: ignores ?page": "all tags are on one page, whichever is asked for",
        "POST /tasks: ignores completed": "a new task is open, whatever its maker says",
        "GET /export/json: reversed genders": "the contract does not say the order",
        "GET /export/json: reversed activity_types": "the contract does not say the order",
        "GET /activitytypecategories: reversed data": "other servers have another order",
        "GET /export/json: reversed activity_type_categories": "the contract does not say the order",
        "GET /export/json: reversed contact_field_types": "the contract does not say the order",
        "GET /export/json: reversed tags": "the contract does not say the order",
        "GET /export/json: reversed contacts": "the contract does not say the order",
        "GET /export/json: reversed relationships": "the contract does not say the order",
        "GET /export/json: reversed activities": "the contract does not say the order",
        "GET /export/json: reversed notes": "the contract does not say the order",
        "GET /export/json: reversed tasks": "the contract does not say the order",
        "GET /export/json: reversed conversations": "the contract does not say the order",
        "GET /export/json: reversed life_events": "the contract does not say the order",
        "GET /export/json: reversed gifts": "the contract does not say the order",
        "GET /export/json: reversed calls": "the contract does not say the order",
        "GET /export/json: reversed debts": "the contract does not say the order",
        "GET /export/json: reversed journal": "the contract does not say the order",
        "GET /export/json: reversed pets": "the contract does not say the order",
        "GET /export/json: reversed reminders": "the contract does not say the order",
        "GET /me/tokens: null for data.[].expires_at": "an app's token has it: MonicaSignInTests",
        "GET /me/tokens: another data.[].expires_at": "an app's token has it: MonicaSignInTests",
        "POST /conversations/{id}/messages: answers 400 for “The messages may not have more than 100 items.”":
            "a hundred messages: MonicaConversationTests",
        "POST /conversations/{id}/messages: words “The messages may not have more than 100 items.” otherwise":
            "a hundred messages: MonicaConversationTests",
        "POST /conversations/{id}/messages: succeeds in place of “The messages may not have more than 100 items.”":
            "a hundred messages: MonicaConversationTests",
        "POST /contacts/{id}/merge: answers 400 for “The addresses may not have more than 100 items.”":
            "a hundred addresses: MonicaMergeTests",
        "POST /contacts/{id}/merge: words “The addresses may not have more than 100 items.” otherwise":
            "a hundred addresses: MonicaMergeTests",
        "POST /contacts/{id}/merge: succeeds in place of “The addresses may not have more than 100 items.”":
            "a hundred addresses: MonicaMergeTests",
        "GET /export/json: reversed photos": "the contract does not say the order",
        "GET /export/json: reversed documents": "the contract does not say the order",
    ].merging(Mutant.ofDoors(in: MonicaExamples.all)) { own, _ in own }

    @Test func theCheckerNoticesEveryMutant() async throws {
        try await MutantRun(
            "Monica", Mutant.derived(from: MonicaExamples.all, lists: false) + Mutant.monica, survivors: Self.survivors,
            scenarios: MonicaScenarios.all, examples: MonicaExamples.all
        ) { route, body in
            try await withMonica(on: Stack(.sqlite, .inProcess), clock: TestClock(step: 20)) { host in
                let server = route.server(host.baseURL, host.transport, host.sockets)
                let world = MonicaWorld(
                    server, spareToken: { try await host.token("spare \(UUID())") },
                    token: { try await host.token("account \($0 ?? 0)") })
                try await body(world)
            }
        }.run()
    }
}
