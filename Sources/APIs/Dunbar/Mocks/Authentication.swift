import Contract
import ContractMocks
import DunbarAPI
import HTTPTypes

extension Dunbar.Account {
    /// The example: John, who is signed in.
    public static let example: Self = contractExample(
        """
        {
          "id": 1,
          "username": "jdoe",
          "email": "john.doe@example.com",
          "bio": "Hello world",
          "photo": "https://res.cloudinary.com/dgrs48tas/image/upload/v123456789/profile.jpg",
          "isAdmin": false,
          "createdAt": "2025-01-01T00:00:00.000Z",
          "isPrivate": true,
          "displayName": "John Doe"
        }
        """)
}

extension Dunbar.HealthReport {
    /// The example: a healthy server.
    public static let example: Self = contractExample(
        """
        {
          "status": "healthy",
          "components": { "server": "healthy", "database": "healthy", "storage": "healthy" },
          "timestamp": "2025-01-01T00:00:00.000Z"
        }
        """)
}

extension DunbarMock {
    func authentication() {
        server.example(answering: Dunbar.Login.self) { [memory] _ in
            Answer(.ok, WithRelationship(.example), headers: memory.use { $0.handOut() })
        }
        server.example(answering: Dunbar.Register.self) { [memory] request in
            var account = Dunbar.Account.example
            (account.username, account.email) = (request.username, request.email)
            (account.displayName, account.bio, account.photo) = (request.displayName, nil, nil)
            account.message = "Please check your email to verify your account"
            return Answer(.created, WithRelationship(account), headers: memory.use { $0.handOut() })
        }
        server.example(answering: Dunbar.Logout.self) { _ in
            Answer(.ok, .init(message: "Logged out successfully"), headers: DunbarMemory.takingBack)
        }
        server.example(of: Dunbar.GetCurrentUser.self) { _ in
            var account = Dunbar.Account.example
            account.emailVerified = true
            return WithRelationship(account)
        }
        server.example(of: Dunbar.VerifyEmail.self) { _ in .init(message: "Email verified") }
        server.example(of: Dunbar.ResendVerification.self) { _ in .init(message: "Verification email sent") }
    }
}

extension DunbarMemory {
    /// The headers with which an answer removes the cookie.
    static var takingBack: HTTPFields {
        [.setCookie: "\(cookie)=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"]
    }

    fileprivate mutating func handOut() -> HTTPFields {
        [.setCookie: "\(Self.cookie)=\(begin()); Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000"]
    }
}
