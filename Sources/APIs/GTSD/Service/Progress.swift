import Contract
import Database
import GTSDAPI

/// Updates a user's streak and badges after a change of one of their days. The caller has locked the user's row, so
/// that nothing changes in the meantime.
struct Progress: Sendable {
    /// Whether this change made today count.
    let isCreditNew: Bool
    let streak: Streak

    /// Credits today when it has become compliant, and awards the badges that have been earned.
    ///
    /// - Parameters:
    ///   - doer: The user when it happened, if that was not now: that day is the one that is credited.
    ///   - day: The day whose tasks were changed. Only today is ever credited, and only by a change of today's tasks.
    static func update(
        _ person: Person, asOf doer: Person? = nil, after day: Day, at now: Int64, in db: Session
    ) throws -> Progress {
        let doer = doer ?? person
        let isCreditNew = try day == doer.today && credit(doer, isOver: doer.today < person.today, at: now, in: db)
        let streak = try award(doer, after: day, at: now, in: db)
        return Progress(
            isCreditNew: isCreditNew, streak: doer.today == person.today ? streak : try Self.streak(of: person, in: db))
    }

    static func streak(of person: Person, in db: Session) throws -> Streak {
        Streak(
            of: try creditedDays(of: person.id, in: db), skipping: try skippedDays(of: person.id, in: db),
            today: person.today)
    }

    /// Returns the days that the user's calendar left out.
    private static func skippedDays(of user: UserID, in db: Session) throws -> Set<Day> {
        Set(try db.all("SELECT day FROM skipped_days WHERE user_id = \(user)") { try $0.get(0) })
    }

    /// Returns the credited days in ascending order.
    static func creditedDays(of user: UserID, in db: Session) throws -> [Day] {
        try db.all("SELECT day FROM credits WHERE user_id = \(user) ORDER BY day") { try $0.get(0) }
    }

    static func isCredited(_ day: Day, of user: UserID, in db: Session) throws -> Bool {
        try db.exists("SELECT 1 FROM credits WHERE user_id = \(user) AND day = \(day)")
    }

    /// Credits today when it is compliant, and returns whether it was not before. It also records whether the day is
    /// perfect.
    ///
    /// - Parameter isOver: Whether the person's today is a day before the present one, for which only what was completed
    ///   by its end counts.
    private static func credit(_ person: Person, isOver: Bool, at now: Int64, in db: Session) throws -> Bool {
        let counts =
            try isOver
            ? Tasks.countsAtItsEnd(of: person.today, of: person, in: db)
            : Tasks.counts(on: person.today, of: person, in: db)
        guard counts.isCompliant else { return false }
        let isPerfect = counts.isPerfect
        let isNew =
            try db.run(
                """
                INSERT INTO credits (user_id, day, is_perfect) VALUES (\(person.id), \(person.today), \(isPerfect))
                ON CONFLICT (user_id, day) DO NOTHING
                """) == 1
        if isNew {
            try touch(person, at: now, in: db)
        } else {
            try db.run(
                """
                UPDATE credits SET is_perfect = \(isPerfect) WHERE user_id = \(person.id) AND day = \(person.today)
                """)
        }
        return isNew
    }

    /// Withdraws today's credit if today is no longer compliant.
    static func withdraw(_ person: Person, at now: Int64, in db: Session) throws {
        if try Tasks.counts(on: person.today, of: person, in: db).isCompliant {
            try db.run("UPDATE credits SET is_perfect = 0 WHERE user_id = \(person.id) AND day = \(person.today)")
            return
        }
        let withdrawn = try db.run("DELETE FROM credits WHERE user_id = \(person.id) AND day = \(person.today)")
        if withdrawn > 0 { try touch(person, at: now, in: db) }
    }

    private static func touch(_ person: Person, at now: Int64, in db: Session) throws {
        try db.run("UPDATE streaks SET updated_at = \(now) WHERE user_id = \(person.id)")
    }

    /// Awards every badge that has been earned and was not awarded before.
    @discardableResult
    static func award(_ person: Person, after day: Day, at now: Int64, in db: Session) throws -> Streak {
        let days = try creditedDays(of: person.id, in: db)
        let skipped = try skippedDays(of: person.id, in: db)
        let streak = Streak(of: days, skipping: skipped, today: person.today)
        let held: Set<String> = Set(
            try db.all("SELECT type FROM badges WHERE user_id = \(person.id)") { try $0.get(0) })
        let known = try facts(of: person, credited: days, skipped, streak, after: day, in: db)
        for badge in try Badge.allCases.filter({ try !held.contains($0.rawValue) && known.earn($0) }) {
            try db.run(
                """
                INSERT INTO badges (user_id, type, awarded_at) VALUES (\(person.id), \(badge.rawValue), \(now))
                ON CONFLICT (user_id, type) DO NOTHING
                """)
        }
        return streak
    }

    private static func facts(
        of person: Person, credited days: [Day], _ skipped: Set<Day>, _ streak: Streak, after acted: Day,
        in db: Session
    ) throws -> BadgeFacts {
        let (user, today) = (person.id, person.today)
        func dueDays(_ length: Int, _ condition: SQL) throws -> Set<Day> {
            Set(
                try db.all(
                    """
                    SELECT DISTINCT day FROM tasks
                    WHERE user_id = \(user) AND day BETWEEN \(today.advanced(by: 1 - length)) AND \(today)
                        AND completed_day = day AND \(condition)
                    """
                ) { try $0.get(0) })
        }
        func count(_ sql: SQL) throws -> Int { try db.value(sql) ?? 0 }
        return BadgeFacts(
            today: today, streak: streak, creditedDays: days,
            perfectDays: try count("SELECT COUNT(*) FROM credits WHERE user_id = \(user) AND is_perfect = 1"),
            skippedDays: skipped,
            earlyDays: { try dueDays(7, "completed_minute < 540") },
            lateDays: { try dueDays(7, "completed_minute >= 1200") },
            cardioDays: { try dueDays(14, "type = 'cardio'") },
            typesToday: {
                try count(
                    """
                    SELECT COUNT(DISTINCT type) FROM tasks
                    WHERE user_id = \(user) AND day = \(today) AND completed_day = day
                    """)
            },
            strengthDays: {
                // A run of 21 sessions takes 7 weeks. A run that is complete now includes the day that was changed.
                Set(
                    try db.all(
                        """
                        SELECT DISTINCT day FROM tasks
                        WHERE user_id = \(user)
                            AND day BETWEEN \(acted.advanced(by: -49)) AND \(acted.advanced(by: 49))
                            AND type = 'strength' AND completed_at IS NOT NULL
                        """
                    ) { try $0.get(0) })
            },
            photoWeeks: {
                let week = Week.start(of: today)
                return Set(
                    try db.all(
                        """
                        SELECT week FROM photo_weeks
                        WHERE user_id = \(user) AND week BETWEEN \(week.advanced(by: -21)) AND \(week)
                        """
                    ) { try $0.get(0) })
            },
            metrics: { try count("SELECT COUNT(*) FROM evidence WHERE user_id = \(user) AND type = 'metrics'") })
    }
}
