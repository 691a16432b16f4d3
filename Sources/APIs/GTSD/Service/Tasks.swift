import Backend
import Contract
import ContractServer
import Database
import Foundation
import GTSDAPI
import HTTPTypes

extension GTSDService {
    func tasks(_ routes: inout Routes<GTSD, Caller>) {
        routes.on(use: listTasks)
        routes.on(answering: submitEvidence)
        routes.on(use: completeTask)
        routes.on(use: uncompleteTask)
    }

    func listTasks(_ request: GTSD.ListTasks, from caller: Caller) async throws -> APIResponse<GTSD.DayTasks> {
        let now = time.milliseconds()
        let asked = request.date.flatMap { Day($0) }
        @Sendable func query(_ person: Person) -> TaskCache.Query {
            .init(
                user: person.id, day: asked ?? person.today, limit: request.limit ?? 50, offset: request.offset ?? 0,
                type: request.type)
        }
        let found = try await database.read { [cache, people] db -> ListedTasks? in
            let person = try people.one(caller.user, at: now, in: db)
            let query = query(person)
            if let answer = cache.answer(to: query, version: person.version) {
                return ListedTasks(answer: answer, isCached: true)
            }
            guard try !person.hasTasks(on: query.day) || Tasks.exist(on: query.day, of: person.id, in: db) else {
                return nil
            }
            let answer = try Tasks.list(query, in: db)
            cache.store(answer, to: query, version: person.version)
            return ListedTasks(answer: answer, isCached: false)
        }
        if let found { return APIResponse(found.answer, cached: found.isCached) }
        let (person, answer) = try await database.write { [people] db in
            let person = try people.lock(caller.user, at: now, in: db)
            let query = query(person)
            if person.hasTasks(on: query.day) { try Tasks.make(on: query.day, of: person.id, in: db) }
            return (person, try Tasks.list(query, in: db))
        }
        cache.store(answer, to: query(person), version: person.version)
        return APIResponse(answer, cached: false)
    }

    private struct ListedTasks: Sendable {
        let answer: GTSD.DayTasks
        let isCached: Bool
    }

    func submitEvidence(
        _ request: GTSD.SubmitEvidence, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<GTSD.SubmittedEvidence>> {
        let now = time.milliseconds()
        let occurredAt = request.occurredAt.flatMap { GTSD.Timestamp($0)?.milliseconds }
        return try await database.write(info.idempotencyKey, errorMessages: GTSD.errorMessages, at: now) {
            [people] db in
            // A repeat has its answer already, however long ago the time is by now.
            if let occurredAt { try Self.requireRecent(occurredAt, at: now) }
            let person = try people.lockForChange(caller.user, at: now, in: db)
            let day = try Tasks.day(of: request.taskId, of: person.id, in: db)
            try Tasks.requireRoomForEvidence(of: request.taskId, in: db)
            let evidence = try Tasks.insert(request, of: person.id, at: now, occurredAt, in: db)
            let doer = occurredAt.map { person.at($0) } ?? person
            try Tasks.complete(request.taskId, by: doer, at: occurredAt ?? now, isReported: occurredAt != nil, in: db)
            let progress = try Progress.update(person, asOf: doer, after: day, at: now, in: db)
            return Answer(
                .created,
                APIResponse(
                    .init(
                        evidence: evidence, streakUpdated: progress.isCreditNew, newStreak: progress.streak.current)))
        }
    }

    /// The milliseconds by which a device's clock may be ahead.
    private static let clockTolerance: Int64 = 60_000

    private static func requireRecent(_ occurredAt: Int64, at now: Int64) throws {
        let hours = GTSD.SubmitEvidence.maximumAge
        guard occurredAt >= now - Int64(hours) * 3_600_000 else {
            throw GTSD.Validation.refusal(of: "occurredAt", "Evidence can be at most \(hours) hours old")
        }
        guard occurredAt <= now + clockTolerance else {
            throw GTSD.Validation.refusal(of: "occurredAt", "Evidence cannot be from the future")
        }
    }

    func completeTask(
        _ request: GTSD.CompleteTask, from caller: Caller
    ) async throws -> APIResponse<GTSD.ChangedTask> {
        let now = time.milliseconds()
        return try await database.write { [people] db in
            let person = try people.lockForChange(caller.user, at: now, in: db)
            let day = try Tasks.day(of: request.taskId, of: person.id, in: db)
            try Tasks.complete(request.taskId, by: person, at: now, in: db)
            let progress = try Progress.update(person, after: day, at: now, in: db)
            return APIResponse(
                .init(
                    task: try Tasks.one(request.taskId, in: db), streakUpdated: progress.isCreditNew,
                    newStreak: progress.streak.current))
        }
    }

    func uncompleteTask(
        _ request: GTSD.UncompleteTask, from caller: Caller
    ) async throws -> APIResponse<GTSD.ChangedTask> {
        let now = time.milliseconds()
        return try await database.write { [people] db in
            let person = try people.lockForChange(caller.user, at: now, in: db)
            let day = try Tasks.day(of: request.taskId, of: person.id, in: db)
            try Tasks.uncomplete(request.taskId, in: db)
            if day == person.today { try Progress.withdraw(person, at: now, in: db) }
            // `streakUpdated` says that this call credited today, which undoing a completion never does.
            return APIResponse(
                .init(
                    task: try Tasks.one(request.taskId, in: db), streakUpdated: false,
                    newStreak: try Progress.streak(of: person, in: db).current))
        }
    }
}

/// The numbers of completed tasks and of all tasks of a day.
struct DayCounts: Sendable {
    let completed: Int
    let total: Int

    var isCompliant: Bool { Compliance.holds(completed: completed, of: total) }
    var isPerfect: Bool { total > 0 && completed == total }
}

enum Tasks {
    static func exist(on day: Day, of user: UserID, in db: Session) throws -> Bool {
        try db.exists("SELECT 1 FROM tasks WHERE user_id = \(user) AND day = \(day)")
    }

    /// Creates a day's tasks that do not exist yet.
    static func make(on day: Day, of user: UserID, in db: Session) throws {
        let targets = try Plans.targets(in: Week.start(of: day), of: user, in: db)
        for item in TaskPlan.items(on: day, targets: targets) {
            try db.run(
                """
                INSERT INTO tasks (user_id, day, slot, type, title, description)
                VALUES (\(user), \(day), \(item.slot), \(item.type), \(item.title), \(item.description))
                ON CONFLICT (user_id, day, slot) DO NOTHING
                """)
        }
    }

    // MARK: Reading

    /// The columns of a task `t` with its latest evidence `e`, which ``GTSDAPI/GTSD/Task/init(row:)`` reads.
    fileprivate enum Column: String, Columns {
        case id = "t.id"
        case type = "t.type"
        case title = "t.title"
        case description = "t.description"
        case day = "t.day"
        case completedAt = "t.completed_at"
        case evidence = "e.id"
        case evidenceType = "e.type"
        case evidenceData = "e.data"
        case evidenceNotes = "e.notes"

        static let list = ColumnList(Self.self)
    }

    private static let columns: SQL = """
        \(Column.list) FROM tasks t
        LEFT JOIN evidence e ON e.id = (SELECT MAX(latest.id) FROM evidence latest WHERE latest.task_id = t.id)
        """

    static func list(_ query: TaskCache.Query, in db: Session) throws -> GTSD.DayTasks {
        let type: SQL = query.type.map { "AND t.type = \($0)" } ?? ""
        let which: SQL = "WHERE t.user_id = \(query.user) AND t.day = \(query.day) \(type)"
        let counts: (Int, Int)? = try db.one("SELECT COUNT(*), COUNT(t.completed_at) FROM tasks t \(which)") {
            (try $0.get(0), try $0.get(1))
        }
        let tasks = try db.all(
            "SELECT \(columns) \(which) ORDER BY t.id LIMIT \(query.limit) OFFSET \(query.offset)",
            GTSD.Task.init(row:))
        return .init(totalTasks: counts?.0 ?? 0, completedTasks: counts?.1 ?? 0, tasks: tasks)
    }

    static func one(_ id: GTSD.Task.ID, in db: Session) throws -> GTSD.Task {
        guard let task = try db.one("SELECT \(columns) WHERE t.id = \(id)", GTSD.Task.init(row:)) else {
            throw missing(id)
        }
        return task
    }

    static func missing(_ id: GTSD.Task.ID) -> Problem {
        Problem(.notFound, "Task \(id) not found or does not belong to user")
    }

    /// Returns the day on which a user's task is due.
    ///
    /// - Throws: A `Problem` with 404 for another user's task.
    static func day(of id: GTSD.Task.ID, of user: UserID, in db: Session) throws -> Day {
        let day: Day? = try db.value("SELECT day FROM tasks WHERE id = \(id) AND user_id = \(user)")
        guard let day else { throw missing(id) }
        return day
    }

    /// Returns the numbers of completed tasks and of all tasks of a day.
    static func counts(on day: Day, of person: Person, in db: Session) throws -> DayCounts {
        try counts(from: day, to: day, of: person, in: db)(day)
    }

    /// Returns the counts of a day with tasks as they were when the day ended.
    static func countsAtItsEnd(of day: Day, of person: Person, in db: Session) throws -> DayCounts {
        let completed: SQL = "SUM(CASE WHEN completed_day <= day THEN 1 ELSE 0 END)"
        let counts = try db.one(
            "SELECT \(completed), COUNT(*) FROM tasks WHERE user_id = \(person.id) AND day = \(day)"
        ) { DayCounts(completed: try $0.get(0, as: Int?.self) ?? 0, total: try $0.get(1)) }
        return counts ?? DayCounts(completed: 0, total: 0)
    }

    /// Returns the counts of each day of a range.
    ///
    /// The tasks of a day are stored when the day is first requested. They are counted before that, too, so that no
    /// answer depends on which request came first.
    static func counts(
        from first: Day, to last: Day, of person: Person, in db: Session
    ) throws -> (_ day: Day) -> DayCounts {
        let rows = try db.all(
            """
            SELECT day, COUNT(completed_at), COUNT(*) FROM tasks
            WHERE user_id = \(person.id) AND day BETWEEN \(first) AND \(last) GROUP BY day
            """
        ) { (day: try $0.get(0, as: Day.self), DayCounts(completed: try $0.get(1), total: try $0.get(2))) }
        let written = Dictionary(uniqueKeysWithValues: rows)
        return { day in
            written[day] ?? DayCounts(completed: 0, total: person.hasTasks(on: day) ? TaskPlan.count(on: day) : 0)
        }
    }

    // MARK: Writing

    static let maximumEvidence = 100

    /// Throws 409 when a task has the maximum number of evidence entries. The caller has locked the user's row.
    static func requireRoomForEvidence(of task: GTSD.Task.ID, in db: Session) throws {
        let count = try db.value("SELECT COUNT(*) FROM evidence WHERE task_id = \(task)", as: Int.self) ?? 0
        guard count < maximumEvidence else {
            throw Problem(.conflict, "Too many evidence entries for this task")
        }
    }

    static func insert(
        _ request: GTSD.SubmitEvidence, of user: UserID, at now: Int64, _ occurredAt: Int64?, in db: Session
    ) throws -> GTSD.Evidence {
        let notes = request.notes?.trimmed
        let kept = notes?.isEmpty == false ? notes : nil
        let data = request.data.normal
        let text = String(decoding: try JSONEncoder().encode(data), as: UTF8.self)
        let id: GTSD.Evidence.ID? = try db.insert(
            """
            INSERT INTO evidence (task_id, user_id, type, data, notes, created_at, occurred_at)
            VALUES (\(request.taskId), \(user), \(request.type), \(text), \(kept), \(now), \(occurredAt))
            """)
        guard let id else { throw DatabaseFailure.failed("an insert returned no id") }
        var evidence = GTSD.Evidence(
            id: id, taskId: request.taskId, type: request.type, data: data, notes: kept,
            createdAt: .init(milliseconds: now))
        evidence.occurredAt = occurredAt.map { .init(milliseconds: $0) }
        return evidence
    }

    /// Completes a task. A task that is complete already is not changed.
    ///
    /// - Parameter isReported: Whether the time is one that the device reports, which may be before a completion that
    ///   arrived earlier.
    static func complete(
        _ id: GTSD.Task.ID, by person: Person, at now: Int64, isReported: Bool = false, in db: Session
    ) throws {
        let isLater: SQL = isReported ? "OR completed_at > \(now)" : ""
        try db.run(
            """
            UPDATE tasks SET completed_at = \(now), completed_day = \(person.now.day),
                completed_minute = \(person.now.minute)
            WHERE id = \(id) AND (completed_at IS NULL \(isLater))
            """)
    }

    static func uncomplete(_ id: GTSD.Task.ID, in db: Session) throws {
        try db.run(
            """
            UPDATE tasks SET completed_at = NULL, completed_day = NULL, completed_minute = NULL WHERE id = \(id)
            """)
    }
}

extension GTSD.Task {
    fileprivate init(row: borrowing Row) throws {
        let completedAt: GTSD.Timestamp? = try row.get(Tasks.Column.completedAt)
        var evidence: GTSD.TaskEvidence?
        if !row.isNull(Tasks.Column.evidence) {
            let data: String = try row.get(Tasks.Column.evidenceData)
            evidence = .init(
                id: try row.get(Tasks.Column.evidence), type: try row.get(Tasks.Column.evidenceType),
                data: try JSONDecoder().decode(GTSD.EvidenceData.self, from: Data(data.utf8)),
                notes: try row.get(Tasks.Column.evidenceNotes))
        }
        self.init(
            id: try row.get(Tasks.Column.id), type: try row.get(Tasks.Column.type),
            title: try row.get(Tasks.Column.title), description: try row.get(Tasks.Column.description),
            dueDate: try row.get(Tasks.Column.day), completed: completedAt != nil, completedAt: completedAt,
            evidence: evidence)
    }
}
