import Contract
import ContractMocks
import MessengerAPI

extension MessengerMock {
    func messageChanges() {
        server.example(of: Messenger.EditMessage.self) { [memory] request in
            try Self.requireMember(of: request.chat)
            return try memory.use { memory in
                var message = try memory.own(request.message)
                guard message.type == .text else {
                    throw Problem(.badRequest, "Only text messages can be changed")
                }
                message.content = request.content
                message.edited = .init(wrappedValue: memory.next("", from: message.sender).createdAt)
                memory.replace(message)
                return .init(message)
            }
        }
        server.example(of: Messenger.DeleteMessage.self) { [memory] request in
            try Self.requireMember(of: request.chat)
            try memory.use { memory in memory.remove(try memory.own(request.message).id) }
            return Empty()
        }
    }
}

extension MessengerMemory {
    /// Returns the message if Alice sent it.
    fileprivate func own(_ id: Messenger.Message.ID) throws(Problem) -> Messenger.Message {
        let message = try message(id)
        guard message.sender == Messenger.Account.example.id else {
            throw Problem(.forbidden, "Only the sender can change a message")
        }
        return message
    }

    func message(_ id: Messenger.Message.ID) throws(Problem) -> Messenger.Message {
        guard let message = messages.first(where: { $0.id == id }) else {
            throw Problem(.notFound, "Message not found")
        }
        return message
    }

    fileprivate mutating func replace(_ message: Messenger.Message) {
        guard let index = messages.firstIndex(where: { $0.id == message.id }), let editedAt = message.editedAt else {
            return
        }
        messages[index] = message
        announce(
            Messenger.MessageEdit(id: message.id, chat: message.chat, content: message.content, editedAt: editedAt))
    }

    fileprivate mutating func remove(_ id: Messenger.Message.ID) {
        messages.removeAll { $0.id == id }
        announce(Messenger.MessageDeletion(id: id, chat: Messenger.Chat.example.id))
    }
}
