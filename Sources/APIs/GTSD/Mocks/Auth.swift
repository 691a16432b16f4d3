import Contract
import ContractMocks
import GTSDAPI
import GTSDExamples

extension GTSD.User {
    /// The example: Anna, who is signed in.
    public static let example: Self = contractExample(GTSDExamples.user)
}

extension GTSD.SignedIn {
    /// The example: Anna's tokens. The mock itself hands out numbered tokens.
    public static let example: Self = contractExample(GTSDExamples.signedIn)
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
        server.example(of: GTSD.DeleteMe.self) { [memory] _ in
            memory.use { $0.sessions.endAll() }
            return APIResponse(message: "Account deleted successfully")
        }
    }
}
