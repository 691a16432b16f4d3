import Contract
import ContractClient
import HTTPTypes

/// What holds for the sessions of every `SessionAPI`, and for its requests.
enum SessionScenarios {
    static func all<API: SessionAPI>() -> [Scenario<SessionWorld<API>>] {
        [
            Scenario("A wrong password begins no session", clause: PasswordSignIn<API>.signature) { world in
                let name = world.freshName()
                let person = try await world.person(named: name)
                try await person.session.replace(nil)
                try await expectUnauthorized { try await person.signIn(name: name, password: "close sesame") }
                try await expectUnauthorized {
                    try await person.signIn(name: world.freshName(), password: SessionWorld<API>.password)
                }
                try expect(try await person.session.current == nil, "the SDK has a session")
                try await person.signIn(name: name, password: SessionWorld<API>.password)
            },
            Scenario("A session goes on by its refresh token", clause: SessionRenewal<API>.signature) { world in
                let person = try await world.person()
                let first = try await tokens(of: person)
                let second = try await person.send(SessionRenewal<API>(refreshToken: first.refreshToken))
                try expect("\(second.user)", equals: first.user)
                try expect(second.refreshToken != first.refreshToken, "the refresh token is the same")
                let third = try await person.send(SessionRenewal<API>(refreshToken: second.refreshToken))
                try expect(third.user, equals: second.user)
            },
            Scenario("A refresh token that comes back ends its session", clause: SessionRenewal<API>.signature) {
                world in
                let person = try await world.person()
                let first = try await tokens(of: person).refreshToken
                let second = try await person.send(SessionRenewal<API>(refreshToken: first)).refreshToken
                let third = try await person.send(SessionRenewal<API>(refreshToken: second)).refreshToken
                for token in [first, third] {
                    try await expectUnauthorized { try await person.send(SessionRenewal<API>(refreshToken: token)) }
                }
            },
            Scenario("Signing out ends a session, and a repeat of it is no mistake", clause: SignOut<API>.signature) {
                world in
                let person = try await world.person()
                let token = try await tokens(of: person).refreshToken
                try await person.signOut()
                try expect(try await person.session.current == nil, "the SDK has a session")
                try await expectUnauthorized { try await person.send(SessionRenewal<API>(refreshToken: token)) }
                try await person.send(SignOut<API>(refreshToken: token))
            },
        ]
    }

    /// What holds for every request. The operation that takes a body and needs nothing but sessions is the renewal of one.
    static func requests<API: SessionAPI>() -> [Scenario<SessionWorld<API>>] {
        let renewal = RequestRules<SessionWorld<API>>.JSONRequest(
            SessionRenewal<API>.route.path, #"{"refreshToken":"none"}"#
        ) { try $0.expect(401..<402, $1) }
        let rules = RequestRules<SessionWorld<API>>(
            noCredentials: "",
            badCredentials: { world in
                let token = try await tokens(of: world.person()).accessToken
                return ["": ["", "Basic YTpi", token, "Bearer", "Bearer x", "Bearer \(token)x"]]
            }, empty: renewal, whole: renewal)
        let clause = "Every request"
        return [
            rules.unknownPaths(clause: clause), rules.otherMethods(clause: clause), rules.credentials(clause: clause),
            rules.bodies(clause: clause), rules.plainBodies(clause: clause),
        ]
    }

    static func tokens<API>(of person: SessionClient<API>) async throws -> StoredTokens {
        guard let tokens = try await person.session.current else { throw CheckFailure("the SDK has no session") }
        return tokens
    }

    /// Fails unless a request is refused with 401. The message is the API's own.
    private static func expectUnauthorized(
        line: UInt = #line, _ request: () async throws -> some Sendable
    ) async throws {
        do {
            _ = try await request()
        } catch let error as APIError where error.status == .unauthorized {
            return
        }
        throw CheckFailure(expected: "401", found: "it was accepted", line: line, file: #fileID)
    }
}
