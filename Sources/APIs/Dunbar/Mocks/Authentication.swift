import Contract
import ContractMocks
import DunbarAPI
import DunbarExamples
import HTTPTypes

extension Dunbar.Account {
    /// The example: John, who is signed in.
    public static let example: Self = contractExample(DunbarExamples.account)
}

extension Dunbar.HealthReport {
    /// The example: a healthy server.
    public static let example: Self = contractExample(DunbarExamples.healthReport)
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
            Answer(.ok, .init(message: "Logged out successfully"), headers: DunbarMemory.clearingCookie)
        }
    }
}

extension DunbarMemory {
    /// The headers with which an answer removes the cookie.
    static var clearingCookie: HTTPFields {
        [.setCookie: "\(cookie)=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"]
    }

    fileprivate mutating func handOut() -> HTTPFields {
        [.setCookie: "\(Self.cookie)=\(begin()); Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000"]
    }
}
