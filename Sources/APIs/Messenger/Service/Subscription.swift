import EventBus
import MessengerAPI
import WebSockets

/// A socket's subscription of a chat. While the chat's history is being read, its events wait.
///
/// It sends by itself, so that an event for many sockets reads little of each from memory.
final class Subscription {
    /// How far the socket is in the history of the chat.
    struct Place {
        /// The newest message that was sent or existed before. Older ones are not sent, so none comes twice or out of order.
        var last: Messenger.Message.ID
        /// The value of `last` when the chat was last read. Later messages were sent when they were announced.
        var read = Messenger.Message.ID(0)
        /// Whether events may have been missed that have not been read yet.
        var hasGap = false
    }

    private let chat: Messenger.Chat.ID
    // Both outlive the subscription, which is dropped when the socket closes.
    private unowned let owner: LiveSocket
    private unowned let socket: any SocketConnection
    var place = Place(last: 0)
    /// The newest version of the chat that the socket knows. A change with an older version is outdated.
    var version: Int64 = 0
    /// The chat's version when the user was found to be a member.
    var membership: Int64 = 0
    /// The events that wait; nil while none has to.
    var waiting: [LiveEvent]?

    init(of chat: Messenger.Chat.ID, by owner: LiveSocket, on socket: any SocketConnection) {
        self.chat = chat
        self.owner = owner
        self.socket = socket
    }

    var user: Messenger.User.ID? { owner.caller?.user }

    /// Sends an event, unless the socket has sent what it says.
    func push(_ event: LiveEvent) {
        switch event {
        case .message(let message, let frame):
            guard message > place.last else { return }
            place.last = message
            socket.send(frame)
        case .messages(let messages, let frames):
            guard let first = messages.first, let last = messages.last else { return }
            if first > place.last {
                place.last = last
                socket.send(frames)
            } else {
                for (message, frame) in zip(messages, frames.each) { push(.message(message, frame: frame)) }
            }
        // The caller's own membership has ended; or a new one has begun, so that the one before has ended.
        case .membership(user, let version, _):
            guard version > membership else { return }
            owner.unsubscribe(from: chat)
        case .membership(_, let version, let frame), .change(let version, let frame):
            guard version > self.version else { return }
            self.version = version
            socket.send(frame)
        case .deletion(let message, let version, let frame):
            // A message that was sent and deleted before the chat was read is not in the history, but may be announced after
            // it. Its deletion must then be sent, although its version is outdated.
            guard version > self.version || message > place.read else { return }
            self.version = max(version, self.version)
            socket.send(frame)
        case .typing(user, _), .sessionEnded, .gap: break
        case .typing(_, let frame), .passing(let frame): socket.send(frame)
        }
    }
}

extension Subscription: Subscriber {
    func receive(_ event: LiveEvent, on topic: LiveTopic) {
        if case .gap = event { return owner.noticeGap(in: chat) }
        if waiting == nil { push(event) } else { waiting?.append(event) }
    }
}
