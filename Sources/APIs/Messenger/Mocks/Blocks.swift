import Contract
import ContractMocks
import MessengerAPI

extension MessengerMock {
    func blocks() {
        server.example(of: Messenger.BlockUser.self) { [memory] request in
            try memory.use { memory in _ = memory.blocked.insert(try memory.other(request.user)) }
            return Empty()
        }
        server.example(of: Messenger.UnblockUser.self) { [memory] request in
            try memory.use { memory in _ = memory.blocked.remove(try memory.other(request.user)) }
            return Empty()
        }
        server.example(of: Messenger.ListBlocks.self) { [memory] _ in
            memory.use { memory in memory.people.filter { memory.blocked.contains($0.id) }.map(\.summary) }
        }
    }
}

extension MessengerMemory {
    /// Returns the id if it is a user of the examples other than Alice.
    fileprivate func other(_ id: Messenger.User.ID) throws(Problem) -> Messenger.User.ID {
        guard id != account.id else { throw Problem(.badRequest, "Cannot block yourself") }
        return try person(id).id
    }
}
