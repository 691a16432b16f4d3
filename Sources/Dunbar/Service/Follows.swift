import Backend
import Contract
import ContractServer
import Database
import DunbarAPI
import HTTPTypes

extension DunbarService {
    func follows(_ routes: inout Routes<Dunbar, Viewer>) {
        routes.on(use: follow)
        routes.on(use: unfollow)
        routes.on(use: removeFollower)
        routes.on(use: listFollowers)
        routes.on(use: listFollowing)
        routes.on(use: listPendingRequests)
        routes.on(use: listOutgoingRequests)
        routes.on(use: acceptRequest)
        routes.on(use: rejectRequest)
    }

    func follow(_ request: Dunbar.Follow, from viewer: Viewer) async throws -> Dunbar.Confirmation {
        let now = time.milliseconds()
        return try await database.write { db in
            // One follow of a user's after the other, so that the limit holds; and none beside a block between the two.
            let areThere = try Users.queue([viewer.user, request.user], in: db)
            let isPrivate: Bool? = try db.value("SELECT is_private FROM users WHERE id = \(request.user)")
            guard areThere, let isPrivate, try !Blocks.exist(of: viewer.user, by: request.user, in: db) else {
                throw try Users.absence(of: viewer.user, in: db)
            }
            guard request.user != viewer.user else { throw Problem(.badRequest, "Cannot follow yourself") }
            guard try !Blocks.exist(of: request.user, by: viewer.user, in: db) else {
                throw Problem(.badRequest, "Unblock this user first")
            }
            let known = Problem(.badRequest, "Already following or requested to follow this user")
            guard try Follows.isAccepted(viewer.user, to: request.user, in: db) == nil else { throw known }
            guard try Follows.hasRoom(viewer.user, in: db) else {
                throw Problem(.badRequest, "You have reached the maximum number of follows (150)")
            }
            guard try Follows.insert(viewer.user, to: request.user, isAccepted: !isPrivate, at: now, in: db) else {
                throw known
            }
            return .init(message: isPrivate ? Dunbar.Follow.requested : "Following")
        }
    }

    func unfollow(_ request: Dunbar.Unfollow, from viewer: Viewer) async throws -> Dunbar.Confirmation {
        try await database.write { db in
            guard try Users.exists(request.user, for: viewer.user, in: db) else { throw Users.notFound }
            let wasAccepted: Bool? = try db.value(
                """
                DELETE FROM follows WHERE follower_id = \(viewer.user) AND target_id = \(request.user)
                RETURNING is_accepted
                """)
            guard let wasAccepted else { throw Problem(.badRequest, "Not following this user") }
            return .init(message: wasAccepted ? "Unfollowed" : "Follow request withdrawn")
        }
    }

    func removeFollower(_ request: Dunbar.RemoveFollower, from viewer: Viewer) async throws -> Dunbar.Confirmation {
        try await database.write { db in
            let isRemoved = try db.run(
                """
                DELETE FROM follows
                WHERE follower_id = \(request.follower) AND target_id = \(viewer.user) AND is_accepted = 1
                """)
            guard isRemoved > 0 else { throw Problem(.badRequest, "This user is not your follower") }
            return .init(message: "Follower removed successfully")
        }
    }

    // MARK: Lists

    func listFollowers(_ request: Dunbar.ListFollowers, from viewer: Viewer) async throws -> [Dunbar.User] {
        guard request.user == viewer.user else {
            throw Problem(.forbidden, "You can only view your own followers")
        }
        try request.validate()
        return try await list(.followers, request.limit, before: request.before, of: viewer)
    }

    func listFollowing(_ request: Dunbar.ListFollowing, from viewer: Viewer) async throws -> [Dunbar.User] {
        guard request.user == viewer.user else {
            throw Problem(.forbidden, "You can only view your own following list")
        }
        try request.validate()
        return try await list(.following, request.limit, before: request.before, of: viewer)
    }

    private func list(
        _ side: Follows.Side, _ limit: Int?, before: Dunbar.User.ID?, of viewer: Viewer
    ) async throws -> [Dunbar.User] {
        try await database.read { [urls] db in
            try Users.list(Follows.rest(side, of: viewer.user, before: before, limit: limit), urls, in: db)
        }
    }

    func listPendingRequests(
        _ request: Dunbar.ListPendingRequests, from viewer: Viewer
    ) async throws -> [Dunbar.PendingRequest] {
        try await database.read { [urls] db in
            try db.all(
                Follows.requestsQuery(.followers, of: viewer.user, before: request.before, limit: request.limit)
            ) { row in
                .init(id: try row.get(0), createdAt: try row.get(1), follower: try .init(row: row, at: 2, urls))
            }
        }
    }

    func listOutgoingRequests(
        _ request: Dunbar.ListOutgoingRequests, from viewer: Viewer
    ) async throws -> [Dunbar.OutgoingRequest] {
        try await database.read { [urls] db in
            try db.all(
                Follows.requestsQuery(.following, of: viewer.user, before: request.before, limit: request.limit)
            ) { row in
                .init(id: try row.get(0), createdAt: try row.get(1), following: try .init(row: row, at: 2, urls))
            }
        }
    }

    // MARK: Answers to requests

    func acceptRequest(_ request: Dunbar.AcceptRequest, from viewer: Viewer) async throws -> Dunbar.Confirmation {
        try await database.write { db in
            let follower: Dunbar.User.ID? = try db.value(
                """
                SELECT follower_id FROM follows
                WHERE id = \(request.id) AND target_id = \(viewer.user) AND is_accepted = 0
                """)
            guard let follower else { throw Follows.notFound }
            try Users.queue(follower, in: db)
            guard try Follows.hasRoom(follower, in: db) else {
                throw Problem(.badRequest, "This user has reached the maximum number of follows (150)")
            }
            let isAccepted = try db.run(
                """
                UPDATE follows SET is_accepted = 1
                WHERE id = \(request.id) AND target_id = \(viewer.user) AND is_accepted = 0
                """)
            guard isAccepted > 0 else { throw Follows.notFound }
            return .init(message: "Follow request accepted")
        }
    }

    func rejectRequest(_ request: Dunbar.RejectRequest, from viewer: Viewer) async throws -> Dunbar.Confirmation {
        try await database.write { db in
            let isRejected = try db.run(
                """
                DELETE FROM follows WHERE id = \(request.id) AND target_id = \(viewer.user) AND is_accepted = 0
                """)
            guard isRejected > 0 else { throw Follows.notFound }
            return .init(message: "Follow request rejected")
        }
    }
}

enum Follows {
    static let notFound = Problem(.notFound, "Follow request not found")

    /// Which of the two a list shows.
    enum Side {
        case followers
        case following

        fileprivate var own: SQL { self == .followers ? "target_id" : "follower_id" }
        fileprivate var other: SQL { self == .followers ? "follower_id" : "target_id" }
    }

    /// Whether a follow was accepted; nil when there is neither follow nor request.
    static func isAccepted(
        _ follower: Dunbar.User.ID, to target: Dunbar.User.ID, in db: Session
    ) throws -> Bool? {
        try db.value(
            "SELECT is_accepted FROM follows WHERE follower_id = \(follower) AND target_id = \(target)")
    }

    /// Whether one more may be accepted.
    static func hasRoom(_ follower: Dunbar.User.ID, in db: Session) throws -> Bool {
        let count: Int? = try db.value(
            "SELECT COUNT(*) FROM follows WHERE follower_id = \(follower) AND is_accepted = 1")
        return (count ?? 0) < Dunbar.maximumFollows
    }

    /// False when there is one already.
    static func insert(
        _ follower: Dunbar.User.ID, to target: Dunbar.User.ID, isAccepted: Bool, at now: Int64, in db: Session
    ) throws -> Bool {
        try db.exists(
            """
            INSERT INTO follows (follower_id, target_id, is_accepted, created_at)
            VALUES (\(follower), \(target), \(isAccepted), \(now))
            ON CONFLICT (follower_id, target_id) DO NOTHING RETURNING 1
            """)
    }

    /// Follows and requests, both ways.
    static func deleteAll(between one: Dunbar.User.ID, and other: Dunbar.User.ID, in db: Session) throws {
        try db.run(
            """
            DELETE FROM follows
            WHERE follower_id = \(one) AND target_id = \(other) OR follower_id = \(other) AND target_id = \(one)
            """)
    }

    /// Behind `FROM users u`: whom a list shows.
    static func rest(
        _ side: Side, of user: Dunbar.User.ID, before: Dunbar.User.ID?, limit: Int?
    ) -> SQL {
        let place: SQL =
            before.map {
                """
                AND (f.created_at, f.id) < (
                    SELECT b.created_at, b.id FROM follows b WHERE b.\(side.own) = \(user) AND b.\(side.other) = \($0))
                """
            } ?? ""
        return """
            JOIN follows f ON f.\(side.other) = u.id
            WHERE f.\(side.own) = \(user) AND f.is_accepted = 1 \(place)
            ORDER BY f.created_at DESC, f.id DESC LIMIT \(limit ?? Dunbar.maximumPage)
            """
    }

    static func requestsQuery(
        _ side: Side, of user: Dunbar.User.ID, before: Dunbar.FollowRequest.ID?, limit: Int?
    ) -> SQL {
        let place: SQL =
            before.map { "AND (f.created_at, f.id) < (SELECT b.created_at, b.id FROM follows b WHERE b.id = \($0))" }
            ?? ""
        return """
            SELECT f.id, f.created_at, \(Users.summaryColumns)
            FROM follows f JOIN users u ON u.id = f.\(side.other)
            WHERE f.\(side.own) = \(user) AND f.is_accepted = 0 \(place)
            ORDER BY f.created_at DESC, f.id DESC LIMIT \(limit ?? Dunbar.maximumPage)
            """
    }
}
