import Contract
import ContractMocks
import MessengerAPI

extension MessengerMock {
    func muting() {
        server.example(of: Messenger.MuteChat.self) { [memory] request in
            try Self.requireMember(of: request.chat)
            memory.use { $0.mute = .init(until: request.until) }
            return Empty()
        }
        server.example(of: Messenger.UnmuteChat.self) { [memory] request in
            try Self.requireMember(of: request.chat)
            memory.use { $0.mute = nil }
            return Empty()
        }
    }
}
