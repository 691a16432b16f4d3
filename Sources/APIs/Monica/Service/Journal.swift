import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

extension MonicaService {
    func journal(_ routes: inout Routes<Monica, Caller>) {
        routes.on(use: listJournal)
        routes.on { (request: Monica.Get<Monica.JournalEntry>, caller: Caller) in
            try await self.one(request.id, for: caller)
        }
        routes.on(answering: createJournalEntry)
        routes.on(use: updateJournalEntry)
        routes.on(use: deleteJournalEntry)
    }

    func listJournal(
        _ request: Monica.ListJournal, from caller: Caller
    ) async throws -> APIResponse<[Monica.JournalEntry]> {
        let (sort, window) = (request.part.sort, Window(request.part, limit: Monica.ListJournal.defaultLimit))
        let column: SQL = sort?.order == .updatedAt ? "t.updated_at" : "t.created_at"
        return try await database.read(from: .replica) { [loader = loader(of: caller.account)] db in
            let (ids, total) = try window.ids(
                "FROM journal t WHERE t.account_id = \(caller.account)",
                by: .order(column, descending: sort?.isDescending ?? false), in: db)
            let entries = try Monica.JournalEntry.load(ids, by: loader(db))
            return window.response(entries, total: total, path: "/journal", filters: [("sort", sort?.rawValue)])
        }
    }

    func createJournalEntry(
        _ request: Monica.Create<Monica.JournalEntry>, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<Monica.JournalEntry>> {
        try await create(request, for: caller, info) { [makeID] loader, form, now in
            let fields = try JournalFields(form)
            try Accounts.lockCaller(loader.account, in: loader.db)
            return try fields.insert(uuid: makeID(), by: loader, at: now)
                .flatMap { try Monica.JournalEntry.one($0, by: loader) }
        }
    }

    func updateJournalEntry(
        _ request: Monica.Update<Monica.JournalEntry>, from caller: Caller
    ) async throws -> APIResponse<Monica.JournalEntry> {
        try await update(Monica.JournalEntry.self, for: caller) { loader, now in
            guard let entry = try Monica.JournalEntry.one(request.id, by: loader) else { return nil }
            let fields = try JournalFields(request.form)
            try loader.db.run(
                """
                UPDATE journal SET day = \(fields.day ?? entry.day), title = \(fields.title), post = \(fields.post),
                    updated_at = \(now)
                WHERE id = \(request.id)
                """)
            return try Monica.JournalEntry.one(request.id, by: loader)
        }
    }

    func deleteJournalEntry(
        _ request: Monica.Delete<Monica.JournalEntry>, from caller: Caller
    ) async throws -> Monica.Deletion {
        try await database.write { db in
            let deleted = try db.run("DELETE FROM journal WHERE id = \(request.id) AND account_id = \(caller.account)")
            guard deleted > 0 else { throw Monica.Problems.notFound(Monica.JournalEntry.singular) }
            return .init(id: request.id)
        }
    }
}

struct JournalFields {
    let title: String
    let post: String
    let day: Day?

    init(_ form: Monica.Form) throws {
        var input = FormReader(form)
        let title = input.text("title", required: true)
        let post = input.text("post", required: true, upTo: Monica.textLength)
        day = input.day("date")
        try input.check()
        (self.title, self.post) = (title ?? "", post ?? "")
    }

    func insert(uuid: String, by loader: RecordLoader, at now: Int64) throws -> Int? {
        let day = try day ?? loader.reminderTime.get().day(at: now)
        return try loader.db.insert(
            """
            INSERT INTO journal (uuid, account_id, day, title, post, created_at, updated_at)
            VALUES (\(uuid), \(loader.account), \(day), \(title), \(post), \(now), \(now))
            """)
    }
}

extension Monica.JournalEntry: Stored {
    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self] {
        try loader.inBatches(ids) { batch in
            try loader.db.all(
                """
                SELECT \(JournalColumn.list) FROM journal
                WHERE id IN (\(list: batch)) AND account_id = \(loader.account)
                """
            ) { row in
                let id: Int = try row.get(JournalColumn.id)
                return Self(
                    id: id, uuid: try row.get(JournalColumn.uuid), day: try row.get(JournalColumn.day),
                    title: try row.get(JournalColumn.title), post: try row.get(JournalColumn.post),
                    url: "\(loader.baseURL)/journal/\(id)", account: loader.account.number,
                    createdAt: try row.get(JournalColumn.createdAt), updatedAt: try row.get(JournalColumn.updatedAt))
            }
        } id: {
            $0.id
        }
    }
}

private enum JournalColumn: String, Columns {
    case id, uuid, day, title, post
    case createdAt = "created_at"
    case updatedAt = "updated_at"

    static let list = ColumnList(Self.self)
}
