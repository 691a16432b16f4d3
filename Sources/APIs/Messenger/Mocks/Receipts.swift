import Contract
import ContractMocks
import MessengerAPI
import MessengerExamples

extension Messenger.Receipt {
    /// The example: Bob has read Alice's "Hello!".
    public static let example: Self = contractExample(MessengerExamples.receipt)
}

extension MessengerMock {
    func receipts() {
        server.example(of: Messenger.MarkRead.self) { [memory] request in
            try Self.requireMember(of: request.chat)
            try memory.use { memory in
                memory.lastRead = max(memory.lastRead, try memory.message(request.message).id)
            }
            return Empty()
        }
        server.example(of: Messenger.GetReceipts.self) { request in
            try Self.requireMember(of: request.chat)
            return [.example]
        }
    }
}

extension MessengerMemory {
    /// The number of messages by others above Alice's mark.
    var unreadCount: Int {
        let own = Messenger.Account.example.id
        let mark = max(lastRead, messages.last { $0.sender == own }?.id ?? lastRead)
        return messages.filter { $0.id > mark && $0.sender != own }.count
    }
}
