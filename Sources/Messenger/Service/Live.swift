import Backend
import Contract
import ContractServer
import Database
import Foundation
import MessengerAPI
import NIOCore
import Realtime
import WebSockets

/// What sockets listen to.
enum LiveTopic: Hashable, Sendable {
    case chat(Messenger.Chat.ID)
    case session(String)
}

/// What a socket hears of its topics.
enum LiveEvent: Sendable {
    case message(Messenger.Message, frame: TextFrame)
    case sessionEnded
    /// Something may have been missed: look again.
    case gap
}

typealias LiveHub = Hub<LiveTopic, LiveEvent>

extension TextFrame {
    init(_ frame: Messenger.ServerFrame) {
        // Every frame is text, numbers and dates: there is nothing in it that JSON cannot hold.
        self.init((try? JSONBody.encode(frame)) ?? ByteBuffer(string: "{}"))
    }
}

/// What happened, for the sockets of every node.
enum LiveAnnouncement: Codable, Sendable {
    case message(Messenger.Message)
    /// A message too long to be carried: each node reads it.
    case stored(Messenger.Message.ID)
    case sessionEnded(String)
}

extension MessengerService {
    /// Tells the sockets, here and on every other node, once the transaction is durable, in the order of the commits.
    func announce(_ announcement: LiveAnnouncement, in db: Session) throws {
        guard database.isShared else { return db.afterCommit { deliver(announcement) } }
        var payload = try JSONEncoder().encode(announcement)
        if payload.count > Database.maximumAnnouncement, case .message(let message) = announcement {
            payload = try JSONEncoder().encode(LiveAnnouncement.stored(message.id))
        }
        try db.announce(String(decoding: payload, as: UTF8.self))
    }

    /// Hears what other nodes announce, until the task is cancelled. One task for each node.
    public func listen() async {
        await database.listen { announcement in
            switch announcement {
            case .gap:
                hub.broadcast { .gap }
            case .payload(let text):
                let heard = try? JSONDecoder().decode(LiveAnnouncement.self, from: Data(text.utf8))
                if case .stored(let id)? = heard {
                    let message = try? await database.read { try Messages.one(id, in: $0) }
                    // Unreadable now: the sockets look for themselves.
                    guard let message else { return hub.broadcast { .gap } }
                    deliver(.message(message))
                } else if let heard {
                    deliver(heard)
                }
            }
        }
    }

    /// Tells the sockets of this node.
    private func deliver(_ announcement: LiveAnnouncement) {
        switch announcement {
        case .message(let message):
            hub.publish(to: .chat(message.chat)) { .message(message, frame: TextFrame(.message(message))) }
        case .sessionEnded(let session):
            sessions.forget(session)
            hub.publish(to: .session(session)) { .sessionEnded }
        case .stored:
            break
        }
    }
}
