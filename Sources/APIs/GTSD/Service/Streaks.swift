import Backend
import Contract
import ContractServer
import Database
import GTSDAPI
import HTTPTypes

extension GTSDService {
    func streaks(_ routes: inout Routes<GTSD, Caller>) {
        routes.on(use: getStreak)
        routes.on(use: listBadges)
        routes.on(use: checkCompliance)
        routes.on(use: getHistory)
        routes.on(use: listAvailableBadges)
    }

    func getStreak(_ request: GTSD.GetStreak, from caller: Caller) async throws -> APIResponse<GTSD.StreakStatus> {
        let now = time.milliseconds()
        return try await database.read(from: .replica) { [people] db in
            let person = try people.one(caller.user, at: now, in: db)
            let counts = try Tasks.counts(on: person.today, of: person, in: db)
            let streak = try Progress.streak(of: person, in: db)
            return APIResponse(
                .init(
                    streak: try Streaks.one(of: person, streak, in: db),
                    todayCompliance: counts.total == 0
                        ? nil
                        : .init(
                            date: person.today, isCompliant: counts.isCompliant,
                            tasksCompleted: counts.completed, tasksTotal: counts.total),
                    canIncrementToday: try !Progress.isCredited(person.today, of: person.id, in: db)))
        }
    }

    func listBadges(_ request: GTSD.ListBadges, from caller: Caller) async throws -> APIResponse<GTSD.EarnedBadges> {
        let badges = try await database.read(from: .replica) { db in
            try Badges.list("user_id = \(caller.user) ORDER BY awarded_at DESC, id DESC", in: db)
        }
        let (count, all) = (badges.count, Badge.allCases.count)
        return APIResponse(
            .init(
                badges: badges, totalBadges: count, totalAvailable: all,
                completionPercentage: (200 * count + all) / (2 * all)))
    }

    func checkCompliance(
        _ request: GTSD.CheckCompliance, from caller: Caller
    ) async throws -> APIResponse<GTSD.ComplianceCheck> {
        let now = time.milliseconds()
        return try await database.write { [people] db in
            let person = try people.lock(caller.user, at: now, in: db)
            let day = request.date.flatMap { Day($0) } ?? person.today
            let counts = try Tasks.counts(on: day, of: person, in: db)
            let streak =
                day == person.today
                ? try Progress.update(person, after: day, at: now, in: db).streak
                : try Progress.streak(of: person, in: db)
            return APIResponse(
                .init(
                    isCompliant: counts.isCompliant,
                    streakData: .init(try Streaks.one(of: person, streak, in: db)),
                    newlyAwardedBadges: try Badges.takeUnannounced(of: person.id, in: db).map { .init($0) }))
        }
    }

    func getHistory(_ request: GTSD.GetHistory, from caller: Caller) async throws -> APIResponse<GTSD.History> {
        let now = time.milliseconds()
        let (from, to) = (request.from.flatMap { Day($0) }, request.to.flatMap { Day($0) })
        return try await database.read(from: .replica) { [people] db in
            let person = try people.one(caller.user, at: now, in: db)
            // Years have four digits, so a default range is cut where they end.
            let last = to ?? from.map { min($0.advanced(by: 29), .latest) } ?? person.today
            let first = from ?? max(last.advanced(by: -29), min(last, .earliest))
            return APIResponse(.init(days: try Streaks.history(of: person, from: first, to: last, in: db)))
        }
    }

    func listAvailableBadges(
        _ request: GTSD.ListAvailableBadges, from caller: Caller
    ) async throws -> APIResponse<GTSD.AvailableBadges> {
        let badges = try await database.read(from: .replica) { try Badges.list("user_id = \(caller.user)", in: $0) }
        let awards = Dictionary(badges.map { ($0.badgeType.rawValue, $0.awardedAt) }) { first, _ in first }
        return APIResponse(
            .init(
                badges: Badge.allCases.map { badge in
                    .init(
                        badgeType: .init(rawValue: badge.rawValue), name: badge.name, description: badge.description,
                        earned: awards[badge.rawValue] != nil, awardedAt: awards[badge.rawValue])
                }))
    }
}

enum Streaks {
    static func one(of person: Person, _ streak: Streak, in db: Session) throws -> GTSD.Streak {
        let row: (Int64, GTSD.Timestamp, GTSD.Timestamp)? = try db.one(
            "SELECT id, created_at, updated_at FROM streaks WHERE user_id = \(person.id)"
        ) { (try $0.get(0), try $0.get(1), try $0.get(2)) }
        guard let (id, createdAt, updatedAt) = row else { throw Users.gone }
        return .init(
            id: .init(number: id), userId: .init(person.id), currentStreak: streak.current,
            longestStreak: streak.longest, totalCompliantDays: streak.total,
            lastCompliantDate: streak.last, createdAt: createdAt, updatedAt: updatedAt)
    }

    /// Returns every day of a range, including days without tasks.
    static func history(
        of person: Person, from first: Day, to last: Day, in db: Session
    ) throws -> [GTSD.HistoryDay] {
        let counts = try Tasks.counts(from: first, to: last, of: person, in: db)
        let credited: Set<Day> = Set(
            try db.all(
                "SELECT day FROM credits WHERE user_id = \(person.id) AND day BETWEEN \(first) AND \(last)"
            ) { try $0.get(0) })
        return (first...max(first, last)).map { day in
            let tasks = counts(day)
            return .init(
                date: day, totalTasks: tasks.total, completedTasks: tasks.completed,
                isCompliant: tasks.isCompliant, credited: credited.contains(day))
        }
    }
}

enum Badges {
    static func list(_ condition: SQL, in db: Session) throws -> [GTSD.Badge] {
        try db.all("SELECT id, user_id, type, awarded_at FROM badges WHERE \(condition)", GTSD.Badge.init(row:))
    }

    /// Returns the badges that no compliance check has returned yet, the oldest first, and marks them as announced.
    static func takeUnannounced(of user: UserID, in db: Session) throws -> [GTSD.Badge] {
        let badges = try list("user_id = \(user) AND is_announced = 0 ORDER BY awarded_at, id", in: db)
        if !badges.isEmpty {
            try db.run("UPDATE badges SET is_announced = 1 WHERE user_id = \(user) AND is_announced = 0")
        }
        return badges
    }
}

extension GTSD.Badge {
    fileprivate init(row: borrowing Row) throws {
        self.init(
            id: .init(number: try row.get(0)), userId: .init(number: try row.get(1)), badgeType: try row.get(2),
            awardedAt: try row.get(3))
    }
}
