import Contract
import ContractMocks
import MessengerAPI

extension Messenger.Registered {
    /// The example: Alice.
    public static let example: Self = contractExample(#"{ "id": 1, "username": "alice" }"#)
}

extension Messenger.Tokens {
    /// The example: Alice's tokens. The mock itself hands out numbered tokens: `eyJ...1`, `eyJ...2`.
    public static let example: Self = contractExample(
        """
        {
          "access_token": "eyJ...",
          "refresh_token": "eyJ...",
          "token_type": "Bearer",
          "expires_in": 3600,
          "user_id": 1
        }
        """)
}

extension Messenger.RefreshedToken {
    /// The example: a renewed access token.
    public static let example: Self = contractExample(
        #"{ "access_token": "eyJ...", "token_type": "Bearer", "expires_in": 3600 }"#)
}

extension Messenger.Account {
    /// The example: Alice's account.
    public static let example: Self = contractExample(
        """
        {
          "id": 1,
          "username": "alice",
          "email": "alice@example.com",
          "display_name": "Alice",
          "bio": "Hello world",
          "created_at": "2026-02-23T10:00:00Z",
          "avatar_file_id": null
        }
        """)
}

extension MessengerMock {
    func auth() {
        server.example(of: Messenger.Register.self) { _ in .example }
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
