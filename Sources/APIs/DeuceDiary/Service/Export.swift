import Contract
import ContractServer
import Database
import DeuceDiaryAPI
import HTTPTypes

extension DeuceDiaryService {
    /// The number of entries or reactions that are in memory at a time.
    static let exportBatch = 100

    func export(_ routes: inout Routes<DeuceDiary, Caller>) {
        routes.on(streaming: exportUser)
    }

    func exportUser(
        _ request: DeuceDiary.ExportUser, from caller: Caller
    ) async throws -> StreamedAnswer {
        let export = try await UserExport(of: caller.user, in: database, at: time.milliseconds())
        let headers: HTTPFields = [.contentType: "application/json", .contentDisposition: "attachment"]
        return StreamedAnswer(headers: headers) { try await export.write(to: $0) }
    }
}

/// A user's data. Entries and reactions are read in batches, each in a transaction of its own, so that a client that reads
/// slowly does not keep a database connection. Rows that are deleted before they are read are left out.
struct UserExport: Sendable {
    private let user: DeuceDiary.User.ID
    private let database: Database
    private let head: [UInt8]
    private let newest: DeuceDiary.Reaction?

    /// Reads all but the lists.
    ///
    /// - Throws: 401 for a user who is not there.
    init(of user: DeuceDiary.User.ID, in database: Database, at now: Int64) async throws {
        self.user = user
        self.database = database
        (head, newest) = try await database.read { db in
            guard let own = try Users.one(user, for: user, in: db) else { throw IssuerAccounts.unauthorized }
            let export = DeuceDiary.UserExport(
                exportedAt: .init(milliseconds: now), user: own, groups: try Groups.exported(for: user, in: db),
                entries: [], reactions: [], locations: [])
            // The lists come last and are empty. They are replaced by the lists that are written below.
            let lists = #","entries":[],"reactions":[],"locations":[]}"#
            let text = Array(try JSONBody.encode(export).readableBytesView.dropLast(lists.utf8.count))
            return (text, try Reactions.newest(of: user, in: db))
        }
    }

    /// Writes the export as JSON.
    func write(to write: StreamedAnswer.Write) async throws {
        let batch = DeuceDiaryService.exportBatch
        try await write(head)
        try await Self.write("entries", to: write) { (last: DeuceDiary.DeuceEntry?) in
            try await database.read { [user] db in
                try db.all(
                    Entries.exportQuery(of: user, behind: last, limit: batch), DeuceDiary.DeuceEntry.init(row:))
            }
        }
        try await Self.write("reactions", to: write) { (last: DeuceDiary.Reaction?) in
            guard let newest else { return [] }
            return try await database.read { [user] db in
                try db.all(
                    Reactions.exportQuery(of: user, behind: last, to: newest, limit: batch),
                    DeuceDiary.Reaction.init(row:))
            }
        }
        try await Self.write("locations", to: write) { (last: DeuceDiary.Location?) in
            // A user has at most ``maximumLocations``, so one read returns all.
            guard last == nil else { return [] }
            return try await database.read { [user] in try Locations.all(of: user, in: $0) }
        }
        try await write(Array("}".utf8))
    }

    /// Writes `,"name":[…]`.
    ///
    /// - Parameter next: Returns the items behind the last one; an empty array ends the list.
    private static func write<Item: Encodable & Sendable>(
        _ name: String, to write: StreamedAnswer.Write, _ next: (_ last: Item?) async throws -> [Item]
    ) async throws {
        try await write(Array(#","\#(name)":["#.utf8))
        var last: Item?
        while case let items = try await next(last), let newest = items.last {
            for (index, item) in items.enumerated() {
                let separator = last == nil && index == 0 ? "" : ","
                try await write(Array(separator.utf8) + Array(try JSONBody.encode(item).readableBytesView))
            }
            last = newest
        }
        try await write(Array("]".utf8))
    }
}

extension Groups {
    fileprivate static func exported(
        for user: DeuceDiary.User.ID, in db: Session
    ) throws -> [DeuceDiary.ExportedGroup] {
        try db.all(
            """
            SELECT g.id, g.name, me.role, me.joined_at FROM members me JOIN groups g ON g.id = me.group_id
            WHERE me.user_id = \(user) ORDER BY \(order)
            """
        ) { row in
            .init(id: try row.get(0), name: try row.get(1), role: try row.get(2), joinedAt: try row.get(3))
        }
    }
}

extension HTTPField.Name {
    fileprivate static let contentDisposition = Self("Content-Disposition")!
}
