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
        server.example(of: Messenger.ListChanges.self) { [memory] request in
            try Self.requireMember(of: request.chat)
            return memory.use { $0.changes(after: request.after, limit: request.limit) }
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

    fileprivate func changes(after version: Int?, limit: Int?) -> Messenger.MessageChanges {
        guard let version else { return .init(version: changes.count, isComplete: true, changes: []) }
        guard version <= changes.count else { return .init(version: changes.count, isComplete: false, changes: []) }
        // A message that changed again later is listed there.
        let page = changes.indices.dropFirst(version).filter { index in
            !changes[(index + 1)...].contains { $0.id == changes[index].id }
        }.prefix(limit ?? Messenger.ListChanges.maximum)
        let isFull = page.count == limit ?? Messenger.ListChanges.maximum
        return .init(
            version: isFull ? (page.last ?? 0) + 1 : changes.count, isComplete: true, changes: page.map { changes[$0] })
    }

    fileprivate mutating func replace(_ message: Messenger.Message) {
        guard let index = messages.firstIndex(where: { $0.id == message.id }), let editedAt = message.editedAt else {
            return
        }
        messages[index] = message
        changes.append(.init(id: message.id, content: message.content, editedAt: editedAt))
        announce(
            Messenger.MessageEdit(id: message.id, chat: message.chat, content: message.content, editedAt: editedAt))
    }

    fileprivate mutating func remove(_ id: Messenger.Message.ID) {
        messages.removeAll { $0.id == id }
        changes.append(.init(id: id, content: nil, editedAt: nil))
        announce(Messenger.MessageDeletion(id: id, chat: Messenger.Chat.example.id))
    }
}
