import Contract
import Database
import ObjectStore

/// The reports of one API, with what they keep of the things that they are about. Operators decide about them
/// (`concord reports`).
public enum ReportQueue<Table: PeopleTable> {
    /// The time in milliseconds for which a report is kept after what it is about, or one of the two accounts, is deleted.
    private static var lifetime: Int64 { 90 * 24 * 3_600_000 }

    /// The statements that create the tables, for a step of an API's schema.
    ///
    /// - Parameter ids: The type of the ids of accounts: `BIGINT` or `{KEY}`.
    public static func tables(ids: String) -> [String] {
        [
            // The person is the author, or who was reported. An account that is deleted is null, and nothing of it stays
            // but the copy of its texts.
            """
            CREATE TABLE filed_reports (
                id {ID}, reporter_id \(ids), person_id \(ids), kind {KEY} NOT NULL, thing_id {KEY} NOT NULL, place TEXT,
                content TEXT, reason TEXT NOT NULL, details TEXT, created_at BIGINT NOT NULL,
                state TEXT NOT NULL DEFAULT 'open', closed_at BIGINT, closed_by TEXT, acts TEXT, closing_reason TEXT,
                ends_at BIGINT)
            """,
            "CREATE INDEX filed_reports_open ON filed_reports (created_at, id) WHERE state = 'open'",
            "CREATE INDEX filed_reports_of_thing ON filed_reports (kind, thing_id)",
            "CREATE INDEX filed_reports_by ON filed_reports (reporter_id)",
            "CREATE INDEX filed_reports_about ON filed_reports (person_id)",
            "CREATE INDEX filed_reports_age ON filed_reports (ends_at)",
            """
            CREATE TABLE report_files (
                id {ID}, report_id BIGINT NOT NULL REFERENCES filed_reports (id) ON DELETE CASCADE,
                object_key {KEY} NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, size BIGINT,
                UNIQUE (report_id, object_key))
            """,
            "CREATE INDEX report_files_by_key ON report_files (object_key)",
            """
            CREATE TABLE report_notes (
                id {ID}, report_id BIGINT NOT NULL REFERENCES filed_reports (id) ON DELETE CASCADE,
                created_at BIGINT NOT NULL, author TEXT NOT NULL, text TEXT NOT NULL)
            """,
            "CREATE INDEX report_notes_of_report ON report_notes (report_id)",
        ] + ReportNotice.table
    }

    /// The times of the tables.
    public static var times: [StoredTime] {
        [
            StoredTime("filed_reports", "created_at"), StoredTime("filed_reports", "ends_at", window: lifetime),
            StoredTime("report_notices", "told_at"),
        ]
    }

    /// The reports that a person has made, for their archive.
    public static var archived: ArchivedRows {
        ArchivedRows(
            "filed_reports", as: "reports", of: "reporter_id", by: .integer("id"),
            [
                "id": .integer, "kind": .text, "thing_id": .text, "reason": .text, "details": .text,
                "created_at": .time,
            ],
            without: [
                "person_id", "place", "content", "state", "closed_at", "closed_by", "acts", "closing_reason", "ends_at",
                "flagged_word",
            ])
    }

    // MARK: What people do

    /// Adds a report. What it is about, and the files of the copy, are locked, so that neither is deleted meanwhile.
    ///
    /// - Parameter person: The author of the thing, or the person who is reported.
    /// - Returns: The report's id.
    @discardableResult
    public static func file(
        _ copy: ReportedCopy, about person: Table.ID, by reporter: Table.ID, because reason: String, details: String?,
        at now: Int64, in db: Session
    ) throws -> Int64 {
        try insert(copy, about: person, by: reporter, because: reason, details: details, at: now, in: db)
    }

    /// - Parameters:
    ///   - reporter: Who reports it; nil for the server.
    ///   - word: The word because of which the server reports it.
    static func insert(
        _ copy: ReportedCopy, about person: Table.ID, by reporter: Table.ID?, because reason: String,
        details: String? = nil, flaggedWord word: String? = nil, at now: Int64, in db: Session
    ) throws -> Int64 {
        let id: Int? = try db.insert(
            """
            INSERT INTO filed_reports (
                reporter_id, person_id, kind, thing_id, place, content, reason, details, flagged_word,
                created_at)
            VALUES (\(reporter), \(person), \(copy.thing.kind), \(copy.thing.id), \(copy.thing.place), \(copy.text),
                \(reason), \(details), \(word), \(now))
            """)
        guard let id = id.map(Int64.init) else { throw DatabaseFailure.failed("an insert returned no id") }
        for file in copy.files {
            try db.run(
                """
                INSERT INTO report_files (report_id, object_key, name, type, size)
                VALUES (\(id), \(file.key), \(file.name), \(file.type), \(file.size))
                """)
        }
        return id
    }

    /// Returns whether a person has reported a thing before. A lock of the reporter's row makes sure that it stays true.
    public static func hasReported(_ thing: WrittenThing, by reporter: Table.ID, in db: Session) throws -> Bool {
        try db.exists(
            """
            SELECT 1 FROM filed_reports
            WHERE kind = \(thing.kind) AND thing_id = \(thing.id) AND reporter_id = \(reporter)
            """)
    }

    /// Counts the reports that a person has made, and those about the person or what the person wrote.
    static func count(of person: Table.ID, in db: Session) throws -> PersonRecord.Reports {
        func count(_ column: SQL) throws -> Int {
            try db.value("SELECT COUNT(*) FROM filed_reports WHERE \(column) = \(person)") ?? 0
        }
        return .init(by: try count("reporter_id"), about: try count("person_id"))
    }

    // MARK: What is deleted

    /// Starts the time after which the reports about things that are deleted are removed.
    public static func end(_ kind: ReportedKind, _ ids: [String], at now: Int64, in db: Session) throws {
        if !ids.isEmpty { try end(kind, "\(list: ids)", at: now, in: db) }
    }

    /// Does the same for the things whose ids a query returns as texts.
    public static func end(_ kind: ReportedKind, _ ids: SQL, at now: Int64, in db: Session) throws {
        try db.run(
            """
            UPDATE filed_reports SET ends_at = \(now + lifetime)
            WHERE kind = \(kind) AND thing_id IN (\(ids)) AND ends_at IS NULL
            """)
    }

    /// Removes a person whose account is deleted from the reports that they made and from those about them. The copies of
    /// what they wrote stay; that of their profile does not.
    public static func forget(_ person: Table.ID, at now: Int64, in db: Session) throws {
        let profiles: SQL = "person_id = \(person) AND kind = \(ReportedKind.person)"
        try db.run("DELETE FROM report_files WHERE report_id IN (SELECT id FROM filed_reports WHERE \(profiles))")
        try db.run("UPDATE filed_reports SET content = NULL, thing_id = '' WHERE \(profiles)")
        for column in ["reporter_id", "person_id"] as [SQL] {
            try db.run(
                """
                UPDATE filed_reports SET \(column) = NULL, ends_at = COALESCE(ends_at, \(now + lifetime))
                WHERE \(column) = \(person)
                """)
        }
    }

    /// Removes reports that are over, and from the others those whose accounts a node of the version before has deleted.
    public static func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM filed_reports WHERE ends_at <= \(now)")
        let gone: [Table.ID] = try db.all(
            """
            SELECT named.person FROM (
                SELECT reporter_id AS person FROM filed_reports UNION SELECT person_id FROM filed_reports) named
            WHERE named.person IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM \(Table.table) WHERE id = named.person AND \(Table.isPresent))
            """
        ) { try $0.get(0) }
        for person in gone { try forget(person, at: now, in: db) }
    }

    // MARK: What operators do

    /// Returns the number of open reports, and the time of the oldest in milliseconds.
    static func open(in db: Session) throws -> (count: Int, oldest: Int64?) {
        try db.one("SELECT COUNT(*), MIN(created_at) FROM filed_reports WHERE state = 'open'") {
            (try $0.get(0), try $0.get(1))
        } ?? (0, nil)
    }

    /// Returns reports in the order of their times, the oldest first.
    ///
    /// - Parameter state: The state of all of them; nil for any.
    static func list(
        _ state: ReportState?, of api: String, limit: Int, at now: Int64, in db: Session
    ) throws -> [FiledReport] {
        let condition: SQL
        switch state {
        // The index of open reports is found by its own condition.
        case .open: condition = "state = 'open'"
        case .some(let state): condition = "state = \(state)"
        case nil: condition = "1 = 1"
        }
        return try read("\(condition) ORDER BY created_at, id LIMIT \(limit)", of: api, at: now, in: db)
    }

    static func one(_ id: Int64, of api: String, at now: Int64, in db: Session) throws -> FiledReport? {
        try read("id = \(id)", of: api, at: now, in: db).first
    }

    private static func read(
        _ rest: SQL, of api: String, at now: Int64, in db: Session
    ) throws -> [FiledReport] {
        let rows = try db.all(
            """
            SELECT \(FiledReport.Column.list) FROM filed_reports WHERE \(rest)
            """
        ) { row in
            (
                report: try FiledReport(row: row, of: api),
                reporter: try row.get(FiledReport.Column.reporter, as: Table.ID?.self),
                person: try row.get(FiledReport.Column.person, as: Table.ID?.self)
            )
        }
        var names: [Table.ID: String] = [:]
        let people = Array(Set(rows.flatMap { [$0.reporter, $0.person] }.compactMap(\.self)))
        for start in stride(from: 0, to: people.count, by: 500) {
            let part = Array(people[start..<min(start + 500, people.count)])
            for person in try PeopleSearch.list(part, of: api, in: Table.self, at: now, db) {
                if let id = Table.id(written: person.id) { names[id] = person.name }
            }
        }
        return try rows.map { report, reporter, person in
            var report = report
            report.reporter = reporter.map { .init(id: "\($0.rawValue)", name: names[$0]) }
            report.person = person.map { .init(id: "\($0.rawValue)", name: names[$0]) }
            report.files = try files(of: report.id, in: db)
            report.notes = try notes(of: report.id, in: db)
            return report
        }
    }

    private static func files(of report: Int64, in db: Session) throws -> [FiledReport.File] {
        try db.all("SELECT object_key, name, type, size FROM report_files WHERE report_id = \(report) ORDER BY id") {
            FiledReport.File(key: try $0.get(0), name: try $0.get(1), type: try $0.get(2), size: try $0.get(3))
        }
    }

    private static func notes(of report: Int64, in db: Session) throws -> [FiledReport.Note] {
        try db.all("SELECT created_at, author, text FROM report_notes WHERE report_id = \(report) ORDER BY id") {
            FiledReport.Note(at: .init(try $0.get(0)), author: try $0.get(1), text: try $0.get(2))
        }
    }

    /// Returns a person of a report; nil when the account was deleted.
    static func person(_ column: SQL, of report: Int64, in db: Session) throws -> Table.ID? {
        try db.value("SELECT \(column) FROM filed_reports WHERE id = \(report)", as: Table.ID?.self) ?? nil
    }

    static func state(of report: Int64, in db: Session) throws -> ReportState? {
        try db.value("SELECT state FROM filed_reports WHERE id = \(report)")
    }

    /// Returns the open reports about the same thing.
    static func open(aboutThingOf report: FiledReport, in db: Session) throws -> [Int64] {
        try db.all(
            """
            SELECT id FROM filed_reports
            WHERE kind = \(report.kind) AND thing_id = \(report.thing) AND state = 'open' ORDER BY id
            """
        ) { try $0.get(0) }
    }

    /// Closes a report that is open.
    ///
    /// - Returns: False for one that another operator has closed.
    static func close(
        _ report: Int64, by decision: ReportDecision, of actor: String, because reason: String, at now: Int64,
        in db: Session
    ) throws -> Bool {
        guard let state = ReportState.open.after(decision) else { return false }
        let acts = decision.acts.map(\.rawValue).joined(separator: " ")
        // The condition is what decides between two operators at the same time.
        return try db.run(
            """
            UPDATE filed_reports SET state = \(state), closed_at = \(now), closed_by = \(actor), acts = \(acts),
                closing_reason = \(reason)
            WHERE id = \(report) AND state = 'open'
            """) == 1
    }

    static func add(_ note: String, to report: Int64, by author: String, at now: Int64, in db: Session) throws {
        try db.run(
            """
            INSERT INTO report_notes (report_id, created_at, author, text)
            VALUES (\(report), \(now), \(author), \(note))
            """)
    }
}

/// The files of reports in an API's database.
public enum ReportedFiles {
    /// The column with the stored objects' keys, for ``FileStoringService/storedFiles``.
    public static let column = StoredFileColumn("report_files", "object_key", newest: "id")

    /// Returns whether a report keeps a stored object.
    public static func keep(_ key: String, in db: Session) throws -> Bool {
        try db.exists("SELECT 1 FROM report_files WHERE object_key = \(key)")
    }

    /// Returns those of some stored objects that no report keeps. The others stay when their originals are deleted.
    public static func without(kept keys: [String], in database: Database) async throws -> [String] {
        guard !keys.isEmpty else { return [] }
        let kept = try await database.read { db in
            Set(
                try db.all("SELECT object_key FROM report_files WHERE object_key IN (\(list: keys))") {
                    try $0.get(0, as: String.self)
                })
        }
        return keys.filter { !kept.contains($0) }
    }
}
