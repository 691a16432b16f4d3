import Backend
import Contract
import ContractServer
import Database
import DunbarAPI
import HTTPTypes

extension DunbarService {
    func follows(_ routes: inout Routes<Dunbar, Caller>) {
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

    func follow(_ request: Dunbar.Follow, from caller: Caller) async throws -> Dunbar.Confirmation {
        let now = time.milliseconds()
        return try await database.write { db in
            // The locks serialize the follows of a user, so that the limit holds, and exclude a block between the two
            // users.
            let areThere = try Users.lock([caller.user, request.user], in: db)
            let isPrivate: Bool? = try db.value("SELECT is_private FROM users WHERE id = \(request.user)")
            guard areThere, let isPrivate, try !Blocks.exist(of: caller.user, by: request.user, in: db) else {
                throw try Users.missingUser(for: caller.user, in: db)
            }
            guard request.user != caller.user else { throw Problem(.badRequest, "Cannot follow yourself") }
            guard try !Blocks.exist(of: request.user, by: caller.user, in: db) else {
                throw Problem(.badRequest, "Unblock this user first")
            }
            let known = Problem(.badRequest, "Already following or requested to follow this user")
            let isAccepted = try Follows.isAccepted(caller.user, to: request.user, in: db)
            // The request was made to an account that has become public since, at a time when the follower had reached
            // the limit.
            let isLeftOver = isAccepted == false && !isPrivate
            guard isAccepted == nil || isLeftOver else { throw known }
            guard try Follows.hasRoom(caller.user, in: db) else {
                throw Problem(.badRequest, "You have reached the maximum number of follows (150)")
            }
            if isLeftOver {
                try Follows.accept(of: caller.user, to: request.user, in: db)
                return .init(message: "Following")
            }
            if isPrivate { try Rejections.requireFew(of: caller.user, by: request.user, at: now, in: db) }
            guard try Follows.insert(caller.user, to: request.user, isAccepted: !isPrivate, at: now, in: db) else {
                throw known
            }
            return .init(message: isPrivate ? Dunbar.Follow.requested : "Following")
        }
    }

    func unfollow(_ request: Dunbar.Unfollow, from caller: Caller) async throws -> Dunbar.Confirmation {
        let now = time.milliseconds()
        return try await database.write { db in
            guard try Users.exists(request.user, for: caller.user, in: db) else { throw Users.notFound }
            // The lock waits for a follow or an acceptance in progress, so that the answer says what was removed.
            try Users.lock(caller.user, in: db)
            let wasAccepted = try Follows.isAccepted(caller.user, to: request.user, in: db)
            guard let wasAccepted, try Follows.delete(of: caller.user, to: request.user, at: now, in: db) else {
                throw Problem(.badRequest, "Not following this user")
            }
            return .init(message: wasAccepted ? "Unfollowed" : "Follow request withdrawn")
        }
    }

    func removeFollower(_ request: Dunbar.RemoveFollower, from caller: Caller) async throws -> Dunbar.Confirmation {
        let now = time.milliseconds()
        return try await database.write { db in
            let isRemoved = try FormerRows.delete(
                .follow,
                where: "follower_id = \(request.follower) AND target_id = \(caller.user) AND is_accepted = 1", at: now,
                in: db)
            guard isRemoved > 0 else { throw Problem(.badRequest, "This user is not your follower") }
            return .init(message: "Follower removed successfully")
        }
    }

    // MARK: Lists

    func listFollowers(_ request: Dunbar.ListFollowers, from caller: Caller) async throws -> [Dunbar.User] {
        guard request.user == caller.user else {
            throw Problem(.forbidden, "You can only view your own followers")
        }
        try request.validate()
        return try await list(.followers, request.limit, before: request.before, with: request.include, of: caller)
    }

    func listFollowing(_ request: Dunbar.ListFollowing, from caller: Caller) async throws -> [Dunbar.User] {
        guard request.user == caller.user else {
            throw Problem(.forbidden, "You can only view your own following list")
        }
        try request.validate()
        return try await list(.following, request.limit, before: request.before, with: request.include, of: caller)
    }

    private func list(
        _ side: Follows.Side, _ limit: Int?, before: Dunbar.User.ID?, with parts: Dunbar.Inclusions?, of caller: Caller
    ) async throws -> [Dunbar.User] {
        try await database.read(from: .replica) { [urls] db in
            try Users.list(
                Follows.listClauses(side, of: caller.user, before: before, limit: limit), with: parts,
                for: caller.user, urls, in: db)
        }
    }

    func listPendingRequests(
        _ request: Dunbar.ListPendingRequests, from caller: Caller
    ) async throws -> [Dunbar.PendingRequest] {
        try await database.read(from: .replica) { [urls] db in
            try db.all(
                Follows.requestsQuery(.followers, of: caller.user, before: request.before, limit: request.limit)
            ) { row in
                .init(id: try row.get(0), createdAt: try row.get(1), follower: try .init(row: row, at: 2, urls))
            }
        }
    }

    func listOutgoingRequests(
        _ request: Dunbar.ListOutgoingRequests, from caller: Caller
    ) async throws -> [Dunbar.OutgoingRequest] {
        try await database.read(from: .replica) { [urls] db in
            try db.all(
                Follows.requestsQuery(.following, of: caller.user, before: request.before, limit: request.limit)
            ) { row in
                .init(id: try row.get(0), createdAt: try row.get(1), following: try .init(row: row, at: 2, urls))
            }
        }
    }

    // MARK: Answering requests

    func acceptRequest(_ request: Dunbar.AcceptRequest, from caller: Caller) async throws -> Dunbar.Confirmation {
        try await database.write { db in
            let follower: Dunbar.User.ID? = try db.value(
                """
                SELECT follower_id FROM follows
                WHERE id = \(request.id) AND target_id = \(caller.user) AND is_accepted = 0
                """)
            guard let follower else { throw Follows.notFound }
            try Users.lock(follower, in: db)
            guard try Follows.hasRoom(follower, in: db) else {
                throw Problem(.badRequest, "This user has reached the maximum number of follows (150)")
            }
            let isAccepted = try db.run(
                """
                UPDATE follows SET is_accepted = 1
                WHERE id = \(request.id) AND target_id = \(caller.user) AND is_accepted = 0
                """)
            guard isAccepted > 0 else { throw Follows.notFound }
            return .init(message: "Follow request accepted")
        }
    }

    func rejectRequest(_ request: Dunbar.RejectRequest, from caller: Caller) async throws -> Dunbar.Confirmation {
        let now = time.milliseconds()
        return try await database.write { db in
            let condition: SQL = "id = \(request.id) AND target_id = \(caller.user) AND is_accepted = 0"
            let follower: Dunbar.User.ID? = try db.value("SELECT follower_id FROM follows WHERE \(condition)")
            guard let follower, try FormerRows.delete(.follow, where: condition, at: now, in: db) > 0 else {
                throw Follows.notFound
            }
            try Rejections.count(of: follower, by: caller.user, at: now, in: db)
            return .init(message: "Follow request rejected")
        }
    }
}

enum Follows {
    static let notFound = Problem(.notFound, "Follow request not found")

    /// The side of a follow that a list shows.
    enum Side {
        case followers
        case following

        fileprivate var own: SQL { self == .followers ? "target_id" : "follower_id" }
        fileprivate var other: SQL { self == .followers ? "follower_id" : "target_id" }
    }

    /// Returns whether a follow was accepted; nil when there is neither a follow nor a request.
    static func isAccepted(
        _ follower: Dunbar.User.ID, to target: Dunbar.User.ID, in db: Session
    ) throws -> Bool? {
        try db.value(
            "SELECT is_accepted FROM follows WHERE follower_id = \(follower) AND target_id = \(target)")
    }

    /// Returns whether a user may follow one more.
    static func hasRoom(_ follower: Dunbar.User.ID, in db: Session) throws -> Bool {
        let count: Int? = try db.value(
            "SELECT COUNT(*) FROM follows WHERE follower_id = \(follower) AND is_accepted = 1")
        return (count ?? 0) < Dunbar.maximumFollows
    }

    /// Adds a follow or a request, and returns false when there is one already.
    static func insert(
        _ follower: Dunbar.User.ID, to target: Dunbar.User.ID, isAccepted: Bool, at now: Int64, in db: Session
    ) throws -> Bool {
        try db.run(
            """
            INSERT INTO follows (follower_id, target_id, is_accepted, created_at)
            VALUES (\(follower), \(target), \(isAccepted), \(now))
            ON CONFLICT (follower_id, target_id) DO NOTHING
            """) == 1
    }

    static func accept(of follower: Dunbar.User.ID, to target: Dunbar.User.ID, in db: Session) throws {
        try db.run(
            "UPDATE follows SET is_accepted = 1 WHERE follower_id = \(follower) AND target_id = \(target)")
    }

    /// Accepts the requests to a user whose account becomes public, except those of users who have reached the limit.
    static func acceptAll(to target: Dunbar.User.ID, in db: Session) throws {
        let followers: [Dunbar.User.ID] = try db.all(
            "SELECT follower_id FROM follows WHERE target_id = \(target) AND is_accepted = 0 ORDER BY follower_id"
        ) { try $0.get(0) }
        for follower in followers {
            // The lock serializes the user's follows, so that the limit holds.
            try Users.lock(follower, in: db)
            if try hasRoom(follower, in: db) { try accept(of: follower, to: target, in: db) }
        }
    }

    /// Deletes a follow or a request, and returns whether there was one.
    static func delete(
        of follower: Dunbar.User.ID, to target: Dunbar.User.ID, at now: Int64, in db: Session
    ) throws -> Bool {
        try FormerRows.delete(
            .follow, where: "follower_id = \(follower) AND target_id = \(target)", at: now, in: db) > 0
    }

    /// Deletes follows and requests between two users, in both directions.
    static func deleteAll(
        between one: Dunbar.User.ID, and other: Dunbar.User.ID, at now: Int64, in db: Session
    ) throws {
        try FormerRows.delete(
            .follow,
            where: """
                (follower_id = \(one) AND target_id = \(other) OR follower_id = \(other) AND target_id = \(one))
                """, at: now, in: db)
    }

    /// Returns the JOIN, WHERE and ORDER BY clauses behind `FROM users u` for a list of followers or followed users.
    static func listClauses(
        _ side: Side, of user: Dunbar.User.ID, before: Dunbar.User.ID?, limit: Int?
    ) -> SQL {
        let place: SQL =
            before.map {
                let (follower, target) = side == .followers ? ($0, user) : (user, $0)
                return "AND (f.created_at, f.id) < \(FormerRows.place(.follow, of: follower, and: target))"
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
        let place: SQL = before.map { "AND (f.created_at, f.id) < \(FormerRows.place(ofRequest: $0))" } ?? ""
        return """
            SELECT f.id, f.created_at, \(Users.summaryColumns)
            FROM follows f JOIN users u ON u.id = f.\(side.other)
            WHERE f.\(side.own) = \(user) AND f.is_accepted = 0 \(place)
            ORDER BY f.created_at DESC, f.id DESC LIMIT \(limit ?? Dunbar.maximumPage)
            """
    }
}

/// Counts how often a user rejected another user's requests. After three rejections new requests are refused for a
/// week.
enum Rejections {
    private static let limit = 3
    /// The time in milliseconds for which rejections count.
    private static let window: Int64 = 7 * 24 * 3_600_000

    static let times = [StoredTime("rejections", "ends_at", window: window, correction: .isOver)]

    static func count(
        of follower: Dunbar.User.ID, by target: Dunbar.User.ID, at now: Int64, in db: Session
    ) throws {
        let isOver = StoredTimes.isOver("rejections.ends_at", at: now, window: window)
        try db.run(
            """
            INSERT INTO rejections (follower_id, target_id, used, ends_at)
            VALUES (\(follower), \(target), 1, \(now + window))
            ON CONFLICT (follower_id, target_id) DO UPDATE SET
                used = CASE WHEN \(isOver) THEN 1 ELSE rejections.used + 1 END,
                ends_at = excluded.ends_at
            """)
    }

    /// Refuses a request when the target has rejected the follower too often.
    ///
    /// - Throws: A `Problem` with 429.
    static func requireFew(
        of follower: Dunbar.User.ID, by target: Dunbar.User.ID, at now: Int64, in db: Session
    ) throws {
        let end: Int64? = try db.value(
            """
            SELECT ends_at FROM rejections
            WHERE follower_id = \(follower) AND target_id = \(target) AND used >= \(limit)
                AND NOT \(StoredTimes.isOver("ends_at", at: now, window: window))
            """)
        guard let end else { return }
        throw Problem(.tooManyRequests, Dunbar.errorMessages.tooManyRequests).retry(
            afterSeconds: (min(end - now, window) + 999) / 1000)
    }

    static func forget(_ user: Dunbar.User.ID, in db: Session) throws {
        try db.run("DELETE FROM rejections WHERE follower_id = \(user) OR target_id = \(user)")
    }

    static func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM rejections WHERE \(StoredTimes.isOver("ends_at", at: now, window: window))")
    }
}
