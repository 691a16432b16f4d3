import Contract
import ContractMocks
import MessengerAPI

extension MessengerMock {
    func recovery() {
        server.example(of: Messenger.ResetPassword.self) { [memory] _ in
            memory.use { $0.endSessions() }
            return Empty()
        }
    }
}
