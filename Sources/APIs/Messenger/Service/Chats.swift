import Backend
import Contract
import ContractServer
import Database
import HTTPTypes
import MessengerAPI

extension MessengerService {
    func chats(_ routes: inout Routes<Messenger, Messenger.User.ID>) {
        routes.on(answering: createChat)
        routes.on(use: listChats)
        routes.on(use: getChat)
    }

    func createChat(
        _ request: Messenger.CreateChat, from caller: Messenger.User.ID, _ info: RequestInfo
    ) async throws -> Answer<Messenger.CreatedChat> {
        var seen: Set<Messenger.User.ID> = [caller]
        let others = request.members.filter { seen.insert($0).inserted }
        if request.type == .direct, others.count != 1 {
            throw Problem(.badRequest, "direct chat requires exactly one other member_id")
        }
        try Members.requireRoom(for: others.count + 1)
        let now = time.milliseconds()
        let flagged = settings.flaggedWords.finding(in: request)
        return try await database.write(info.idempotencyKey, errorMessages: Messenger.errorMessages, at: now) { db in
            try Users.lockCaller(caller, in: db)
            try Users.requireKnown(others, in: db)
            if request.type == .direct {
                try Blocks.requireContact(Pair(caller, others[0]), in: db)
                let opened = try Chats.openDirect(between: caller, and: others[0], at: now, in: db)
                try Users.requireKnown(others, in: db)
                if opened.status == .created, let chat = opened.output {
                    try self.announce([caller] + others, to: chat.id, in: db)
                }
                return opened
            }
            let chat = try Chats.insertGroup(request.name?.trimmed ?? "", owner: caller, at: now, in: db)
            try Chats.add(caller, .owner, to: chat, at: now, in: db)
            for other in others { try Chats.add(other, .member, to: chat, at: now, in: db) }
            try Users.requireKnown(others, in: db)
            try Reports.Queue.flag(flagged, person: caller, at: now, in: db)
            try self.announce([caller] + others, to: chat, in: db)
            return Answer(.created, .init(id: chat, type: "created"))
        }
    }

    /// Announces the chat to its first members.
    private func announce(_ members: [Messenger.User.ID], to chat: Messenger.Chat.ID, in db: Session) throws {
        for users in members.chunks(of: LiveAnnouncement.maximumUsers) {
            try announce(.membersAdded(Array(users), to: chat, version: 0), in: chat, db)
        }
    }

    func listChats(
        _ request: Messenger.ListChats, from caller: Messenger.User.ID
    ) async throws -> [Messenger.ChatSummary] {
        let limit = min(request.limit ?? .max, Messenger.ListChats.maximum)
        let parts = Chats.Parts(request.include)
        let now = time.milliseconds()
        return try await database.read(from: .replica) {
            try Chats.page(of: caller, before: request.before, limit: limit, with: parts, at: now, in: $0)
        }
    }

    func getChat(_ request: Messenger.GetChat, from caller: Messenger.User.ID) async throws -> Messenger.Chat {
        let chat = try await database.read(from: .replica) { try Chats.detail(request.id, for: caller, in: $0) }
        guard let chat else { throw Chats.notFound }
        return chat
    }
}

enum Chats {
    /// The error for an unknown chat and for one of which the caller is not a member.
    static let notFound = Problem(.notFound, "Chat not found or access denied")

    static let notAMember = Problem(.forbidden, "Not a member of this chat")

    /// - Throws: A `Problem` with 403, also for a chat that does not exist.
    static func requireMember(_ user: Messenger.User.ID, of chat: Messenger.Chat.ID, in db: Session) throws {
        guard try isMember(user, of: chat, in: db) else { throw notAMember }
    }

    static func isMember(_ user: Messenger.User.ID, of chat: Messenger.Chat.ID, in db: Session) throws -> Bool {
        try db.get(membership(of: user, in: chat))
    }

    static func membership(of user: Messenger.User.ID, in chat: Messenger.Chat.ID) -> Query<Bool> {
        .exists("SELECT 1 FROM members WHERE chat_id = \(chat) AND user_id = \(user)")
    }

    /// Returns the direct chat of a pair, which is created if it does not exist. A constraint keeps it unique under
    /// concurrency.
    static func openDirect(
        between caller: Messenger.User.ID, and other: Messenger.User.ID, at now: Int64, in db: Session
    ) throws -> Answer<Messenger.CreatedChat> {
        let pair = Pair(caller, other)
        let created: Messenger.Chat.ID? = try db.insert(
            """
            INSERT INTO chats (type, owner_id, direct_low, direct_high, created_at, updated_at)
            VALUES (\(Messenger.ChatType.direct), \(caller), \(pair.low), \(pair.high), \(now), \(now))
            ON CONFLICT (direct_low, direct_high) DO NOTHING
            """)
        if let created {
            try add(caller, .owner, to: created, at: now, in: db)
            try add(other, .member, to: created, at: now, in: db)
            return Answer(.created, .init(id: created, type: "created"))
        }
        let existing: Messenger.Chat.ID? = try db.value(
            "SELECT id FROM chats WHERE direct_low = \(pair.low) AND direct_high = \(pair.high)")
        guard let existing else { throw DatabaseFailure.failed("a direct chat is neither new nor there") }
        return Answer(.ok, .init(id: existing, type: "existing"))
    }

    /// Locks the row of a pair's direct chat, if there is one, so that senders wait.
    static func lockDirect(
        between one: Messenger.User.ID, and other: Messenger.User.ID, in db: Session
    ) throws {
        let pair = Pair(one, other)
        try db.lock("chats", where: "direct_low = \(pair.low) AND direct_high = \(pair.high)")
    }

    /// Counts an event of a chat, behind the lock of its row.
    ///
    /// - Returns: The event's number; nil when the chat was deleted.
    static func countEvent(
        of chat: Messenger.Chat.ID, in db: Session
    ) throws -> EventNumber<Messenger.Chat.ID>? {
        try db.update("chats", set: "events = events + 1", where: "id = \(chat)", returning: "events") {
            EventNumber(try $0.get(0), of: chat)
        }
    }

    /// Sets a chat's time to that of its newest message, or of its creation when there is none. The caller has locked
    /// its row.
    static func dateByNewestMessage(_ chat: Messenger.Chat.ID, in db: Session) throws {
        try db.run(
            """
            UPDATE chats SET updated_at = COALESCE((
                SELECT m.created_at FROM messages m WHERE m.chat_id = chats.id ORDER BY m.id DESC LIMIT 1), created_at)
            WHERE id = \(chat)
            """)
    }

    /// - Throws: A `Problem` with 403 when the users of a direct chat may not write to each other.
    static func requireContact(in chat: Messenger.Chat.ID, _ db: Session) throws {
        let pairs = try db.all("SELECT direct_low, direct_high FROM chats WHERE id = \(chat)") {
            try Pair(row: $0, at: 0)
        }
        for case let pair? in pairs { try Blocks.requireContact(pair, in: db) }
    }

    static func insertGroup(
        _ name: String, owner: Messenger.User.ID, at now: Int64, in db: Session
    ) throws -> Messenger.Chat.ID {
        let id: Messenger.Chat.ID? = try db.insert(
            """
            INSERT INTO chats (type, name, owner_id, created_at, updated_at)
            VALUES (\(Messenger.ChatType.group), \(name), \(owner), \(now), \(now))
            """)
        guard let id else { throw DatabaseFailure.failed("an insert returned no id") }
        return id
    }

    static func add(
        _ user: Messenger.User.ID, _ role: Messenger.Role, to chat: Messenger.Chat.ID, at now: Int64, in db: Session
    ) throws {
        try db.run(
            """
            INSERT INTO members (chat_id, user_id, role, joined_at) VALUES (\(chat), \(user), \(role), \(now))
            """)
    }

    /// Adds a user to an existing group. Earlier messages count as read.
    static func join(
        _ user: Messenger.User.ID, into chat: Messenger.Chat.ID, at now: Int64, in db: Session
    ) throws {
        try add(user, .member, to: chat, at: now, in: db)
        let newest = try Messages.newest(in: chat, db)
        if newest.isValid { _ = try Receipts.advance(user, in: chat, to: newest, at: now, db) }
    }

    /// Deletes a chat without members, with its messages and the files to which only they referred.
    static func delete(_ chat: Messenger.Chat.ID, in db: Session) throws {
        let files: [Messenger.File.ID] = try db.all(
            "SELECT DISTINCT file_id FROM messages WHERE chat_id = \(chat) AND file_id IS NOT NULL"
        ) { try $0.get(0) }
        try db.run("DELETE FROM messages WHERE chat_id = \(chat)")
        try db.run("DELETE FROM deleted_messages WHERE chat_id = \(chat)")
        try db.run("DELETE FROM chats WHERE id = \(chat)")
        try Files.release(files, in: db)
    }

    static func detail(
        _ id: Messenger.Chat.ID, for user: Messenger.User.ID, in db: Session
    ) throws -> Messenger.Chat? {
        guard try isMember(user, of: id, in: db) else { return nil }
        let members = try db.all(
            """
            SELECT u.id, u.username, u.display_name, m.role FROM members m JOIN users u ON u.id = m.user_id
            WHERE m.chat_id = \(id) ORDER BY m.joined_at, u.id
            """
        ) { row in
            Messenger.Member(
                id: try row.get(0), username: try row.get(1), displayName: try row.get(2), role: try row.get(3))
        }
        return try db.one("SELECT id, type, name, owner_id, created_at FROM chats WHERE id = \(id)") { row in
            Messenger.Chat(
                id: try row.get(0), type: try row.get(1), name: try row.get(2), owner: try row.get(3),
                createdAt: try row.get(4), members: members)
        }
    }
}
