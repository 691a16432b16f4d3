import Backend
import Contract
import ContractServer
import Database
import DunbarAPI

extension DunbarService {
    func archive(_ routes: inout Routes<Dunbar, Caller>) {
        routes.on(use: requestArchive)
        routes.on(use: getArchive)
    }

    func requestArchive(
        _ request: Dunbar.RequestArchive, from caller: Caller
    ) async throws -> Dunbar.Archive {
        try described(try await archives.request(by: caller.user, at: time.milliseconds()))
    }

    func getArchive(_ request: Dunbar.GetArchive, from caller: Caller) async throws -> Dunbar.Archive {
        guard let record = try await archives.current(of: caller.user, at: time.milliseconds()) else {
            throw Problem(.notFound, "No archive was requested")
        }
        return try described(record)
    }

    private func described(_ record: ArchiveRecord) throws -> Dunbar.Archive {
        .init(
            state: record.state, requestedAt: .init(milliseconds: record.requestedAt), size: record.size,
            url: try archives.url(of: record, named: "dunbar.zip"),
            expiresAt: record.expiresAt.map { .init(milliseconds: $0) })
    }
}

extension DunbarService {
    static func archiveContents(in database: Database) -> ArchiveContents<Dunbar.User.ID> {
        ArchiveContents(
            rows: [
                ArchivedRows(
                    "users", as: "account", of: "id", by: .integer("id"),
                    [
                        "id": .integer, "username": .text, "email": .text, "display_name": .text, "bio": .text,
                        "is_private": .flag, "is_admin": .flag, "is_verified": .flag, "created_at": .time,
                        "suspended_at": .time, "suspended_until": .time, "suspension_reason": .text,
                        "accepted_terms": .text,
                    ],
                    without: [
                        "username_key", "email_key", "password", "display_key", "photo", "folded_name", "search_block",
                    ]),
                ArchivedRows(
                    "sessions", of: "user_id", by: .bytes("hash"),
                    ["device": .text, "started_at": .time, "used_at": .time, "address": .text, "expires_at": .time],
                    without: ["hash"]),
                ArchivedRows(
                    "posts", of: "user_id", by: .integer("id"),
                    ["id": .integer, "content": .text, "media": .text, "created_at": .time]),
                ArchivedRows(
                    "comments", of: "user_id", by: .integer("id"),
                    ["id": .integer, "post_id": .integer, "content": .text, "created_at": .time]),
                ArchivedRows(
                    "follows", as: "following", joining: "users ON users.id = follows.target_id", of: "follower_id",
                    by: .integer("id"),
                    ["target_id": .integer, "users.username": .text, "is_accepted": .flag, "created_at": .time],
                    without: ["id"]),
                ArchivedRows(
                    "follows", as: "followers", joining: "users ON users.id = follows.follower_id", of: "target_id",
                    by: .integer("id"),
                    ["follower_id": .integer, "users.username": .text, "is_accepted": .flag, "created_at": .time],
                    without: ["id"]),
                ArchivedRows(
                    "blocks", joining: "users ON users.id = blocks.blocked_id", of: "blocker_id", by: .integer("id"),
                    ["blocked_id": .integer, "users.username": .text, "created_at": .time], without: ["id"]),
                Reports.Queue.archived,
            ],
            files: { person, last in
                try await database.read { db in
                    let after = last?.id ?? ""
                    return try db.all(
                        """
                        SELECT name FROM (
                            SELECT name FROM media WHERE user_id = \(person)
                            UNION ALL SELECT photo FROM users WHERE id = \(person) AND photo IS NOT NULL) AS stored
                        WHERE name > \(after) ORDER BY name LIMIT 200
                        """
                    ) { row in
                        let name: String = try row.get(0)
                        return ArchivedFile(id: name, name: "media/\(name)", key: "\(MediaFile.folder)/\(name)")
                    }
                }
            })
    }
}
