import Contract
import ContractMocks
import GTSDAPI

extension GTSDMock {
    func recovery() {
        server.example(of: GTSD.ResetPassword.self) { [memory] _ in
            memory.use { $0.sessions.endAll() }
            return APIResponse(message: "Password reset successfully")
        }
    }
}
