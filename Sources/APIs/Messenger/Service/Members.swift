import Backend
import Contract
import ContractServer
import Database
import HTTPTypes
import MessengerAPI

extension MessengerService {
    func members(_ routes: inout Routes<Messenger, Messenger.User.ID>) {
        routes.on(answering: addMembers)
        routes.on(use: removeMember)
        routes.on(use: leaveChat)
    }

    func addMembers(
        _ request: Messenger.AddMembers, from caller: Messenger.User.ID, _ info: RequestInfo
    ) async throws -> Answer<Messenger.Chat> {
        let now = time.milliseconds()
        return try await database.write(info.idempotencyKey, errorMessages: Messenger.errorMessages, at: now) { db in
            let change = try ChatChange.lock(in: request.chat, by: caller, else: Chats.notFound, db)
            try change.requireOwner(caller)
            try change.requireGroup()
            let present = try Members.all(of: request.chat, in: db)
            var seen = Set(present)
            let new = request.users.filter { seen.insert($0).inserted }
            try Members.requireRoom(for: present.count + new.count)
            try Users.requireKnown(new, in: db)
            for user in new { try Chats.join(user, into: request.chat, at: now, in: db) }
            try Users.requireKnown(new, in: db)
            if !new.isEmpty { try change.reserveVersions(new.count, in: db) }
            for users in new.chunks(of: LiveAnnouncement.maximumUsers) {
                let version = change.version + Int64(users.startIndex)
                try self.announce(
                    .membersAdded(Array(users), to: request.chat, version: version), in: request.chat, db)
            }
            guard let chat = try Chats.detail(request.chat, for: caller, in: db) else { throw Chats.notFound }
            let people = chat.members.map { Users.name(of: $0.id) }
            try IdempotencyStore.note(info.idempotencyKey, about: people, at: now, in: db)
            return Answer(.ok, chat)
        }
    }

    func removeMember(
        _ request: Messenger.RemoveMember, from caller: Messenger.User.ID
    ) async throws -> Empty {
        try await database.write { db in
            let change = try ChatChange.lock(in: request.chat, by: caller, else: Chats.notFound, db)
            try change.requireOwner(caller)
            guard try Chats.isMember(request.user, of: request.chat, in: db) else {
                throw Problem(.notFound, "Member not found")
            }
            guard request.user != caller else { throw Problem(.badRequest, "Use leave") }
            try change.requireGroup()
            try self.endMembership(of: request.user, change, in: db)
        }
        return Empty()
    }

    func leaveChat(_ request: Messenger.LeaveChat, from caller: Messenger.User.ID) async throws -> Empty {
        try await database.write { db in
            let change = try ChatChange.lock(in: request.chat, by: caller, else: Chats.notFound, db)
            try change.requireGroup()
            try self.endMembership(of: caller, change, in: db)
        }
        return Empty()
    }

    /// Ends a membership. When the owner leaves, another member becomes the owner, and a chat without members is
    /// deleted.
    func endMembership(of user: Messenger.User.ID, _ change: ChatChange, in db: Session) throws {
        try db.run("DELETE FROM members WHERE chat_id = \(change.chat) AND user_id = \(user)")
        if user == change.owner {
            if let successor = try Members.longestStanding(in: change.chat, db) {
                try Members.passOwnership(of: change.chat, to: successor, in: db)
            } else {
                try Chats.delete(change.chat, in: db)
            }
        }
        try announce(
            .memberRemoved(.init(chat: change.chat, user: user), version: change.version), in: change.chat, db)
    }
}

enum Members {
    static func all(of chat: Messenger.Chat.ID, in db: Session) throws -> [Messenger.User.ID] {
        try db.all("SELECT user_id FROM members WHERE chat_id = \(chat)") { try $0.get(0) }
    }

    /// - Throws: A `Problem` with 400 when a group would have too many members.
    static func requireRoom(for count: Int) throws(Problem) {
        guard count <= Messenger.CreateChat.maximumMembers else {
            throw Problem(.badRequest, "a group has at most \(Messenger.CreateChat.maximumMembers) members")
        }
    }

    static func longestStanding(in chat: Messenger.Chat.ID, _ db: Session) throws -> Messenger.User.ID? {
        try db.value("SELECT user_id FROM members WHERE chat_id = \(chat) ORDER BY joined_at, user_id LIMIT 1")
    }

    static func passOwnership(
        of chat: Messenger.Chat.ID, to user: Messenger.User.ID, in db: Session
    ) throws {
        try db.run("UPDATE chats SET owner_id = \(user) WHERE id = \(chat)")
        try db.run(
            "UPDATE members SET role = \(Messenger.Role.owner) WHERE chat_id = \(chat) AND user_id = \(user)")
    }

    /// Returns the chat's version and the number of its events for a member; nil for a user who is not a member.
    static func state(
        of chat: Messenger.Chat.ID, for user: Messenger.User.ID, in db: Session
    ) throws -> (version: Int64, events: Int64)? {
        try db.one(
            """
            SELECT c.version, c.events FROM members m JOIN chats c ON c.id = m.chat_id
            WHERE m.chat_id = \(chat) AND m.user_id = \(user)
            """
        ) { (try $0.get(0), try $0.get(1)) }
    }
}
