import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

/// A resource of an account that is read by its id.
protocol Stored: Monica.Resource {
    /// Loads records of the loader's account in the order of the ids, without those that the account does not have.
    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self]
}

/// A resource of which an account has one short list, such as a type of others.
protocol AccountList: Stored {
    static func all(by loader: RecordLoader) throws -> [Self]
}

/// A stored resource that is listed for each contact, too.
protocol StoredList: Stored, Monica.Listed {
    static var table: SQL { get }
    /// Returns the ORDER BY terms for rows `t`.
    static func order(by sort: Monica.Sort<By>?) -> ListOrder
    /// Returns the condition that restricts rows `t` to those of an account.
    static func owned(by account: AccountID) -> SQL
    /// Returns the condition that restricts rows `t` to those of one contact.
    static func restriction(to contact: Int) -> SQL
    /// Returns the condition that hides rows `t` of an import in progress; empty for resources that imports do not
    /// create.
    static func visible(to account: AccountID, in db: Session) throws -> SQL
}

extension Stored {
    static func one(_ id: Int, by loader: RecordLoader) throws -> Self? { try load([id], by: loader).first }
}

extension AccountList {
    static func byID(_ loader: RecordLoader) throws -> [Int: Self] {
        Dictionary(uniqueKeysWithValues: try all(by: loader).map { ($0.id, $0) })
    }

    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self] {
        let all = try byID(loader)
        return ids.compactMap { all[$0] }
    }
}

extension StoredList {
    static func owned(by account: AccountID) -> SQL { "t.account_id = \(account)" }
    static func visible(to account: AccountID, in db: Session) throws -> SQL { "" }
}

/// The order of the rows `t` of a list, in which no two are equal.
struct ListOrder {
    /// The terms of an `ORDER BY`.
    let forward: SQL
    /// The terms of the opposite order.
    let backward: SQL

    /// Returns the order of the ids, which is that of creation.
    static func ids(descending: Bool) -> Self {
        let (up, down): (SQL, SQL) = ("t.id", "t.id DESC")
        return descending ? Self(forward: down, backward: up) : Self(forward: up, backward: down)
    }

    /// Returns the order of a column and the id in the same direction, with nulls last.
    ///
    /// - Parameter mayBeNull: Whether the column has nulls; an index cannot be used then.
    static func order(_ column: SQL, descending: Bool, mayBeNull: Bool = false) -> Self {
        let (up, down): (SQL, SQL) = ("\(column) ASC, t.id ASC", "\(column) DESC, t.id DESC")
        let (forward, backward) = descending ? (down, up) : (up, down)
        guard mayBeNull else { return Self(forward: forward, backward: backward) }
        return Self(
            forward: "(\(column) IS NULL), \(forward)", backward: "(\(column) IS NULL) DESC, \(backward)")
    }
}

/// The page of a list that a request asks for.
struct Window {
    let page: Int
    let limit: Int

    /// - Parameter usual: The limit of a request that does not give one.
    init<By>(_ part: Monica.Part<By>, limit usual: Int) {
        page = part.page ?? 1
        limit = part.limit ?? usual
    }

    /// Returns the number of rows before the page; nil when the list ends before it.
    func offset(in total: Int) -> Int? {
        let last = PaginationMeta.lastPage(of: total, limit: limit)
        return page <= last ? (page - 1) * limit : nil
    }

    /// Returns the ids of the page, and the number of rows in the whole list.
    ///
    /// - Parameters:
    ///   - rows: The rows `t` of the list: `FROM … WHERE …`.
    ///   - total: The number of the rows, if it is known.
    func ids(
        _ rows: SQL, of total: Int? = nil, by order: ListOrder, in db: Session
    ) throws -> (ids: [Int], total: Int) {
        let total = try total ?? db.value("SELECT COUNT(*) \(rows)", as: Int.self) ?? 0
        guard let offset = offset(in: total) else { return ([], total) }
        let count = min(limit, total - offset)
        let behind = total - offset - count
        // A database reads the rows before a page, too, so a page of the second half is read from the end.
        let ids: [Int] =
            offset <= behind
            ? try db.all("SELECT t.id \(rows) ORDER BY \(order.forward) LIMIT \(count) OFFSET \(offset)") {
                try $0.get(0)
            }
            : try db.all("SELECT t.id \(rows) ORDER BY \(order.backward) LIMIT \(count) OFFSET \(behind)") {
                try $0.get(0)
            }.reversed()
        return (ids, total)
    }

    /// Makes the answer of a page.
    ///
    /// - Parameter filters: The request's filters, which go into the links.
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
    /// Adds the read operations that activities, notes, tasks and gifts have in common.
    ///
    /// - Parameter isNested: Whether there is a list under the contact's path, too.
    func lists<Item: StoredList>(
        _ routes: inout Routes<Monica, Caller>, of _: Item.Type, isNested: Bool = true
    ) {
        routes.on { (request: Monica.List<Item>, caller: Caller) in
            try await self.page(
                of: request.contact, request.part, path: "/" + Item.plural,
                filters: [("contact_id", request.contact.map { String($0) })], for: caller, mustExist: false)
        }
        routes.on { (request: Monica.Get<Item>, caller: Caller) in
            try await self.one(request.id, for: caller)
        }
        guard isNested else { return }
        routes.on { (request: Monica.ListOfContact<Item>, caller: Caller) in
            try await self.page(
                of: request.contact, request.part, path: "/contacts/\(request.contact)/" + Item.plural, filters: [],
                for: caller, mustExist: true)
        }
    }

    func one<Item: Stored>(_ id: Int, for caller: Caller) async throws -> APIResponse<Item> {
        try await database.read(from: .replica) { [loader = loader(of: caller.account)] db in
            guard let item = try Item.one(id, by: loader(db)) else {
                throw Monica.Problems.notFound(Item.singular)
            }
            return APIResponse(data: item)
        }
    }

    /// Returns an account's list as the only page.
    func all<Item: AccountList>(for caller: Caller) async throws -> APIResponse<[Item]> {
        try await database.read(from: .replica) { [loader = loader(of: caller.account)] db in
            APIResponse(whole: try Item.all(by: loader(db)), path: "/" + Item.plural)
        }
    }

    private func page<Item: StoredList>(
        of contact: Int?, _ part: Monica.Part<Item.By>, path: String, filters: [(name: String, value: String?)],
        for caller: Caller, mustExist: Bool
    ) async throws -> APIResponse<[Item]> {
        let window = Window(part, limit: Monica.List<Item>.defaultLimit)
        let filters = filters + [("sort", part.sort?.rawValue)]
        return try await database.read(from: .replica) { [loader = loader(of: caller.account)] db in
            if mustExist, let contact, try !Contacts.exists(contact, of: caller.account, in: db) {
                throw Monica.Problems.notFound(Monica.Contact.singular)
            }
            let restriction: SQL = contact.map { "AND \(Item.restriction(to: $0))" } ?? ""
            let visible = try Item.visible(to: caller.account, in: db)
            let rows: SQL = "FROM \(Item.table) t WHERE \(Item.owned(by: caller.account)) \(restriction) \(visible)"
            let (ids, total) = try window.ids(rows, by: Item.order(by: part.sort), in: db)
            let items = try Item.load(ids, by: loader(db))
            return window.response(items, total: total, path: path, filters: filters)
        }
    }
}
