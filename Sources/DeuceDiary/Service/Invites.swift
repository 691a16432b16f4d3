import Backend
import Contract
import ContractServer
import Database
import DeuceDiaryAPI
import HTTPTypes

extension DeuceDiaryService {
    /// In milliseconds: 7 days.
    static let inviteLifetime: Int64 = 7 * 24 * 3600 * 1000

    func invites(_ routes: inout Routes<DeuceDiary, Caller>) {
        routes.on(answering: createInvite)
        routes.on(use: joinGroup)
        routes.open(answering: openInvite)
        routes.open(use: previewInvite)
    }

    func createInvite(
        _ request: DeuceDiary.CreateInvite, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<DeuceDiary.CreatedInvite> {
        let now = time.milliseconds()
        return try await database.write(info.once, phrases: DeuceDiary.phrases, at: now) { [makeID, settings] db in
            try Groups.queue(request.group, in: db)
            try Groups.requireMember(caller.user, of: request.group, in: db)
            let id = DeuceDiary.Invite.ID(makeID())
            try db.run(
                """
                INSERT INTO invites (id, group_id, created_by, expires_at, created_at)
                VALUES (\(id), \(request.group), \(caller.user), \(now + Self.inviteLifetime), \(now))
                """)
            return Answer(.ok, .init(inviteLink: "\(settings.publicURL)/join/\(id)", id: id))
        }
    }

    func joinGroup(_ request: DeuceDiary.JoinGroup, from caller: Caller) async throws -> DeuceDiary.JoinedGroup {
        let now = time.milliseconds()
        return try await database.write { db in
            guard let id = try Invites.group(of: request.invite, at: now, in: db), try Groups.queue(id, in: db),
                let group = try Groups.one(id, in: db)
            else { throw Problem(.badRequest, "Invalid or expired invite") }
            try Users.enter(caller.user, in: db)
            let isNew = try Groups.add(caller.user, .member, to: id, at: now, in: db)
            return .init(group: group, message: isNew ? nil : "Already a member of this group")
        }
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
        guard request.invite.isUUID else { throw Problem(.notFound, DeuceDiary.phrases.notFound) }
        let app = settings.joinRedirect.replacing("{inviteId}", with: request.invite.rawValue)
        return Answer(.found, headers: [.location: app])
    }
}

enum Invites {
    /// The group that an invite leads to, up to the end of its time.
    static func group(
        of invite: DeuceDiary.Invite.ID, at now: Int64, in db: Session
    ) throws -> DeuceDiary.Group.ID? {
        try db.value("SELECT group_id FROM invites WHERE id = \(invite) AND expires_at >= \(now)")
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
