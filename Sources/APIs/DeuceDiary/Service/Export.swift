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

    /// Exports a user's data. Entries and reactions are read in batches, each in a transaction of its own, so that a
    /// client that reads slowly does not keep a database connection. Rows that are deleted before they are read are
    /// left out.
    func exportUser(
        _ request: DeuceDiary.ExportUser, from caller: Caller
    ) async throws -> StreamedAnswer {
        let now = time.milliseconds()
        let user = caller.user
        let (head, newest) = try await database.read { db in
            guard let own = try Users.one(user, for: user, in: db) else { throw IssuerAccounts.unauthorized }
            let export = DeuceDiary.UserExport(
                exportedAt: .init(milliseconds: now), user: own, groups: try Groups.exported(for: user, in: db),
                entries: [], reactions: [], locations: [])
            return (try JSONBody.encode(export), try Reactions.newest(of: user, in: db))
        }
        // The lists come last and are empty. They are replaced by the lists that are written below.
        let lists = #","entries":[],"reactions":[],"locations":[]}"#
        let headers: HTTPFields = [.contentType: "application/json", .contentDisposition: "attachment"]
        return StreamedAnswer(headers: headers) { [database] write in
            try await write(Array(head.readableBytesView.dropLast(lists.utf8.count)))
            try await Self.write("entries", to: write) { (last: DeuceDiary.DeuceEntry?) in
                try await database.read { db in
                    try db.all(
                        Entries.exportQuery(of: user, behind: last, limit: Self.exportBatch),
                        DeuceDiary.DeuceEntry.init(row:))
                }
            }
            try await Self.write("reactions", to: write) { (last: DeuceDiary.Reaction?) in
                guard let newest else { return [] }
                return try await database.read { db in
                    try db.all(
                        Reactions.exportQuery(of: user, behind: last, to: newest, limit: Self.exportBatch),
                        DeuceDiary.Reaction.init(row:))
                }
            }
            try await Self.write("locations", to: write) { (last: DeuceDiary.Location?) in
                // A user has at most ``maximumLocations``, so one read returns all.
                guard last == nil else { return [] }
                return try await database.read { try Locations.all(of: user, in: $0) }
            }
            try await write(Array("}".utf8))
        }
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
