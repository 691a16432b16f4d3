import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MonicaClient

/// A Monica server to try scenarios on, and the accounts to try them with.
public struct MonicaWorld: Sendable {
    public let baseURL: URL
    public let transport: any Transport
    public let raw: RawClient
    /// A token of the first account, of the second …
    private let token: @Sendable (Int) async throws -> String

    /// A world whose every answer is looked at.
    public init(_ server: Server, token: @escaping @Sendable (_ account: Int) async throws -> String) {
        let witness = Witness(of: server, holdingTo: MonicaShapes.all)
        baseURL = server.baseURL
        transport = witness
        raw = RawClient(baseURL: server.baseURL, transport: witness)
        self.token = token
    }

    /// Whoever has the first account.
    public func owner() async throws -> Owner { try await owner(0) }

    /// Two with an account each.
    func pair() async throws -> (Owner, Owner) { (try await owner(0), try await owner(1)) }

    private func owner(_ account: Int) async throws -> Owner {
        let token = try await token(account)
        let client = MonicaAPIClient(
            configuration: APIConfiguration(baseURL: baseURL, token: token, retryCount: 0), transport: transport,
            cache: NoCache())
        return Owner(token: token, client: client, world: self)
    }

    /// A word that nobody has in their contacts: scenarios share an account.
    func freshWord() -> String {
        "q" + String((0..<10).compactMap { _ in "bcdfghjklmnpqrstvwxz".randomElement() })
    }

    func freshKey() -> HTTPFields { [.idempotencyKey: UUID().uuidString] }
}

/// Nothing is kept: each answer is the server's.
private struct NoCache: ResponseCache {
    func response(for key: String) async -> [UInt8]? { nil }
    func keep(_ body: [UInt8], for key: String) async {}
    func clear() async {}
}

/// Somebody with a token, and the SDK that sends it.
public struct Owner: Sendable {
    public let token: String
    public let client: MonicaAPIClient
    let world: MonicaWorld

    @discardableResult
    public func send<E: Contract.Endpoint>(_ request: E) async throws -> E.Output where E.API == Monica {
        await client.forgetAnswers()
        return try await client.send(request)
    }

    public func raw(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue? = nil, headers: HTTPFields = [:]
    ) async throws -> RawAnswer {
        try await world.raw.send(method, path, token: token, headers: headers, body: body?.description)
    }

    func get(_ path: String) async throws -> RawAnswer { try await raw(.get, path) }

    /// A new contact.
    public func contact(
        _ first: String, _ last: String? = nil, nickname: String? = nil, isPartial: Bool = false
    ) async throws -> Monica.Contact {
        try await client.create(
            Monica.ContactDraft(firstName: first, lastName: last, nickname: nickname, isPartial: isPartial))
    }

    /// The ids of what a list has, of all its pages.
    func ids(_ path: String) async throws -> [Int64] {
        try await get(path).succeeded(200, path)["data"]?.elements.compactMap { $0["id"]?.integer } ?? []
    }
}

extension Int {
    var json: JSONValue { .integer(Int64(self)) }
}

extension RawAnswer {
    /// Fails unless this is a refusal in the API's shape, exactly worded.
    @discardableResult
    func refused(
        _ status: Int, _ errorCode: Int, _ text: String, _ what: @autoclosure () -> String = "", line: UInt = #line,
        file: StaticString = #fileID
    ) throws -> RawAnswer {
        try refused(
            status, text,
            as: ["error": ["message": .string(text), "code": status.json, "error_code": errorCode.json]], what(),
            line: line, file: file)
    }
}

/// The contract as scenarios, one list for each section.
public enum MonicaScenarios {
    public static var all: [Scenario<MonicaWorld>] {
        published + errors + contacts + search + lists + writing + tags + idempotency + account + ofTwoAccounts
    }

    /// For `concord check monica`.
    ///
    /// - Parameter tokens: Of one account or of two. Scenarios take those of an account in turn, since each token may ask
    ///   so and so often a minute. What takes two accounts is skipped with tokens of one.
    public static func checklist(_ tokens: [String]) -> Checklist {
        let purse = Purse(tokens)
        return Checklist(
            api: "monica", scenarios: all, probe: "/me", isLimited: { _ in true },
            enter: { server in
                let ledger = MonicaLedger(server.transport)
                var own = server
                own.transport = ledger
                let world = MonicaWorld(own) { try await purse.token(of: $0, on: server) }
                return (world, { await ledger.settle(at: server.baseURL) })
            })
    }
}

/// The tokens of a run, by the account that they are of.
private actor Purse {
    private let tokens: [String]
    private var accounts: Task<[[String]], any Error>?
    private var turns: [Int: Int] = [:]

    init(_ tokens: [String]) { self.tokens = tokens }

    /// The next of an account's, the accounts counted from 0.
    func token(of account: Int, on server: Server) async throws -> String {
        let accounts = self.accounts ?? Task { [tokens] in try await Self.sorted(tokens, on: server) }
        self.accounts = accounts
        let all = try await accounts.value
        guard all.indices.contains(account) else { throw NotTried("it takes a --token of another account") }
        let turn = turns[account, default: 0]
        turns[account] = turn + 1
        return all[account][turn % all[account].count]
    }

    /// In the order in which they were given. A server that does not say whose a token is has one account for each.
    private static func sorted(_ tokens: [String], on server: Server) async throws -> [[String]] {
        var groups: [(account: Int64?, tokens: [String])] = []
        for token in tokens {
            guard let url = URL(string: server.baseURL.absoluteString + "/me") else { continue }
            let request = TransportRequest(method: .get, url: url, headers: [.authorization: "Bearer \(token)"])
            let response = try await server.transport.send(request, progress: nil)
            let answer = try? JSONDecoder().decode(JSONValue.self, from: Data(response.body))
            let account = answer?["data"]?["account"]?["id"]?.integer
            if let account, let index = groups.firstIndex(where: { $0.account == account }) {
                groups[index].tokens.append(token)
            } else {
                groups.append((account, [token]))
            }
        }
        return groups.map(\.tokens)
    }
}

/// Remembers what a scenario makes, and removes it.
private actor MonicaLedger: Transport {
    private let transport: any Transport
    /// Paths of what was made, with the token it was made with.
    private var made: [(path: String, authorization: String)] = []

    init(_ transport: any Transport) { self.transport = transport }

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let response = try await transport.send(request, progress: progress)
        let resource = request.url.lastPathComponent
        if request.method == .post, response.status.kind == .successful,
            ["contacts", "activities", "notes", "tasks", "gifts", "tags", "setTags"].contains(resource),
            let authorization = request.headers[.authorization],
            let answer = try? JSONDecoder().decode(JSONValue.self, from: Data(response.body))
        {
            if resource == "setTags" {
                for tag in answer["data"]?["tags"]?.elements ?? [] {
                    if let id = tag["id"]?.integer { made.append(("/tags/\(id)", authorization)) }
                }
            } else if let id = answer["data"]?["id"]?.integer {
                made.append(("/\(resource)/\(id)", authorization))
            }
        }
        return response
    }

    /// What could not be removed, by its name in plural.
    func settle(at baseURL: URL) async -> [String: Int] {
        var left: [String: Int] = [:]
        for (path, authorization) in made.reversed() {
            guard let url = URL(string: baseURL.absoluteString + path) else { continue }
            let request = TransportRequest(method: .delete, url: url, headers: [.authorization: authorization])
            let status = try? await transport.send(request, progress: nil).status.code
            if status != 200, status != 404 { left[String(path.split(separator: "/")[0]), default: 0] += 1 }
        }
        made = []
        return left
    }
}
