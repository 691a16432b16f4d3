import Backend
import Contract
import ContractServer
import Database
import MessengerAPI

extension MessengerService {
    func archive(_ routes: inout Routes<Messenger, Messenger.User.ID>) {
        routes.on(use: requestArchive)
        routes.on(use: getArchive)
    }

    func requestArchive(
        _ request: Messenger.RequestArchive, from caller: Messenger.User.ID
    ) async throws -> Messenger.Archive {
        try described(try await archives.request(by: caller, at: time.milliseconds()))
    }

    func getArchive(_ request: Messenger.GetArchive, from caller: Messenger.User.ID) async throws -> Messenger.Archive {
        guard let record = try await archives.current(of: caller, at: time.milliseconds()) else {
            throw Problem(.notFound, "No archive was requested")
        }
        return try described(record)
    }

    private func described(_ record: ArchiveRecord) throws -> Messenger.Archive {
        .init(
            state: record.state, requestedAt: .init(milliseconds: record.requestedAt), size: record.size,
            url: try archives.url(of: record, named: "messenger.zip"),
            expiresAt: record.expiresAt.map { .init(milliseconds: $0) })
    }
}

extension MessengerService {
    /// Returns what an archive contains: what the person has written and uploaded, not what others have sent them.
    static func archiveContents(in database: Database) -> ArchiveContents<Messenger.User.ID> {
        ArchiveContents(
            rows: [
                ArchivedRows(
                    "users", as: "account", of: "id", by: .integer("id"),
                    [
                        "id": .integer, "username": .text, "email": .text, "display_name": .text, "bio": .text,
                        "avatar_file_id": .integer, "created_at": .time, "suspended_at": .time,
                        "suspended_until": .time,
                        "suspension_reason": .text, "accepted_terms": .text,
                    ],
                    without: [
                        "username_key", "email_key", "display_key", "password", "deleted_at", "folded_name",
                        "search_block",
                    ]),
                ArchivedRows(
                    "sessions", of: "user_id", by: .text("id"),
                    ["device": .text, "started_at": .time, "used_at": .time, "address": .text, "expires_at": .time],
                    without: ["id", "refresh_hash"]),
                ArchivedRows(
                    "devices", of: "user_id", by: .integer("id"),
                    ["id": .integer, "environment": .text, "registered_at": .time], without: ["session_id", "token"]),
                ArchivedRows(
                    "members", as: "chats", joining: "chats ON chats.id = members.chat_id", of: "user_id",
                    by: .integer("chat_id"),
                    [
                        "chat_id": .integer, "chats.type": .text, "chats.name": .text, "role": .text,
                        "joined_at": .time,
                        "last_read_id": .integer, "read_at": .time, "muted_until": .time,
                    ]),
                ArchivedRows(
                    "messages", of: "sender_id", by: .integer("id"), isIndexed: false,
                    [
                        "id": .integer, "chat_id": .integer, "content": .text, "type": .text, "file_id": .integer,
                        "created_at": .time, "edited_at": .time,
                    ], without: ["version"]),
                ArchivedRows(
                    "files", of: "owner_id", by: .integer("id"),
                    ["id": .integer, "filename": .text, "mime_type": .text, "size": .integer, "created_at": .time],
                    without: ["object_key"]),
                ArchivedRows(
                    "blocks", joining: "users ON users.id = blocks.blocked_id", of: "blocker_id",
                    by: .integer("blocked_id"), ["blocked_id": .integer, "users.username": .text, "created_at": .time]),
                Reports.Queue.archived,
            ],
            files: { person, last in
                try await database.read { db in
                    try db.all(
                        """
                        SELECT id, filename, object_key FROM files WHERE owner_id = \(person) AND id > \(Int64(last?.id ?? "") ?? 0)
                        ORDER BY id LIMIT 200
                        """
                    ) { row in
                        let id: Int64 = try row.get(0)
                        return ArchivedFile(
                            id: "\(id)", name: "files/\(id)-\(try row.get(1, as: String.self))", key: try row.get(2))
                    }
                }
            })
    }
}
