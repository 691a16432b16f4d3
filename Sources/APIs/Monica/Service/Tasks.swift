import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

extension MonicaService {
    func tasks(_ routes: inout Routes<Monica, Caller>) {
        routes.on(answering: createTask)
        routes.on(use: updateTask)
        routes.on { (request: Monica.Delete<Monica.Task>, caller: Caller) in
            try await self.delete(Monica.Task.self, request.id, for: caller)
        }
    }

    func createTask(
        _ request: Monica.Create<Monica.Task>, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<Monica.Task>> {
        try await create(request, for: caller, info) { [makeID] loader, form, now in
            let fields = try TaskFields(form, isNew: true)
            try Accounts.lockCaller(loader.account, in: loader.db)
            if let contact = fields.contact, try !Contacts.exists(contact, of: loader.account, in: loader.db) {
                throw Monica.Problems.notFound(Monica.Contact.singular)
            }
            return try fields.insert(uuid: makeID(), by: loader, at: now).flatMap {
                try Monica.Task.one($0, by: loader)
            }
        }
    }

    func updateTask(
        _ request: Monica.Update<Monica.Task>, from caller: Caller
    ) async throws -> APIResponse<Monica.Task> {
        try await update(Monica.Task.self, for: caller) { loader, now in
            guard try Monica.Task.one(request.id, by: loader) != nil else { return nil }
            let fields = try TaskFields(request.form, isNew: false)
            try Accounts.lockCaller(loader.account, in: loader.db)
            guard let task = try Monica.Task.one(request.id, by: loader) else { return nil }
            if let contact = fields.contact, contact != task.contactID {
                throw Monica.Problems.notFound(Monica.Contact.singular)
            }
            let completedAt = fields.isCompleted ? task.completedAt?.milliseconds ?? now : nil
            try loader.db.run(
                """
                UPDATE tasks SET title = \(fields.title), description = \(fields.description),
                    completed = \(fields.isCompleted), completed_at = \(completedAt), updated_at = \(now)
                WHERE id = \(request.id)
                """)
            return try Monica.Task.one(request.id, by: loader)
        }
    }
}

struct TaskFields {
    let title: String
    let description: String?
    let contact: Int?
    let isCompleted: Bool

    init(_ form: Monica.Form, isNew: Bool) throws {
        var input = FormReader(form)
        let title = input.text("title", required: true)
        description = input.text("description", upTo: Monica.textLength)
        isCompleted = isNew ? false : input.bool("completed", required: true) ?? false
        contact = input.integer("contact_id")
        try input.check()
        self.title = title ?? ""
    }

    /// - Parameter completedAt: The time of completion, if it is completed.
    func insert(uuid: String, completedAt: Int64? = nil, by loader: RecordLoader, at now: Int64) throws -> Int? {
        try loader.db.insert(
            """
            INSERT INTO tasks (
                uuid, account_id, contact_id, title, description, completed, completed_at, created_at, updated_at)
            VALUES (\(uuid), \(loader.account), \(contact), \(title), \(description), \(isCompleted),
                \(isCompleted ? completedAt ?? now : nil), \(now), \(now))
            """)
    }
}

extension Monica.Task: StoredList {
    static var table: SQL { "tasks" }

    static func order(by sort: Monica.Sort<Monica.TaskOrder>?) -> ListOrder {
        let isDescending = sort?.isDescending ?? false
        return switch sort?.order {
        case .createdAt: .order("t.created_at", descending: isDescending)
        case .updatedAt: .order("t.updated_at", descending: isDescending)
        case .completedAt: .order("t.completed_at", descending: isDescending, mayBeNull: true)
        case nil:
            ListOrder(
                forward: "t.completed, t.created_at, t.id",
                backward: "t.completed DESC, t.created_at DESC, t.id DESC")
        }
    }

    static func restriction(to contact: Int) -> SQL { "t.contact_id = \(contact)" }

    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self] {
        guard !ids.isEmpty else { return [] }
        var tasks = try loader.inBatches(ids) { batch in
            try loader.db.all(
                """
                SELECT \(TaskColumn.list) FROM tasks WHERE id IN (\(list: batch)) AND account_id = \(loader.account)
                """
            ) { row in
                Self(
                    id: try row.get(TaskColumn.id), uuid: try row.get(TaskColumn.uuid),
                    contactID: try row.get(TaskColumn.contact), title: try row.get(TaskColumn.title),
                    description: try row.get(TaskColumn.description), completedAt: try row.get(TaskColumn.completedAt),
                    account: loader.account.number,
                    createdAt: try row.get(TaskColumn.createdAt), updatedAt: try row.get(TaskColumn.updatedAt))
            }
        } id: {
            $0.id
        }
        let contacts = try loader.shortContacts(tasks.compactMap(\.contactID))
        for index in tasks.indices { tasks[index].contact = tasks[index].contactID.flatMap { contacts[$0] } }
        return tasks
    }
}

private enum TaskColumn: String, Columns {
    case id, uuid
    case contact = "contact_id"
    case title, description
    case completedAt = "completed_at"
    case createdAt = "created_at"
    case updatedAt = "updated_at"

    static let list = ColumnList(Self.self)
}
