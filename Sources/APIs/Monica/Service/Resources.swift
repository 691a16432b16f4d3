import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

/// A resource as the database has it.
protocol Stored: Monica.Resource {
    static var table: SQL { get }
    /// Loads records of the reader's account, in the order of the ids; those that it does not have are left out.
    static func load(_ ids: [Int], by reader: Reader) throws -> [Self]
}

/// A stored resource of which there is a list for each contact.
protocol StoredList: Stored, Monica.Listed {
    /// Of a row `t`.
    static func order(by sort: Monica.Sort<By>?) -> SQL
    /// Those of one contact, among rows `t`.
    static func restriction(to contact: Int) -> SQL
    /// Restricts rows `t` to those that no import under way has made; empty for what imports do not make.
    static func visible(to account: AccountID, in db: Session) throws -> SQL
}

extension Stored {
    static func one(_ id: Int, by reader: Reader) throws -> Self? { try load([id], by: reader).first }
}

extension StoredList {
    static func visible(to account: AccountID, in db: Session) throws -> SQL { "" }
}

extension SQL {
    /// A column in one direction, the id in the same; nulls last.
    ///
    /// - Parameter mayBeNull: Then no index helps.
    static func order(_ column: SQL, descending: Bool, mayBeNull: Bool = false) -> SQL {
        let direction: SQL = descending ? "DESC" : "ASC"
        let nulls: SQL = mayBeNull ? "(\(column) IS NULL), " : ""
        return "\(nulls)\(column) \(direction), t.id \(direction)"
    }
}

/// Which rows of a list a request asks for.
struct Window {
    let page: Int
    let limit: Int

    /// - Parameter most: The most when it is not said.
    init<By>(_ part: Monica.Part<By>, limit usual: Int) {
        page = part.page ?? 1
        limit = part.limit ?? usual
    }

    /// How many rows go before; nil when the list ends before that.
    func offset(in total: Int) -> Int? {
        let last = PaginationMeta.lastPage(of: total, limit: limit)
        return page <= last ? (page - 1) * limit : nil
    }

    /// - Parameter filters: Of the request, as they go into links.
    func response<Item>(
        _ rows: [Item], total: Int, path: String, filters: [(name: String, value: String?)], query: String? = nil
    ) -> APIResponse<[Item]> {
        let filters = filters.compactMap { filter in filter.value.map { (name: filter.name, value: $0) } }
        return APIResponse(
            data: rows,
            meta: PaginationMeta(total: total, page: page, limit: limit, rows: rows.count, query: query),
            links: PaginationLinks(
                path: path, filters: filters, page: page, limit: limit,
                last: PaginationMeta.lastPage(of: total, limit: limit)))
    }
}

extension MonicaService {
    /// The reads that activities, notes, tasks and gifts have in common.
    func lists<Item: StoredList>(_ routes: inout Routes<Monica, Caller>, of _: Item.Type) {
        routes.on { (request: Monica.List<Item>, caller: Caller) in
            try await page(
                of: request.contact, request.part, path: "/" + Item.plural,
                filters: [("contact_id", request.contact.map { String($0) })], for: caller, mustExist: false)
        }
        routes.on { (request: Monica.ListOfContact<Item>, caller: Caller) in
            try await page(
                of: request.contact, request.part, path: "/contacts/\(request.contact)/" + Item.plural, filters: [],
                for: caller, mustExist: true)
        }
        routes.on { (request: Monica.Get<Item>, caller: Caller) in
            try await one(request.id, for: caller)
        }
    }

    func one<Item: Stored>(_ id: Int, for caller: Caller) async throws -> APIResponse<Item> {
        try await database.read { db in
            guard let item = try Item.one(id, by: reader(caller.account, db)) else {
                throw Monica.Refusal.notFound(Item.singular)
            }
            return APIResponse(data: item)
        }
    }

    private func page<Item: StoredList>(
        of contact: Int?, _ part: Monica.Part<Item.By>, path: String, filters: [(name: String, value: String?)],
        for caller: Caller, mustExist: Bool
    ) async throws -> APIResponse<[Item]> {
        let window = Window(part, limit: Monica.List<Item>.defaultLimit)
        let filters = filters + [("sort", part.sort?.rawValue)]
        return try await database.read { db in
            if mustExist, let contact, try !Contacts.exists(contact, of: caller.account, in: db) {
                throw Monica.Refusal.notFound(Monica.Contact.singular)
            }
            let restriction: SQL = contact.map { "AND \(Item.restriction(to: $0))" } ?? ""
            let visible = try Item.visible(to: caller.account, in: db)
            let rows: SQL = "FROM \(Item.table) t WHERE t.account_id = \(caller.account) \(restriction) \(visible)"
            let total = try db.value("SELECT COUNT(*) \(rows)", as: Int.self) ?? 0
            var ids: [Int] = []
            if let offset = window.offset(in: total) {
                ids = try db.all(
                    "SELECT t.id \(rows) ORDER BY \(Item.order(by: part.sort)) LIMIT \(window.limit) OFFSET \(offset)"
                ) { try $0.get(0) }
            }
            let items = try Item.load(ids, by: reader(caller.account, db))
            return window.response(items, total: total, path: path, filters: filters)
        }
    }
}
