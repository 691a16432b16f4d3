import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

/// A resource that is a contact's alone and stays with it.
protocol OfContact: StoredList {
    var contact: Monica.ShortContact? { get set }
}

/// A resource of a contact that can be changed: a contact field, an address, a call.
protocol ContactDetail: OfContact, Monica.Writable {
    associatedtype Fields: ContactDetailFields
    /// The name of several in error messages, such as `addresses`.
    static var names: String { get }
    /// The maximum number that a user may add to one contact, where each answer about the contact has all of them.
    static var maximumNumber: Int { get }
    /// Whether vCards have it.
    static var isInCards: Bool { get }
    /// Whether searches for contacts look at it.
    static var isSearched: Bool { get }
    /// The fields that a change may leave out, as they are.
    var kept: [String: JSONValue] { get }
    /// Deletes the rows of other tables that belong to a detail.
    static func deleteParts(of id: Int, in db: Session) throws
}

/// The fields with which a resource is created or replaced.
protocol WrittenFields: Sendable {
    /// Reads the fields from a form.
    ///
    /// - Throws: A `Problem` with 422 that names every invalid field.
    init(_ form: Monica.Form, by loader: RecordLoader) throws
    func insert(uuid: String, by loader: RecordLoader, at now: Int64) throws -> Int?
    func replace(_ id: Int, by loader: RecordLoader, at now: Int64) throws
}

/// The fields of a detail of a contact.
protocol ContactDetailFields: WrittenFields {
    var contact: Int { get }
}

extension ContactDetail {
    static var maximumNumber: Int { .max }
    static var isInCards: Bool { false }
    static var isSearched: Bool { false }
    var kept: [String: JSONValue] { [:] }
    static func deleteParts(of id: Int, in db: Session) throws {}
}

extension OfContact {
    static func owned(by account: AccountID) -> SQL {
        "t.contact_id IN (SELECT o.id FROM contacts o WHERE o.account_id = \(account))"
    }

    static func restriction(to contact: Int) -> SQL { "t.contact_id = \(contact)" }

    /// Details are hidden with their contacts.
    static func visible(to account: AccountID, in db: Session) throws -> SQL {
        try Imports.visible(byContactOf: account, in: db)
    }

    /// Loads details with their contacts.
    ///
    /// - Parameter make: Makes a detail, without its contact, from its id and the columns of its row `t`.
    static func load<Column: Columns>(
        _ ids: [Int], _: Column.Type, by loader: RecordLoader, _ make: (_ id: Int, borrowing Row) throws -> Self?
    ) throws -> [Self] {
        guard !ids.isEmpty else { return [] }
        let condition: SQL = "\(owned(by: loader.account)) \(try visible(to: loader.account, in: loader.db))"
        var contacts: [Int: Int] = [:]
        var details = try loader.inBatches(ids) { batch in
            try loader.db.all(
                """
                SELECT \(Column.list), t.id, t.contact_id FROM \(table) t
                WHERE t.id IN (\(list: batch)) AND \(condition)
                """
            ) { row -> Self? in
                let id: Int = try row.get(Column.list.count)
                contacts[id] = try row.get(Column.list.count + 1, as: Int.self)
                return try make(id, row)
            }.compactMap(\.self)
        } id: {
            $0.id
        }
        let short = try loader.shortContacts(Array(contacts.values))
        for index in details.indices { details[index].contact = contacts[details[index].id].flatMap { short[$0] } }
        return details
    }
}

extension ContactDetail {
    /// Marks the contact as changed, because a newer vCard must not undo what a user has written.
    fileprivate static func changed(of contact: Int, by loader: RecordLoader, at now: Int64) throws {
        if isInCards { try Contacts.touch(contact, at: now, in: loader.db) }
        if isSearched { try ContactSearch.update(contact, of: loader.account, in: loader.db) }
    }

    static func requireRoom(of contact: Int, in db: Session) throws {
        guard maximumNumber < .max else { return }
        let count: Int? = try db.value("SELECT COUNT(*) FROM \(table) WHERE contact_id = \(contact)")
        guard count ?? 0 < maximumNumber else {
            throw Monica.Problems.tooMany(names, limit: maximumNumber)
        }
    }
}

extension MonicaService {
    /// Adds every operation of a contact's details. Writes lock the account first, so that neither the contact nor a
    /// type of contact fields is deleted meanwhile.
    ///
    /// - Parameter isNested: Whether there is a list under the contact's path, too.
    func details<Item: ContactDetail>(
        _ routes: inout Routes<Monica, Caller>, of _: Item.Type, isNested: Bool = true
    ) {
        lists(&routes, of: Item.self, isNested: isNested)
        routes.on(answering: { (request: Monica.Create<Item>, caller: Caller, info: RequestInfo) in
            try await self.createDetail(request, from: caller, info)
        })
        routes.on { (request: Monica.Update<Item>, caller: Caller) in
            try await self.updateDetail(request, from: caller)
        }
        routes.on { (request: Monica.Delete<Item>, caller: Caller) in
            try await self.deleteDetail(request, from: caller)
        }
    }

    private func createDetail<Item: ContactDetail>(
        _ request: Monica.Create<Item>, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<Item>> {
        try await create(request, for: caller, info) { [makeID] loader, form, now in
            try Accounts.lockCaller(loader.account, in: loader.db)
            let fields = try Item.Fields(form, by: loader)
            guard try Contacts.exists(fields.contact, of: loader.account, in: loader.db) else {
                throw Monica.Problems.notFound(Monica.Contact.singular)
            }
            try Item.requireRoom(of: fields.contact, in: loader.db)
            let id = try fields.insert(uuid: makeID(), by: loader, at: now)
            try Item.changed(of: fields.contact, by: loader, at: now)
            return try id.flatMap { try Item.one($0, by: loader) }
        }
    }

    private func updateDetail<Item: ContactDetail>(
        _ request: Monica.Update<Item>, from caller: Caller
    ) async throws -> APIResponse<Item> {
        try await update(Item.self, for: caller) { loader, now in
            try Accounts.lockCaller(loader.account, in: loader.db)
            guard let item = try Item.one(request.id, by: loader), let contact = item.contact?.id else { return nil }
            let fields = try Item.Fields(request.form.keeping(item.kept), by: loader)
            guard fields.contact == contact else { throw Monica.Problems.notFound(Monica.Contact.singular) }
            try fields.replace(request.id, by: loader, at: now)
            try Item.changed(of: contact, by: loader, at: now)
            return try Item.one(request.id, by: loader)
        }
    }

    private func deleteDetail<Item: ContactDetail>(
        _ request: Monica.Delete<Item>, from caller: Caller
    ) async throws -> Monica.Deletion {
        let now = time.milliseconds()
        return try await database.write { [loader = loader(of: caller.account)] db in
            try Accounts.lockCaller(caller.account, in: db)
            let loader = loader(db)
            guard let contact = try Item.one(request.id, by: loader)?.contact?.id else {
                throw Monica.Problems.notFound(Item.singular)
            }
            try Item.deleteParts(of: request.id, in: db)
            try db.run("DELETE FROM \(Item.table) WHERE id = \(request.id)")
            try Item.changed(of: contact, by: loader, at: now)
            return .init(id: request.id)
        }
    }
}

extension Monica.Form {
    /// Returns the form with other fields, where it lacks them.
    func keeping(_ others: [String: JSONValue]) -> Self { Self(fields.merging(others) { own, _ in own }) }
}
