import Contract
import ContractMocks
import GTSDAPI

extension GTSD.User {
    /// The example: Anna, who is signed in.
    public static let example: Self = contractExample(
        """
        {
          "id": "1",
          "email": "anna@example.com",
          "createdAt": "2025-10-01T08:00:00.000Z",
          "updatedAt": "2025-10-01T08:05:00.000Z",
          "name": "Anna",
          "emailVerified": false,
          "hasCompletedOnboarding": true,
          "timezone": "Europe/Berlin"
        }
        """)
}

extension GTSD.SignedIn {
    /// The example: Anna's tokens. The mock itself hands out numbered tokens.
    public static let example = Self(user: .example, accessToken: "eyJ...", refreshToken: "eyJ...")
}

extension GTSDMock {
    func auth() {
        server.example(of: GTSD.SignUp.self) { [memory] _ in APIResponse(memory.use { $0.signIn() }) }
        server.example(of: GTSD.LogIn.self) { [memory] _ in APIResponse(memory.use { $0.signIn() }) }
        server.example(of: GTSD.Refresh.self) { [memory] request in
            APIResponse(try memory.use { try $0.renew(request.refreshToken) })
        }
        server.example(of: GTSD.LogOut.self) { [memory] request in
            if let token = request.refreshToken { memory.use { $0.sessions.end(token) } }
            return APIResponse(message: "Logged out successfully")
        }
        server.example(of: GTSD.GetMe.self) { _ in APIResponse(.example) }
        server.example(of: GTSD.DeleteMe.self) { [memory] _ in
            memory.use { $0.sessions.endAll() }
            return APIResponse(message: "Account deleted successfully")
        }
    }
}
