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
    /// Whether it receives frames about the user's list of chats.
    var hearsOfChats = false

    func push(_ frame: some Messenger.ServerFrame) {
        // Frames consist of texts and numbers, which JSON can always represent.
        guard let bytes = try? frame.json() else { return }
        connection.push(String(decoding: bytes, as: UTF8.self))
    }
}

extension MessengerMemory {
    /// Answers a frame in the contract's words.
    mutating func receive(_ text: String, on connection: MockConnection) {
        sockets.removeAll { !$0.connection.isOpen }
        if !sockets.contains(where: { $0.connection === connection }) { sockets.append(.init(connection: connection)) }
        guard let index = sockets.firstIndex(where: { $0.connection === connection }) else { return }
        guard let frame = try? Messenger.clientFrames.decode(Data(text.utf8)) else {
            return refuse(index, "Invalid JSON")
        }
        if let frame = frame as? Messenger.Authenticate { return signIn(index, frame) }
        guard sockets[index].token != nil else { return refuse(index, "Not authenticated") }
        do { try frame.validate() } catch { return refuse(index, error.message) }
        switch frame {
        case let frame as Messenger.Subscribe: subscribe(index, frame.chat, frame.since)
        case let frame as Messenger.Unsubscribe:
            sockets[index].isSubscribed = false
            sockets[index].push(Messenger.Unsubscribed(chat: frame.chat))
        case let frame as Messenger.StartTyping: type(index, frame.chat)
        case is Messenger.Ping: sockets[index].push(Messenger.Pong())
        default: refuse(index, "Unknown message type: \(frame.wireType)")
        }
    }

    private mutating func signIn(_ index: Int, _ frame: Messenger.Authenticate) {
        guard sessions.isGood(frame.token) else {
            sockets[index].token = nil
            return refuse(index, "Invalid or expired access token")
        }
        sockets[index].token = frame.token
        if frame.chats == true { sockets[index].hearsOfChats = true }
        let chats = sockets[index].hearsOfChats ? true : nil
        sockets[index].push(Messenger.Authenticated(user: Messenger.Account.example.id, chats: chats))
    }

    private mutating func subscribe(_ index: Int, _ chat: Messenger.Chat.ID, _ since: Messenger.Message.ID?) {
        guard chat == Messenger.Chat.example.id else { return refuse(index, "Not a member of this chat") }
        sockets[index].isSubscribed = true
        let socket = sockets[index]
        socket.push(Messenger.Subscribed(chat: chat))
        guard let since else { return }
        for message in messages where message.id > since { socket.push(message) }
    }

    /// Does nothing: the mock has no other member to notify.
    private func type(_ index: Int, _ chat: Messenger.Chat.ID) {
        guard chat == Messenger.Chat.example.id, sockets[index].isSubscribed else {
            return refuse(index, "Not subscribed to this chat")
        }
    }

    /// Sends an error, which also closes a socket that has not signed in.
    private func refuse(_ index: Int, _ text: String) {
        sockets[index].push(Messenger.LiveError(message: text))
        if sockets[index].token == nil { sockets[index].connection.end(1008) }
    }

    /// Sends a frame to the sockets that are subscribed to the chat.
    func announce(_ frame: some Messenger.ChatFrame) {
        for socket in sockets where socket.isSubscribed { socket.push(frame) }
    }

    func broadcast(_ frame: some Messenger.ServerFrame) {
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
