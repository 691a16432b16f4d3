import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

extension MonicaService {
    func gifts(_ routes: inout Routes<Monica, Caller>) {
        routes.on(answering: createGift)
        routes.on(use: updateGift)
        routes.on(use: deleteGift)
    }

    func createGift(
        _ request: Monica.Create<Monica.Gift>, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<Monica.Gift>> {
        try await create(request, for: caller, info) { [makeID] loader, form, now in
            let fields = try GiftFields(form)
            try Accounts.lockCaller(loader.account, in: loader.db)
            try fields.requireContacts(by: loader)
            return try fields.insert(uuid: makeID(), by: loader, at: now).flatMap {
                try Monica.Gift.one($0, by: loader)
            }
        }
    }

    func updateGift(
        _ request: Monica.Update<Monica.Gift>, from caller: Caller
    ) async throws -> APIResponse<Monica.Gift> {
        try await update(Monica.Gift.self, for: caller) { loader, now in
            guard try Monica.Gift.one(request.id, by: loader) != nil else { return nil }
            let fields = try GiftFields(request.form)
            try Accounts.lockCaller(loader.account, in: loader.db)
            guard try Monica.Gift.one(request.id, by: loader) != nil else { return nil }
            try fields.requireContacts(by: loader)
            try loader.db.run(
                """
                UPDATE gifts SET contact_id = \(fields.contact), name = \(fields.name), comment = \(fields.comment),
                    url = \(fields.url), cents = \(fields.cents), status = \(fields.status),
                    day = \(fields.date), recipient_id = \(fields.recipient), updated_at = \(now)
                WHERE id = \(request.id)
                """)
            return try Monica.Gift.one(request.id, by: loader)
        }
    }

    func deleteGift(_ request: Monica.Delete<Monica.Gift>, from caller: Caller) async throws -> Monica.Deletion {
        try await database.write { [loader = loader(of: caller.account)] db in
            try Accounts.lockCaller(caller.account, in: db)
            guard try Monica.Gift.one(request.id, by: loader(db)) != nil else {
                throw Monica.Problems.notFound(Monica.Gift.singular)
            }
            try db.run("DELETE FROM gift_photos WHERE gift_id = \(request.id)")
            try db.run("DELETE FROM gifts WHERE id = \(request.id)")
            return .init(id: request.id)
        }
    }
}

struct GiftFields {
    let contact: Int
    let name: String
    let status: String
    let comment: String?
    let url: String?
    let cents: Int?
    let date: Day?
    let recipient: Int?

    init(_ form: Monica.Form) throws {
        var input = FormReader(form)
        let contact = input.integer("contact_id", required: true)
        let name = input.text("name", required: true)
        let status = input.choice("status", of: Monica.GiftStatus.known.map(\.rawValue))
        comment = input.text("comment", upTo: Monica.textLength)
        url = input.text("url", upTo: Monica.textLength)
        // Some clients send the amount under `value`, the name that it has in answers.
        let isAmountAbsent = form.fields["amount"] == nil || form.fields["amount"] == .null
        cents = input.cents(isAmountAbsent ? "value" : "amount")
        date = input.day("date")
        recipient = input.integer("recipient_id")
        try input.check()
        self.contact = contact ?? 0
        self.name = name ?? ""
        self.status = status ?? ""
    }

    func insert(uuid: String, by loader: RecordLoader, at now: Int64) throws -> Int? {
        try loader.db.insert(
            """
            INSERT INTO gifts (
                uuid, account_id, contact_id, name, comment, url, cents, status, day, recipient_id, created_at,
                updated_at)
            VALUES (\(uuid), \(loader.account), \(contact), \(name), \(comment), \(url), \(cents), \(status),
                \(date), \(recipient), \(now), \(now))
            """)
    }

    /// Requires that the contact and the recipient belong to the account.
    ///
    /// - Throws: A `Problem` with 404 when one of them does not.
    func requireContacts(by loader: RecordLoader) throws {
        for id in [contact, recipient].compactMap(\.self) {
            guard try Contacts.exists(id, of: loader.account, in: loader.db) else {
                throw Monica.Problems.notFound(Monica.Contact.singular)
            }
        }
    }
}

extension Monica.Gift: StoredList {
    static var table: SQL { "gifts" }

    static func order(by sort: Monica.Sort<Monica.GiftOrder>?) -> ListOrder {
        switch sort?.order {
        case .updatedAt: .order("t.updated_at", descending: sort?.isDescending ?? false)
        case .createdAt, nil: .order("t.created_at", descending: sort?.isDescending ?? false)
        }
    }

    static func restriction(to contact: Int) -> SQL { "t.contact_id = \(contact)" }

    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self] {
        guard !ids.isEmpty else { return [] }
        let found = try loader.inBatches(ids) { batch in
            try loader.db.all(
                """
                SELECT \(GiftColumn.list) FROM gifts WHERE id IN (\(list: batch)) AND account_id = \(loader.account)
                """
            ) { row in
                let gift = Self(
                    id: try row.get(GiftColumn.id), uuid: try row.get(GiftColumn.uuid),
                    contactID: try row.get(GiftColumn.contact), name: try row.get(GiftColumn.name),
                    comment: try row.get(GiftColumn.comment), url: try row.get(GiftColumn.url),
                    cents: try row.get(GiftColumn.cents),
                    status: Monica.GiftStatus(rawValue: try row.get(GiftColumn.status)),
                    date: try row.get(GiftColumn.day),
                    account: loader.account.number,
                    createdAt: try row.get(GiftColumn.createdAt), updatedAt: try row.get(GiftColumn.updatedAt))
                return (gift: gift, recipient: try row.get(GiftColumn.recipient, as: Int?.self))
            }
        } id: {
            $0.gift.id
        }
        let contacts = try loader.shortContacts(found.map(\.gift.contactID) + found.compactMap(\.recipient))
        let photos = try Monica.Photo.ofGifts(found.map(\.gift.id), by: loader)
        return found.map { gift, recipient in
            var gift = gift
            gift.photos = photos[gift.id] ?? []
            gift.contact = contacts[gift.contactID]
            gift.recipient = recipient.flatMap { contacts[$0] }
            return gift
        }
    }
}

private enum GiftColumn: String, Columns {
    case id, uuid
    case contact = "contact_id"
    case name, comment, url, cents, status, day
    case recipient = "recipient_id"
    case createdAt = "created_at"
    case updatedAt = "updated_at"

    static let list = ColumnList(Self.self)
}
