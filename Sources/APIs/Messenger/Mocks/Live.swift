import Contract
import ContractClient
import ContractMocks
import Foundation
import MessengerAPI

/// The mock's state of one open socket.
struct MockLiveSocket: Sendable {
    let connection: MockConnection
    /// The token that signed it in; nil before that.
    var token: String?
    var isSubscribed = false

    func push(_ frame: Messenger.ServerFrame) {
        // Frames consist of texts and numbers, which JSON can always represent.
        guard let bytes = try? JSONEncoder().encode(frame) else { return }
        connection.push(String(decoding: bytes, as: UTF8.self))
    }
}

extension MessengerMemory {
    /// Answers a frame in the contract's words.
    mutating func receive(_ text: String, on connection: MockConnection) {
        sockets.removeAll { !$0.connection.isOpen }
        if !sockets.contains(where: { $0.connection === connection }) { sockets.append(.init(connection: connection)) }
        guard let index = sockets.firstIndex(where: { $0.connection === connection }) else { return }
        guard let frame = try? JSONDecoder().decode(Messenger.ClientFrame.self, from: Data(text.utf8)) else {
            return refuse(index, "Invalid JSON")
        }
        if case .auth(let token) = frame { return signIn(index, token) }
        guard sockets[index].token != nil else { return refuse(index, "Not authenticated") }
        switch frame {
        case .subscribe(let chat, let since): subscribe(index, chat, since)
        case .unsubscribe(let chat):
            sockets[index].isSubscribed = false
            sockets[index].push(.unsubscribed(chat))
        case .typing(let chat): type(index, chat)
        case .ping: sockets[index].push(.pong)
        case .unknown(let type): sockets[index].push(.error("Unknown message type: \(type)"))
        case .auth: break
        }
    }

    private mutating func signIn(_ index: Int, _ token: String) {
        guard sessions.isGood(token) else {
            sockets[index].token = nil
            return refuse(index, "Invalid or expired access token")
        }
        sockets[index].token = token
        sockets[index].push(.authOK(Messenger.Account.example.id))
    }

    private mutating func subscribe(_ index: Int, _ chat: Messenger.Chat.ID, _ since: Messenger.Message.ID?) {
        let socket = sockets[index]
        guard chat.isValid else { return socket.push(.error("Invalid chat_id")) }
        if let since, since.rawValue < 0 { return socket.push(.error("Invalid since")) }
        guard chat == Messenger.Chat.example.id else { return socket.push(.error("Not a member of this chat")) }
        sockets[index].isSubscribed = true
        socket.push(.subscribed(chat))
        guard let since else { return }
        for message in messages where message.id > since { socket.push(.message(message)) }
    }

    /// Does nothing: the mock has no other member to notify.
    private func type(_ index: Int, _ chat: Messenger.Chat.ID) {
        guard chat.isValid else { return sockets[index].push(.error("Invalid chat_id")) }
        guard chat == Messenger.Chat.example.id, sockets[index].isSubscribed else {
            return sockets[index].push(.error("Not subscribed to this chat"))
        }
    }

    /// Sends an error, which also closes a socket that has not signed in.
    private func refuse(_ index: Int, _ text: String) {
        sockets[index].push(.error(text))
        if sockets[index].token == nil { sockets[index].connection.end(1008) }
    }

    /// Sends a frame to the sockets that are subscribed to the chat.
    func announce(_ frame: Messenger.ServerFrame) {
        for socket in sockets where socket.isSubscribed { socket.push(frame) }
    }

    func broadcast(_ frame: Messenger.ServerFrame) {
        for socket in sockets where socket.token != nil { socket.push(frame) }
    }

    mutating func closeEndedSockets() {
        for socket in sockets {
            if let token = socket.token, !sessions.isGood(token) {
                socket.connection.end(4001, reason: "Session ended")
            }
        }
    }
}
