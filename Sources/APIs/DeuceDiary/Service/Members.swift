import Contract
import ContractServer
import Database
import DeuceDiaryAPI

extension DeuceDiaryService {
    func members(_ routes: inout Routes<DeuceDiary, Caller>) {
        routes.on(use: leaveGroup)
        routes.on(use: removeMember)
    }

    func leaveGroup(
        _ request: DeuceDiary.LeaveGroup, from caller: Caller
    ) async throws -> DeuceDiary.Confirmation {
        let now = time.milliseconds()
        try await database.write { db in
            guard try Groups.lock(request.group, in: db) else { throw Groups.notFound }
            guard try Members.remove(caller.user, from: request.group, in: db) else { throw Groups.notAuthorized }
            try Members.ensureAdmin(of: request.group, at: now, in: db)
            try self.announceEnd(of: .init(user: caller.user, group: request.group), in: db)
        }
        return .init(message: "Left group")
    }

    func removeMember(
        _ request: DeuceDiary.RemoveMember, from caller: Caller
    ) async throws -> DeuceDiary.Confirmation {
        try await database.write { db in
            guard try Groups.lock(request.group, in: db) else { throw Groups.notFound }
            guard try Members.isAdmin(caller.user, of: request.group, in: db) else { throw Groups.notAuthorized }
            guard request.user != caller.user else { throw Problem(.badRequest, "Use leave to remove yourself") }
            guard try Members.remove(request.user, from: request.group, in: db) else {
                throw Problem(.notFound, "Member not found")
            }
            try Invites.end(usedBy: request.user, into: request.group, in: db)
            try self.announceEnd(of: .init(user: request.user, group: request.group), in: db)
        }
        return .init(message: "Member removed")
    }

    /// Announces the end of a membership to the user's sockets.
    private func announceEnd(of membership: Membership, in db: Session) throws {
        let number = try Groups.countEvent(of: membership.group, in: db)
        publisher.publish(.left(membership), short: nil, as: number, in: db)
    }
}

/// Changes memberships in groups that the caller has locked.
enum Members {
    static func isAdmin(
        _ user: DeuceDiary.User.ID, of group: DeuceDiary.Group.ID, in db: Session
    ) throws -> Bool {
        try db.exists(
            """
            SELECT 1 FROM members
            WHERE group_id = \(group) AND user_id = \(user) AND role = \(DeuceDiary.Role.admin)
            """)
    }

    /// Ends a membership and the invites that the member has created; returns false when there is no such membership.
    /// When the member may have been an admin, ``ensureAdmin(of:at:in:)`` must follow.
    static func remove(
        _ user: DeuceDiary.User.ID, from group: DeuceDiary.Group.ID, in db: Session
    ) throws -> Bool {
        try Invites.end(madeBy: user, into: group, in: db)
        return try db.run("DELETE FROM members WHERE group_id = \(group) AND user_id = \(user)") > 0
    }

    /// Keeps a group with an admin after members have left: the longest-standing member becomes one. A group without
    /// members is deleted.
    static func ensureAdmin(of group: DeuceDiary.Group.ID, at now: Int64, in db: Session) throws {
        if try longestStanding(in: group, as: .admin, db) != nil { return }
        guard let successor = try longestStanding(in: group, as: nil, db) else {
            return try Groups.delete(group, at: now, in: db)
        }
        try db.run(
            """
            UPDATE members SET role = \(DeuceDiary.Role.admin) WHERE group_id = \(group) AND user_id = \(successor)
            """)
    }

    /// - Parameter role: The role of the member; nil for any role.
    static func longestStanding(
        in group: DeuceDiary.Group.ID, as role: DeuceDiary.Role?, _ db: Session
    ) throws -> DeuceDiary.User.ID? {
        let condition: SQL = role.map { "AND role = \($0)" } ?? ""
        return try db.value(
            "SELECT user_id FROM members WHERE group_id = \(group) \(condition) ORDER BY joined_at, id LIMIT 1")
    }
}
