import Backend
import Contract
import ContractServer
import Database
import DeuceDiaryAPI

extension DeuceDiaryService {
    func archive(_ routes: inout Routes<DeuceDiary, Caller>) {
        routes.on(use: requestArchive)
        routes.on(use: getArchive)
    }

    func requestArchive(
        _ request: DeuceDiary.RequestArchive, from caller: Caller
    ) async throws -> DeuceDiary.Archive {
        try described(try await archives.request(by: caller.user, at: time.milliseconds()))
    }

    func getArchive(_ request: DeuceDiary.GetArchive, from caller: Caller) async throws -> DeuceDiary.Archive {
        guard let record = try await archives.current(of: caller.user, at: time.milliseconds()) else {
            throw Problem(.notFound, "No archive was requested")
        }
        return try described(record)
    }

    private func described(_ record: ArchiveRecord) throws -> DeuceDiary.Archive {
        .init(
            state: record.state, requestedAt: .init(milliseconds: record.requestedAt), size: record.size,
            url: try archives.url(of: record, named: "deuce-diary.zip"),
            expiresAt: record.expiresAt.map { .init(milliseconds: $0) })
    }
}

extension DeuceDiaryService {
    /// Returns what an archive contains: the answer of ``DeuceDiary/ExportUser``, what that leaves out, and the picture.
    static func archiveContents(in database: Database, time: TimeSource) -> ArchiveContents<DeuceDiary.User.ID> {
        ArchiveContents(
            rows: [
                ArchivedRows(
                    "blocks", joining: "users ON users.id = blocks.blocked_id", of: "blocker_id", by: .integer("id"),
                    ["blocked_id": .text, "users.username": .text, "created_at": .time], without: ["id"]),
                Reports.Queue.archived,
            ],
            documents: { person in
                [
                    ArchiveDocument("export.json") {
                        try await UserExport(of: person, in: database, at: time.milliseconds()).write(to: $0)
                    }
                ]
            },
            files: { person, last in
                guard last == nil else { return [] }
                let picture: String?? = try await database.read { db in
                    try db.value("SELECT picture FROM users WHERE id = \(person)")
                }
                return (picture ?? nil).map {
                    [ArchivedFile(id: $0, name: "picture.jpg", key: "\(Pictures.folder)/\($0)")]
                } ?? []
            })
    }
}
