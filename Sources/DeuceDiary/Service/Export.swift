import Contract
import ContractServer
import Database
import DeuceDiaryAPI
import HTTPTypes

extension DeuceDiaryService {
    func exportUser(
        _ request: DeuceDiary.ExportUser, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<DeuceDiary.UserExport> {
        let now = time.milliseconds()
        let user = caller.user
        let export = try await database.read { db in
            guard let own = try Users.one(user, for: user, in: db) else { throw Accounts.unauthorized }
            return DeuceDiary.UserExport(
                exportedAt: .init(milliseconds: now), user: own, groups: try Groups.exported(for: user, in: db),
                entries: try Entries.all(of: user, in: db), reactions: try Reactions.all(of: user, in: db),
                locations: try Locations.all(of: user, in: db))
        }
        return Answer(.ok, export, headers: [.contentDisposition: "attachment"])
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
