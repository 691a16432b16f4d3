@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MonicaClient
import MonicaExamples

/// A Monica server under test, and the accounts of the scenarios.
package struct MonicaWorld: PeopledWorld {
    package typealias API = Monica
    package let server: ValidatedServer
    private let token: @Sendable (Int?) async throws -> String
    private let spareToken: @Sendable () async throws -> String

    private static let shapes = WireShapes(MonicaExamples.all)

    /// Creates a world in which every answer is checked.
    ///
    /// - Parameters:
    ///   - spareToken: Returns the token of a new account, which a scenario may delete.
    ///   - token: Returns a token of the first account (0), of the second (1), or of any (nil).
    package init(
        _ server: Server, spareToken: @escaping @Sendable () async throws -> String,
        token: @escaping @Sendable (_ account: Int?) async throws -> String
    ) {
        self.server = ValidatedServer(server, Self.shapes) { problem, _ in
            let code = JSONValue.integer(Int64(problem.status.code))
            return [
                "error": ["message": .string(problem.message), "code": code, "error_code": Self.errorCode(of: problem)]
            ]
        }
        self.token = token
        self.spareToken = spareToken
    }

    private static func errorCode(of problem: Problem) -> JSONValue {
        switch (problem.code, problem.status.code) {
        case (.number(let number)?, _): number.json
        case (.malformedJSON?, _): 37
        case (_, 400), (.reusedIdempotencyKey?, _): 41
        case (_, 401): 42
        case (_, 404): 31
        default: 0
        }
    }

    /// Returns the owner of an account.
    package func owner() async throws -> Owner { try await owner(nil) }

    package func person() async throws -> Owner { try await owner(nil) }

    /// Returns the owners of the first accounts.
    package func people(_ count: Int) async throws -> [Owner] {
        var owners: [Owner] = []
        for account in 0..<count { owners.append(try await owner(account)) }
        return owners
    }

    /// Returns the owner of an account that the scenario may delete.
    func spareOwner() async throws -> Owner { owner(withToken: try await spareToken()) }

    private func owner(_ account: Int?) async throws -> Owner { owner(withToken: try await token(account)) }

    private func owner(withToken token: String) -> Owner {
        let client = MonicaAPIClient(
            configuration: APIConfiguration(baseURL: baseURL, token: token, retryCount: 0), transport: transport,
            cache: NoCache())
        return Owner(token: token, client: client, world: self)
    }

    /// Returns a word that no contact contains: scenarios share an account.
    func freshWord() -> String {
        "q" + String((0..<10).compactMap { _ in "bcdfghjklmnpqrstvwxz".randomElement() })
    }
}

/// A cache that stores nothing, so that each answer is the server's.
private struct NoCache: ResponseCache {
    func response(for key: String) async -> [UInt8]? { nil }
    func keep(_ body: [UInt8], for key: String) async {}
    func clear() async {}
}

/// The owner of an account with a token, and an SDK that sends it.
package struct Owner: Requester {
    package let token: String
    package let client: MonicaAPIClient
    let world: MonicaWorld
    package var raw: RawClient { world.raw.signed(token: token) }

    @discardableResult
    package func send<E: Contract.Endpoint>(_ request: E) async throws -> E.Output where E.API == Monica {
        await client.forgetAnswers()
        return try await client.send(request)
    }

    /// Creates a contact.
    package func contact(
        _ first: String, _ last: String? = nil, nickname: String? = nil, isPartial: Bool = false
    ) async throws -> Monica.Contact {
        try await client.create(
            Monica.ContactDraft(firstName: first, lastName: last, nickname: nickname, isPartial: isPartial))
    }

    /// Returns the ids of a list, over all its pages.
    func ids(_ path: String) async throws -> [Int64] {
        try await get(path).succeeded(200, path)["data"]?.elements.compactMap { $0["id"]?.integer } ?? []
    }
}

extension Int {
    var json: JSONValue { .integer(Int64(self)) }
}

extension RawAnswer {
    /// Fails unless this is a refusal in the API's shape with exactly this message.
    @discardableResult
    func refused(
        _ status: Int, _ errorCode: Int, _ text: String, _ what: @autoclosure () -> String = "", line: UInt = #line,
        file: StaticString = #fileID
    ) throws -> RawAnswer {
        try refused(Problem(.init(code: status), text, code: .number(errorCode)), what(), line: line, file: file)
    }
}

/// The contract as scenarios, one list for each section.
package enum MonicaScenarios {
    package static var all: [Scenario<MonicaWorld>] {
        published + errors + contacts + merges + relationships + contactFields + addresses + phoneCalls + conversations
            + reminders + debts + pets + lifeEvents + files + photos + documents + journal + search + lists + writing
            + tags + idempotency + genders + activityTypes + currencies + account + personalTokens + archive
            + ofTwoAccounts + agreement + required
            + AboutScenarios.all()
    }

    /// Returns the scenarios of `concord check monica`.
    ///
    /// - Parameter tokens: Tokens of one or two accounts. Scenarios use them in turn, because each token has a rate
    ///   limit. Scenarios that need two accounts are skipped with tokens of one.
    package static func checklist(_ tokens: [String]) -> Checklist {
        let purse = Purse(tokens)
        return Checklist(
            api: "monica", scenarios: all, probe: "/me", tokens: tokens, isLimited: { _ in true },
            noting: { CreatedResources() },
            enter: { server in
                MonicaWorld(
                    server, spareToken: { throw Skipped("it needs an account of its own, and the tokens are yours") },
                    token: { try await purse.token(of: $0, on: server) })
            })
    }
}

/// The tokens of a run, by account.
actor Purse {
    private let tokens: [String]
    private var accounts: Task<[[String]], any Error>?
    private var turn = 0

    init(_ tokens: [String]) { self.tokens = tokens }

    /// Returns the next token of an account, counted from 0, or the next of all.
    func token(of account: Int?, on server: Server) async throws -> String {
        turn += 1
        guard let account else { return try tokens[turn % tokens.count] }
        let accounts = self.accounts ?? Task { [tokens] in try await Self.sorted(tokens, on: server) }
        self.accounts = accounts
        let all = try await accounts.value
        guard all.indices.contains(account) else { throw Skipped("it takes a --token of another account") }
        return try all[account][turn % all[account].count]
    }

    /// Groups the tokens by account, in the order in which they were given. On a server that does not name a token's
    /// account, each token counts as an account.
    private static func sorted(_ tokens: [String], on server: Server) async throws -> [[String]] {
        var groups: [(account: Int64?, tokens: [String])] = []
        for token in tokens {
            let raw = RawClient(baseURL: server.baseURL, transport: server.transport)
            let answer = try await raw.send(.get, "/me", token: token)
            let account = (try? answer.json())?["data"]?["account"]?["id"]?.integer
            if let account, let known = groups.first(where: { $0.account == account })?.tokens {
                groups.removeAll { $0.account == account }
                groups.append((account, known + [token]))
            } else {
                groups.append((account, [token]))
            }
        }
        return groups.map(\.tokens)
    }
}

/// Records what a scenario creates, and removes it.
actor CreatedResources: MadeResources {
    private struct Made {
        let path: String
        let authorization: String
        /// The contacts with which a resource is deleted; none for one that stays.
        var contacts: Set<String> = []
    }

    private var made: [Made] = []

    func note(_ answer: RawAnswer) {
        let resource = answer.request.url.lastPathComponent
        guard answer.request.method == .post, 200..<300 ~= answer.status,
            [
                "contacts", "activities", "notes", "tasks", "gifts", "tags", "contactfields", "contactfieldtypes",
                "addresses", "calls", "conversations", "reminders", "debts", "pets", "lifeevents", "journal",
                "relationships", "photos", "documents", "genders", "activitytypes", "activitytypecategories",
                "setTags",
            ].contains(resource),
            let authorization = answer.request.headers[.authorization], let data = try? answer.json()["data"]
        else { return }
        if resource == "setTags" {
            for tag in data["tags"]?.elements ?? [] { note("tags", tag, authorization) }
        } else {
            note(resource, data, authorization)
        }
    }

    private func note(_ plural: String, _ resource: JSONValue, _ authorization: String) {
        guard let id = resource["id"]?.integer else { return }
        var new = Made(path: "/\(plural)/\(id)", authorization: authorization)
        if !Self.free.contains(plural) {
            let attendees = resource["contacts"]?.elements.compactMap { $0["id"]?.integer } ?? []
            let owner = resource["contact_id"] ?? (resource["contact"] ?? resource["contact_is"])?["id"]
            new.contacts = Set((attendees + [owner?.integer].compactMap(\.self)).map { "/contacts/\($0)" })
        }
        if !made.contains(where: { $0.path == new.path }) { made.append(new) }
    }

    /// The lists whose records belong to no contact.
    private static let free: Set = [
        "contacts", "tags", "contactfieldtypes", "journal", "genders", "activitytypes", "activitytypecategories",
    ]

    func cleanUp(_ raw: RawClient, hasFailed: Bool) async -> Checklist.Remaining {
        var left: [String: Int] = [:]
        var gone: Set<String> = []
        // Contacts are deleted first, because their resources are deleted with them, and each request counts against
        // the limit.
        let contacts = made.filter { $0.path.hasPrefix("/contacts/") }
        for thing in contacts + made.filter({ !$0.path.hasPrefix("/contacts/") }) {
            if !thing.contacts.isEmpty, thing.contacts.isSubset(of: gone) { continue }
            let status = try? await raw(.delete, thing.path, headers: [.authorization: thing.authorization]).status
            if status == 200 || status == 404 {
                gone.insert(thing.path)
            } else {
                left[String(thing.path.split(separator: "/").first ?? ""), default: 0] += 1
            }
        }
        made = []
        return .init(left)
    }
}
