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
    /// Somebody's membership began or ended, as this version of the chat's membership.
    case membership(of: Messenger.User.ID, version: Int64, frame: TextFrame)
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
    /// At most ``maximumUsers``.
    case membersAdded([Messenger.User.ID], to: Messenger.Chat.ID, version: Int64)
    case memberRemoved(Messenger.User.ID, from: Messenger.Chat.ID, version: Int64)
    case sessionEnded(String)

    /// So many ids, of whatever length, fit into what a database carries.
    static let maximumUsers = 300
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
                switch heard {
                case .stored(let id)?: await deliverStored(id)
                case let heard?: deliver(heard)
                case nil: break
                }
            }
        }
    }

    private func deliverStored(_ id: Messenger.Message.ID) async {
        do {
            let message = try await database.read { try Messages.one(id, in: $0) }
            // None: it has gone since, and its chat with it.
            if let message { deliver(.message(message)) }
        } catch {
            // Unreadable now: the sockets look for themselves.
            hub.broadcast { .gap }
        }
    }

    /// Tells the sockets of this node.
    private func deliver(_ announcement: LiveAnnouncement) {
        switch announcement {
        case .message(let message):
            hub.publish(to: .chat(message.chat)) { .message(message, frame: TextFrame(.message(message))) }
        case .membersAdded(let users, let chat, let version):
            for user in users {
                hub.publish(to: .chat(chat)) {
                    .membership(of: user, version: version, frame: TextFrame(.memberAdded(chat, user)))
                }
            }
        case .memberRemoved(let user, let chat, let version):
            hub.publish(to: .chat(chat)) {
                .membership(of: user, version: version, frame: TextFrame(.memberRemoved(chat, user)))
            }
        case .sessionEnded(let session):
            sessions.forget(session)
            hub.publish(to: .session(session)) { .sessionEnded }
        case .stored:
            break
        }
    }
}
