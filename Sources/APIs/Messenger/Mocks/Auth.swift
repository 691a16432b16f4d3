import Contract
import ContractMocks
import MessengerAPI
import MessengerExamples

extension Messenger.Registered {
    /// The example: Alice.
    public static let example: Self = contractExample(MessengerExamples.registered)
}

extension Messenger.Tokens {
    /// The example: Alice's tokens. The mock itself hands out numbered tokens: `eyJ...1`, `eyJ...2`.
    public static let example: Self = contractExample(MessengerExamples.tokens)
}

extension Messenger.RefreshedToken {
    /// The example: a renewed access token.
    public static let example: Self = contractExample(MessengerExamples.refreshed)
}

extension Messenger.Account {
    /// The example: Alice's account.
    public static let example: Self = contractExample(MessengerExamples.myself)
}

extension MessengerMock {
    func auth() {
        server.example(of: Messenger.Login.self) { [memory] _ in memory.use { $0.signIn() } }
        server.example(of: Messenger.Refresh.self) { [memory] request in
            try memory.use { try $0.renew(request.refreshToken) }
        }
        server.example(of: Messenger.Logout.self) { [memory] request in
            memory.use { $0.endSession(of: request.refreshToken) }
            return Empty()
        }
    }
}

extension MessengerMemory {
    mutating func signIn() -> Messenger.Tokens {
        var tokens = Messenger.Tokens.example
        (tokens.accessToken, tokens.refreshToken) = sessions.begin(tokens.accessToken)
        return tokens
    }

    mutating func renew(_ refreshToken: String) throws -> Messenger.RefreshedToken {
        var renewed = Messenger.RefreshedToken.example
        guard let token = sessions.renew(refreshToken, renewed.accessToken) else {
            throw Problem(.unauthorized, "Invalid or expired refresh token")
        }
        renewed.accessToken = token
        return renewed
    }

    mutating func authorize(_ token: String?) throws {
        guard let token else { throw Problem(.unauthorized, "Missing Authorization header") }
        guard sessions.isGood(token) else { throw Problem(.unauthorized, "Invalid or expired token") }
    }

    mutating func endSession(of token: String) {
        sessions.end(token)
        closeEndedSockets()
    }

    mutating func endSessions() {
        sessions.endAll()
        closeEndedSockets()
    }
}
