import Backend
import Contract
import ContractServer
import Database
import EventBus
import Foundation
import MessengerAPI
import NIOCore
import WebSockets

/// What sockets listen to.
enum LiveTopic: Hashable, Sendable {
    case chat(Messenger.Chat.ID)
    case session(String)
}

/// What a socket hears of its topics.
enum LiveEvent: Sendable {
    case message(Messenger.Message, frame: TextFrame)
    /// The chat changed, and this is its version now.
    case change(version: Int64, frame: TextFrame)
    /// The same, and the change is that a message is gone.
    case deletion(of: Messenger.Message.ID, version: Int64, frame: TextFrame)
    /// The same, and the change is that somebody's membership began or ended.
    case membership(of: Messenger.User.ID, version: Int64, frame: TextFrame)
    /// Somebody has read on.
    case read(frame: TextFrame)
    case typing(Messenger.User.ID, frame: TextFrame)
    case sessionEnded
    /// Something may have been missed: look again.
    case gap
}

typealias LiveHub = Hub<LiveTopic, LiveEvent>

extension TextFrame {
    init(_ frame: Messenger.ServerFrame) { self.init(json: frame) }
}

/// What happened, for the sockets of every node.
enum LiveAnnouncement: Codable, Sendable {
    case message(Messenger.Message)
    /// A message too long to be carried: each node reads it.
    case stored(Messenger.Message.ID)
    case edited(Messenger.MessageEdit, version: Int64)
    /// An edit too long to be carried.
    case storedEdit(Messenger.Message.ID, version: Int64)
    case deleted(Messenger.Message.ID, from: Messenger.Chat.ID, version: Int64)
    case read(Messenger.ReadMark)
    /// At this time, by the clock of the node that heard it: in milliseconds since 1970.
    case typing(Messenger.User.ID, in: Messenger.Chat.ID, at: Int64)
    /// At most ``maximumUsers``.
    /// The version is of the first of them.
    case membersAdded([Messenger.User.ID], to: Messenger.Chat.ID, version: Int64)
    case memberRemoved(Messenger.User.ID, from: Messenger.Chat.ID, version: Int64)
    case sessionEnded(String)

    /// So many ids, of whatever length, fit into what a database carries.
    static let maximumUsers = 300

    /// The same, for one that is too long to be carried.
    var shortened: LiveAnnouncement {
        switch self {
        case .message(let message): .stored(message.id)
        case .edited(let edit, let version): .storedEdit(edit.id, version: version)
        default: self
        }
    }
}

extension MessengerService {
    private var announcer: Announcer<LiveAnnouncement> { Announcer(database) { deliver($0) } }

    /// Tells the sockets, here and on every other node, once the transaction is durable, in the order of the commits.
    func announce(_ announcement: LiveAnnouncement, in db: Session) throws {
        try announcer.announce(announcement, inShort: announcement.shortened, in: db)
    }

    /// Receives the events of other nodes, until the task is cancelled. One task for each node.
    ///
    /// - Parameter started: Called when every event from then on will be received: at first, and after each gap. Never where
    ///   there is one node.
    public func listen(_ started: @escaping @Sendable () -> Void = {}) async {
        await announcer.listen(completing: complete) {
            hub.broadcast { .gap }
            started()
        }
    }

    /// Reads what was too long to be carried. Nil when it has gone since.
    private func complete(_ announcement: LiveAnnouncement) async throws -> LiveAnnouncement? {
        switch announcement {
        case .stored(let id):
            try await database.read { try Messages.one(id, in: $0) }.map { .message($0) }
        case .storedEdit(let id, let version):
            try await database.read { try Messages.edit(of: id, in: $0) }.map { .edited($0, version: version) }
        default:
            announcement
        }
    }

    /// Tells the sockets of this node.
    private func deliver(_ announcement: LiveAnnouncement) {
        switch announcement {
        case .message(let message):
            hub.publish(to: .chat(message.chat)) { .message(message, frame: TextFrame(.message(message))) }
        case .edited(let edit, let version):
            hub.publish(to: .chat(edit.chat)) { .change(version: version, frame: TextFrame(.messageEdited(edit))) }
        case .deleted(let message, let chat, let version):
            hub.publish(to: .chat(chat)) {
                .deletion(of: message, version: version, frame: TextFrame(.messageDeleted(chat, message)))
            }
        case .read(let mark):
            hub.publish(to: .chat(mark.chat)) { .read(frame: TextFrame(.read(mark))) }
        case .typing(let user, let chat, let moment):
            guard typing.told.allows(user, in: chat, at: moment) else { return }
            hub.publish(to: .chat(chat)) { .typing(user, frame: TextFrame(.typing(chat, user))) }
        case .membersAdded(let users, let chat, let version):
            for (version, user) in zip(version..., users) {
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
        case .stored, .storedEdit:
            break
        }
    }
}
