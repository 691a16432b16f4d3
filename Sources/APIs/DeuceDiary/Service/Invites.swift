import Backend
import Contract
import ContractServer
import Database
import DeuceDiaryAPI
import HTTPTypes

extension DeuceDiaryService {
    /// The lifetime of an invite in milliseconds: 7 days.
    static let inviteLifetime: Int64 = 7 * 24 * 3600 * 1000

    /// The number of open invites that one member may have in one group.
    static let maximumInvites = 200

    func invites(_ routes: inout Routes<DeuceDiary, Caller>) {
        routes.on(answering: createInvite)
        routes.on(use: joinGroup)
        routes.open(answering: openInvite)
        routes.open(use: previewInvite)
        routes.on(use: listInvites)
        routes.on(use: revokeInvite)
    }

    func createInvite(
        _ request: DeuceDiary.CreateInvite, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<DeuceDiary.CreatedInvite> {
        let now = time.milliseconds()
        return try await database.write(info.idempotencyKey, errorMessages: DeuceDiary.errorMessages, at: now) {
            [makeID, links] db in
            try Groups.lock(request.group, in: db)
            try Groups.requireMember(caller.user, of: request.group, in: db)
            // The invites are counted under the group's lock, so that two requests cannot both create the last one.
            guard try Invites.count(madeBy: caller.user, into: request.group, at: now, in: db) < Self.maximumInvites
            else {
                throw Problem(.badRequest, "Invite limit reached")
            }
            let id = DeuceDiary.Invite.ID(makeID())
            try db.run(
                """
                INSERT INTO invites (id, group_id, created_by, expires_at, created_at)
                VALUES (\(id), \(request.group), \(caller.user), \(now + Self.inviteLifetime), \(now))
                """)
            return Answer(.ok, .init(inviteLink: links.invite(id), id: id))
        }
    }

    /// The links in the answer to the present request.
    private var links: Links { Links(base: LinkOrigin.current(else: settings.publicURL)) }

    private struct Links {
        let base: String

        func invite(_ invite: DeuceDiary.Invite.ID) -> String { "\(base)/join/\(invite)" }
    }

    func joinGroup(_ request: DeuceDiary.JoinGroup, from caller: Caller) async throws -> DeuceDiary.JoinedGroup {
        let now = time.milliseconds()
        return try await database.write { db in
            guard let id = try Invites.group(of: request.invite, at: now, in: db), try Groups.lock(id, in: db),
                let group = try Groups.one(id, in: db), try Invites.lock(request.invite, in: db)
            else { throw Invites.invalid }
            try Users.lockCaller(caller.user, in: db)
            // A member of the group stays in it.
            if let maker = try Invites.one(request.invite, at: now, in: db)?.maker,
                try Blocks.exist(between: caller.user, and: maker, in: db),
                try !Groups.isMember(caller.user, of: id, in: db)
            {
                throw Invites.invalid
            }
            let isNew = try Groups.add(caller.user, .member, to: id, at: now, in: db)
            if isNew { try Invites.remember(request.invite, broughtIn: caller.user, in: db) }
            return .init(group: group, message: isNew ? nil : "Already a member of this group")
        }
    }

    func listInvites(
        _ request: DeuceDiary.ListInvites, from caller: Caller
    ) async throws -> [DeuceDiary.GroupInvite] {
        let now = time.milliseconds()
        let limit = min(request.limit ?? .max, DeuceDiary.ListInvites.maximum)
        return try await database.read { [links] db in
            try Groups.requireMember(caller.user, of: request.group, in: db)
            let maker = try Members.isAdmin(caller.user, of: request.group, in: db) ? nil : caller.user
            if let before = request.before {
                guard let invite = try Invites.one(before, at: now, in: db), invite.group == request.group,
                    maker ?? invite.maker == invite.maker
                else { throw Groups.invalidCursor }
            }
            let query = Invites.pageQuery(
                of: request.group, by: maker, before: request.before, at: now, limit: limit)
            return try db.all(query) { row in
                let id: DeuceDiary.Invite.ID = try row.get(0)
                return DeuceDiary.GroupInvite(
                    id: id, groupId: try row.get(1), inviteLink: links.invite(id), createdBy: try row.get(2),
                    expiresAt: try row.get(3), createdAt: try row.get(4))
            }
        }
    }

    func revokeInvite(_ request: DeuceDiary.RevokeInvite, from caller: Caller) async throws -> DeuceDiary.Confirmation {
        let now = time.milliseconds()
        try await database.write { db in
            guard let group = try Invites.group(of: request.invite, at: now, in: db), try Groups.lock(group, in: db),
                // This comes after the lock, because the invite may have been revoked while this transaction waited.
                let invite = try Invites.one(request.invite, at: now, in: db)
            else { throw Problem(.notFound, "Invite not found") }
            guard try invite.maker == caller.user || Members.isAdmin(caller.user, of: group, in: db) else {
                throw Groups.notAuthorized
            }
            try db.run("DELETE FROM invites WHERE id = \(request.invite)")
        }
        return .init(message: "Invite revoked")
    }

    func previewInvite(
        _ request: DeuceDiary.PreviewInvite, _ info: RequestInfo
    ) async throws -> DeuceDiary.InvitePreview {
        try await count(info)
        let now = time.milliseconds()
        guard let preview = try await database.read({ try Invites.preview(of: request.invite, at: now, in: $0) }) else {
            throw Problem(.notFound, "Invite not found or expired")
        }
        return preview
    }

    func openInvite(_ request: DeuceDiary.OpenInvite, _ info: RequestInfo) async throws -> Answer<Empty> {
        try await count(info)
        guard request.invite.isUUID else { throw Problem(.notFound, DeuceDiary.errorMessages.notFound) }
        guard settings.showsInvitations else {
            return Answer(.found, headers: [.location: appLink(to: request.invite)])
        }
        let target = info.wantsPage ? InvitationPage.link(to: request.invite, settings) : appLink(to: request.invite)
        return Answer(.found, headers: [.location: target, .vary: "Accept"])
    }

    /// Returns the link that opens an invite in the app.
    func appLink(to invite: DeuceDiary.Invite.ID) -> String {
        settings.joinRedirect.replacing("{inviteId}", with: invite.rawValue)
    }
}

enum Invites {
    static let invalid = Problem(.badRequest, "Invalid or expired invite")

    /// Returns the group of an invite that has not expired.
    static func group(
        of invite: DeuceDiary.Invite.ID, at now: Int64, in db: Session
    ) throws -> DeuceDiary.Group.ID? {
        try db.value("SELECT group_id FROM invites WHERE id = \(invite) AND expires_at >= \(now)")
    }

    /// Locks an invite's row, so that it cannot be deleted until the transaction ends; returns false when it was
    /// deleted. The caller has locked its group.
    static func lock(_ invite: DeuceDiary.Invite.ID, in db: Session) throws -> Bool {
        try db.lock("invites", where: "id = \(invite)") > 0
    }

    /// Records the invite by which a user joined, so that it is deleted when they are removed.
    static func remember(
        _ invite: DeuceDiary.Invite.ID, broughtIn user: DeuceDiary.User.ID, in db: Session
    ) throws {
        try db.run(
            """
            INSERT INTO invite_uses (invite_id, user_id) VALUES (\(invite), \(user))
            ON CONFLICT (invite_id, user_id) DO NOTHING
            """)
    }

    /// Returns the number of open invites into a group that a user has created.
    static func count(
        madeBy user: DeuceDiary.User.ID, into group: DeuceDiary.Group.ID, at now: Int64, in db: Session
    ) throws -> Int {
        try db.value(
            """
            SELECT COUNT(*) FROM invites WHERE group_id = \(group) AND created_by = \(user) AND expires_at >= \(now)
            """) ?? 0
    }

    /// Deletes the invites into a group that a user has created.
    static func end(madeBy user: DeuceDiary.User.ID, into group: DeuceDiary.Group.ID, in db: Session) throws {
        try db.run("DELETE FROM invites WHERE group_id = \(group) AND created_by = \(user)")
    }

    /// Deletes the invites by which a user has joined a group, now or earlier.
    static func end(usedBy user: DeuceDiary.User.ID, into group: DeuceDiary.Group.ID, in db: Session) throws {
        try db.run(
            """
            DELETE FROM invites
            WHERE group_id = \(group) AND id IN (SELECT invite_id FROM invite_uses WHERE user_id = \(user))
            """)
    }

    /// Returns the group and the creator of an invite that has not expired.
    static func one(
        _ invite: DeuceDiary.Invite.ID, at now: Int64, in db: Session
    ) throws -> (group: DeuceDiary.Group.ID, maker: DeuceDiary.User.ID)? {
        try db.one("SELECT group_id, created_by FROM invites WHERE id = \(invite) AND expires_at >= \(now)") { row in
            (try row.get(0), try row.get(1))
        }
    }

    /// Returns the query for a page of invites, the newest first, behind `before` when given.
    ///
    /// - Parameter maker: The creator of the invites; nil for those of all members.
    static func pageQuery(
        of group: DeuceDiary.Group.ID, by maker: DeuceDiary.User.ID?, before: DeuceDiary.Invite.ID?, at now: Int64,
        limit: Int
    ) -> SQL {
        let own: SQL = maker.map { "AND i.created_by = \($0)" } ?? ""
        let rest: SQL =
            before.map { "AND (i.created_at, i.id) < (SELECT b.created_at, b.id FROM invites b WHERE b.id = \($0))" }
            ?? ""
        return """
            SELECT i.id, i.group_id, i.created_by, i.expires_at, i.created_at FROM invites i
            WHERE i.group_id = \(group) AND i.expires_at >= \(now) \(own) \(rest)
            ORDER BY i.created_at DESC, i.id DESC LIMIT \(limit)
            """
    }

    static func preview(
        of invite: DeuceDiary.Invite.ID, at now: Int64, in db: Session
    ) throws -> DeuceDiary.InvitePreview? {
        try db.one(
            """
            SELECT g.name, (SELECT COUNT(*) FROM members m WHERE m.group_id = g.id), g.entry_count, i.expires_at
            FROM invites i JOIN groups g ON g.id = i.group_id WHERE i.id = \(invite) AND i.expires_at >= \(now)
            """
        ) { row in
            .init(
                name: try row.get(0), memberCount: try row.get(1), deuceCount: try row.get(2),
                expiresAt: try row.get(3))
        }
    }

    static func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM invites WHERE expires_at < \(now)")
    }
}
