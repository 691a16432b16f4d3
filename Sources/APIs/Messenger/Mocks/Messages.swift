import Contract
import ContractMocks
import MessengerAPI
import MessengerExamples

extension Messenger.Message {
    /// The example: Alice's "Hello!".
    public static let example: Self = contractExample(MessengerExamples.message)
}

extension MessengerMock {
    func messages() {
        server.example(of: Messenger.SendMessage.self) { [memory] request in
            try Self.requireMember(of: request.chat)
            if let file = request.file { try Self.requireFile(file) }
            return .init(
                memory.use { memory in
                    let message = memory.next(
                        request.content, type: request.type, file: request.file, from: Messenger.Account.example.id)
                    memory.add(message)
                    return message
                })
        }
        server.example(of: Messenger.ListMessages.self) { [memory] request in
            try Self.requireMember(of: request.chat)
            let limit = min(request.limit ?? 50, Messenger.ListMessages.maximum)
            let messages = memory.use { $0.messages }.map { $0.telling(request.include) }
            if let after = request.after { return messages.filter { $0.id > after }.prefix(limit).reversed() }
            let before = request.before ?? .init(.max)
            return messages.filter { $0.id < before }.suffix(limit).reversed()
        }
    }

    static func requireMember(of chat: Messenger.Chat.ID) throws {
        guard chat == Messenger.Chat.example.id else { throw Problem(.forbidden, "Not a member of this chat") }
    }
}

extension Messenger.Message {
    /// Returns the message as a list shows it.
    fileprivate func telling(_ parts: Messenger.Inclusions?) -> Self {
        var message = self
        message.edited = parts?.contains(.edited) == true ? edited ?? .init(wrappedValue: nil) : nil
        if parts?.contains(.file) == true { message.described = .init(wrappedValue: file.map { _ in .example }) }
        return message
    }
}

extension MessengerMemory {
    /// Returns a message that is a minute later than the newest.
    func next(
        _ content: String, type: Messenger.MessageType = .text, file: Messenger.File.ID? = nil,
        from sender: Messenger.User.ID
    ) -> Messenger.Message {
        let newest = messages.last ?? .example
        return Messenger.Message(
            id: .init(newest.id.rawValue + 1), chat: Messenger.Chat.example.id, sender: sender, content: content,
            type: type, file: file, createdAt: .init(milliseconds: newest.createdAt.milliseconds + 60_000))
    }

    /// Adds a message to the history, replacing one with its id, and sends it to the subscribed sockets.
    mutating func add(_ message: Messenger.Message) {
        messages.removeAll { $0.id == message.id }
        messages.insert(message, at: messages.firstIndex { $0.id > message.id } ?? messages.endIndex)
        announce(message)
    }
}
