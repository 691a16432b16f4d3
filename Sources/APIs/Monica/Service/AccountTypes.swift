import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

/// A type of which an account has one short list, and to which its owner adds others.
protocol AccountType: AccountList, Monica.Writable {
    associatedtype Fields: WrittenFields
    static var table: SQL { get }
    /// The name of several in error messages, such as `genders`.
    static var names: String { get }
    static var maximumNumber: Int { get }
    /// Changes what refers to the type before it is deleted, or refuses the deletion. The account is locked.
    func release(at now: Int64, in db: Session) throws
}

extension AccountType {
    /// Requires that an account may have one more.
    ///
    /// - Throws: A `Problem` with 422 when it may not.
    static func requireRoom(of account: AccountID, in db: Session) throws {
        let count: Int? = try db.value("SELECT COUNT(*) FROM \(table) WHERE account_id = \(account)")
        guard count ?? 0 < maximumNumber else {
            throw Monica.Problems.tooMany(names, limit: maximumNumber)
        }
    }
}

extension MonicaService {
    /// Adds every operation of an account's types but their list. Writes lock the account first. Writes of contacts and
    /// activities do the same before they read genders and types, so that none of these is deleted meanwhile.
    func types<Item: AccountType>(_ routes: inout Routes<Monica, Caller>, of _: Item.Type) {
        routes.on { (request: Monica.Get<Item>, caller: Caller) in try await self.one(request.id, for: caller) }
        routes.on(answering: { (request: Monica.Create<Item>, caller: Caller, info: RequestInfo) in
            try await self.createType(request, from: caller, info)
        })
        routes.on { (request: Monica.Update<Item>, caller: Caller) in
            try await self.updateType(request, from: caller)
        }
        routes.on { (request: Monica.Delete<Item>, caller: Caller) in
            try await self.deleteType(request, from: caller)
        }
    }

    private func createType<Item: AccountType>(
        _ request: Monica.Create<Item>, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<Item>> {
        try await create(request, for: caller, info) { [makeID] loader, form, now in
            try Accounts.lockCaller(loader.account, in: loader.db)
            let fields = try Item.Fields(form, by: loader)
            try Item.requireRoom(of: loader.account, in: loader.db)
            return try fields.insert(uuid: makeID(), by: loader, at: now).flatMap { try Item.one($0, by: loader) }
        }
    }

    private func updateType<Item: AccountType>(
        _ request: Monica.Update<Item>, from caller: Caller
    ) async throws -> APIResponse<Item> {
        try await update(Item.self, for: caller) { loader, now in
            try Accounts.lockCaller(loader.account, in: loader.db)
            guard try Item.one(request.id, by: loader) != nil else { return nil }
            try Item.Fields(request.form, by: loader).replace(request.id, by: loader, at: now)
            return try Item.one(request.id, by: loader)
        }
    }

    private func deleteType<Item: AccountType>(
        _ request: Monica.Delete<Item>, from caller: Caller
    ) async throws -> Monica.Deletion {
        let now = time.milliseconds()
        return try await database.write { [loader = loader(of: caller.account)] db in
            try Accounts.lockCaller(caller.account, in: db)
            guard let item = try Item.one(request.id, by: loader(db)) else {
                throw Monica.Problems.notFound(Item.singular)
            }
            try item.release(at: now, in: db)
            try db.run("DELETE FROM \(Item.table) WHERE id = \(request.id)")
            return .init(id: request.id)
        }
    }
}
