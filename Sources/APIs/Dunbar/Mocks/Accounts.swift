import Contract
import ContractMocks
import DunbarAPI
import HTTPTypes

extension DunbarMock {
    func accounts() {
        server.example(of: Dunbar.ResetPassword.self) { [memory] _ in
            memory.use { $0.sessions = [] }
            return .init(message: "Password has been reset")
        }
        server.example(answering: Dunbar.DeleteAccount.self) { [memory] _ in
            memory.use { $0.sessions = [] }
            return Answer(
                .ok, .init(message: "Account deleted successfully"), headers: DunbarMemory.clearingCookie)
        }
    }
}
