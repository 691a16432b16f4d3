import Backend
import Contract
import ContractServer
import Database
import EventBus
import Foundation
import MessengerAPI
import NIOCore
import WebSockets

/// A topic to which sockets subscribe.
enum LiveTopic: Hashable, Sendable {
    case chat(Messenger.Chat.ID)
    /// The list of chats of a user.
    case chats(of: Messenger.User.ID)
    case session(String)
}

/// An event of a topic.
enum LiveEvent: Sendable {
    case message(Messenger.Message.ID, frame: TextFrame)
    /// Messages in ascending order.
    case messages([Messenger.Message.ID], frames: JoinedFrames)
    /// The chat changed, and has this version now.
    case change(version: Int64, frame: TextFrame)
    /// A frame that reports no change of the chat, such as a read mark.
    case passing(frame: TextFrame)
    /// A change of the chat that deleted a message.
    case deletion(of: Messenger.Message.ID, version: Int64, frame: TextFrame)
    /// A change of the chat that began or ended a membership.
    case membership(of: Messenger.User.ID, version: Int64, frame: TextFrame)
    case typing(Messenger.User.ID, frame: TextFrame)
    case sessionEnded
    /// Events may have been missed: subscribers read the chat again.
    case gap
}

typealias LiveHub = Hub<LiveTopic, LiveEvent>

extension LiveHub.BatchedDelivery {
    /// Batches the events of chats, whose order among each other no client relies on.
    static let chats = Self(SocketWrites.inTurns) { topic in
        if case .chat = topic { true } else { false }
    } join: {
        LiveEvent.joined($0)
    }
}

extension LiveEvent {
    /// Joins messages that come one after the other.
    static func joined(_ events: [LiveEvent]) -> [LiveEvent] {
        var (joined, rest) = ([LiveEvent](), events[...])
        while !rest.isEmpty {
            let run = messages(beginning: rest.prefix(JoinedFrames.maximumCount))
            if run.count > 1, let frames = JoinedFrames(run.map(\.frame)) {
                joined.append(.messages(run.map(\.id), frames: frames))
            } else {
                joined += rest.prefix(max(1, run.count))
            }
            rest = rest.dropFirst(max(1, run.count))
        }
        return joined
    }

    /// Returns the messages, in ascending order, that are before all other events.
    private static func messages(
        beginning events: ArraySlice<LiveEvent>
    ) -> [(id: Messenger.Message.ID, frame: TextFrame)] {
        var messages: [(id: Messenger.Message.ID, frame: TextFrame)] = []
        for case .message(let id, let frame) in events.prefix(while: \.isMessage) {
            if let last = messages.last, last.id >= id { break }
            messages.append((id, frame))
        }
        return messages
    }

    private var isMessage: Bool {
        if case .message = self { true } else { false }
    }
}

/// An event for the sockets of every node.
enum LiveAnnouncement: Codable, Sendable {
    case message(Messenger.Message)
    /// A message that is too long to be announced whole: each node reads it.
    case stored(Messenger.Message.ID)
    /// A frame for the sockets that are subscribed to its chat. The version is the chat's, where the frame reports a change
    /// of it.
    case frame(AnnouncedFrame, version: Int64?)
    /// An edit that is too long to be announced whole.
    case storedEdit(Messenger.Message.ID, version: Int64)
    case deleted(Messenger.MessageDeletion, version: Int64)
    /// A user types. The time is that of the node that received the frame, in milliseconds since 1970.
    case typing(Messenger.User.ID, in: Messenger.Chat.ID, at: Int64)
    /// Users were added, at most ``maximumUsers``. The version is that of the first addition, and each next user has the next
    /// one; 0 for the first members of a chat, of whom no subscriber need hear: it has read who they are.
    case membersAdded([Messenger.User.ID], to: Messenger.Chat.ID, version: Int64)
    case memberRemoved(Messenger.MemberRemoved, version: Int64)
    case sessionEnded(String)
    /// A node asks which users have a socket that is subscribed to a chat.
    case asked(Attendance.Question, in: Messenger.Chat.ID)
    /// A node's answer: such users, at most ``maximumUsers``, and whether they are its last.
    case attend(Attendance.Question, [Messenger.User.ID], isLast: Bool)

    /// The maximum number of ids in one announcement: as many fit whatever their length.
    static let maximumUsers = 300

    /// The event without the text that makes it too long for a database's notification.
    var shortened: LiveAnnouncement {
        switch self {
        case .message(let message): return .stored(message.id)
        case .frame(let announced, let version?):
            guard let edit = announced.frame as? Messenger.MessageEdit else { return self }
            return .storedEdit(edit.id, version: version)
        default: return self
        }
    }
}

/// Any frame about a chat, in the form in which nodes exchange it.
struct AnnouncedFrame: Codable, Sendable {
    let frame: any Messenger.ChatFrame

    init(_ frame: any Messenger.ChatFrame) { self.frame = frame }

    init(from decoder: any Decoder) throws {
        guard let frame = try Messenger.serverFrames.decode(from: decoder) as? any Messenger.ChatFrame else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a frame of another version"))
        }
        self.frame = frame
    }

    func encode(to encoder: any Encoder) throws { try TypedFrame(frame).encode(to: encoder) }
}

extension MessengerService {
    typealias Publisher = EventPublisher<Messenger.Chat.ID, LiveAnnouncement>

    /// Sends an event to the sockets of every node once the transaction is durable, in the order of the numbers.
    ///
    /// - Parameter number: The event's number among those of its chat; nil for an event of no chat, or of one that is
    ///   deleted.
    func announce(_ announcement: LiveAnnouncement, as number: EventNumber<Messenger.Chat.ID>?, in db: Session) {
        publisher.publish(announcement, short: announcement.shortened, as: number, in: db)
    }

    /// Counts an event of a chat, and sends it to the sockets of every node once the transaction is durable.
    func announce(_ announcement: LiveAnnouncement, in chat: Messenger.Chat.ID, _ db: Session) throws {
        announce(announcement, as: try Chats.countEvent(of: chat, in: db), in: db)
    }

    /// Ends all sessions, and the sockets of every node with them.
    ///
    /// - Parameter service: The service of this process; nil where another process has the sockets.
    /// - Returns: The number of sessions.
    static func endAllSessions(
        in database: Database, of service: MessengerService?, audit: Audit
    ) async throws -> Int {
        try await database.write { try audit.record("", in: $0) }
        let publisher = service?.publisher ?? publisher(on: database) { _ in }
        var count = 0
        while true {
            let ended = try await database.write { db in
                let ended = try TokenSessions<Messenger.User.ID>.endSome(in: db)
                for session in ended {
                    let announcement = LiveAnnouncement.sessionEnded(session)
                    publisher.publish(announcement, short: nil, as: nil, in: db)
                }
                return ended.count
            }
            if ended == 0 { return count }
            count += ended
        }
    }

    /// Sends a frame to the sockets of every node that are subscribed to its chat, once the transaction is durable.
    ///
    /// - Parameter version: The chat's version since the change that the frame reports. A frame without one reports
    ///   something that a later frame replaces.
    func announce(_ frame: some Messenger.ChatFrame, version: Int64? = nil, in db: Session) throws {
        try announce(.frame(AnnouncedFrame(frame), version: version), in: frame.chat, db)
    }

    /// Receives the events of other nodes, and notifies devices, until the task is cancelled. Each node runs one such task.
    ///
    /// - Parameter started: Called once no later event can be missed: at the start, and after each gap. It is never called
    ///   where there is only one node.
    public func listen(_ started: @escaping @Sendable () -> Void = {}) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.emails.queue.run() }
            if let pushes { group.addTask { await pushes.queue.run() } }
            await publisher.listen(completing: complete) {
                self.hub.broadcast { .gap }
                started()
            }
        }
    }

    /// Reads the text that was too long to be announced. Returns nil if it has been deleted since.
    private func complete(_ announcement: LiveAnnouncement) async throws -> LiveAnnouncement? {
        switch announcement {
        case .stored(let id):
            try await database.read { try Messages.one(id, in: $0) }.map { .message($0) }
        case .storedEdit(let id, let version):
            try await database.read { try Messages.edit(of: id, in: $0) }.map {
                .frame(AnnouncedFrame($0), version: version)
            }
        default:
            announcement
        }
    }

    /// Makes the publisher of a service.
    static func publisher(
        on database: Database, gap: @escaping @Sendable (Messenger.Chat.ID) -> Void = { _ in },
        deliver: @escaping @Sendable (LiveAnnouncement) -> Void
    ) -> Publisher {
        EventPublisher(database, subscribersRead: true, deliver: deliver, gap: gap)
    }
}

/// The part of the service to which events go.
struct LiveSubscribers: Sendable {
    let hub: LiveHub
    let sessions: TokenSessions<Messenger.User.ID>
    /// The limit for typing frames that this node sends. A user may be connected to two nodes.
    let typing = TypingLimit()

    /// Sends an event to the sockets of this node.
    func deliver(_ announcement: LiveAnnouncement) {
        switch announcement {
        case .message(let message):
            hub.publish(to: .chat(message.chat)) { .message(message.id, frame: TextFrame(message)) }
        case .frame(let announced, let version):
            let frame = announced.frame
            hub.publish(to: .chat(frame.chat)) {
                version.map { .change(version: $0, frame: TextFrame(frame)) } ?? .passing(frame: TextFrame(frame))
            }
        case .deleted(let deletion, let version):
            hub.publish(to: .chat(deletion.chat)) {
                .deletion(of: deletion.id, version: version, frame: TextFrame(deletion))
            }
        case .typing(let user, let chat, let moment):
            guard typing.allows(user, in: chat, at: moment) else { return }
            hub.publish(to: .chat(chat)) { .typing(user, frame: TextFrame(Messenger.Typing(chat: chat, user: user))) }
        case .membersAdded(let users, let chat, let version):
            for (change, user) in zip(version..., users) {
                if version > 0 {
                    hub.publish(to: .chat(chat)) {
                        let frame = TextFrame(Messenger.MemberAdded(chat: chat, user: user))
                        return .membership(of: user, version: change, frame: frame)
                    }
                }
                hub.publish(to: .chats(of: user)) { .passing(frame: TextFrame(Messenger.ChatAdded(chat: chat))) }
            }
        case .memberRemoved(let removal, let version):
            hub.publish(to: .chat(removal.chat)) {
                .membership(of: removal.user, version: version, frame: TextFrame(removal))
            }
            hub.publish(to: .chats(of: removal.user)) {
                .passing(frame: TextFrame(Messenger.ChatRemoved(chat: removal.chat)))
            }
        case .sessionEnded(let session):
            sessions.forget(session)
            hub.publish(to: .session(session)) { .sessionEnded }
        case .stored, .storedEdit, .asked, .attend:
            break
        }
    }
}
