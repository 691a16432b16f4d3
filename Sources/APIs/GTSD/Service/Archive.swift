import Backend
import Contract
import ContractServer
import Database
import GTSDAPI

extension GTSDService {
    func archive(_ routes: inout Routes<GTSD, Caller>) {
        routes.on(use: requestArchive)
        routes.on(use: getArchive)
    }

    func requestArchive(
        _ request: GTSD.RequestArchive, from caller: Caller
    ) async throws -> APIResponse<GTSD.Archive> {
        APIResponse(try described(try await archives.request(by: caller.user, at: time.milliseconds())))
    }

    func getArchive(_ request: GTSD.GetArchive, from caller: Caller) async throws -> APIResponse<GTSD.Archive> {
        guard let record = try await archives.current(of: caller.user, at: time.milliseconds()) else {
            throw Problem(.notFound, "No archive was requested")
        }
        return APIResponse(try described(record))
    }

    private func described(_ record: ArchiveRecord) throws -> GTSD.Archive {
        .init(
            state: record.state, requestedAt: .init(milliseconds: record.requestedAt), size: record.size,
            url: try archives.url(of: record, named: "gtsd.zip"),
            expiresAt: record.expiresAt.map { .init(milliseconds: $0) })
    }
}

extension GTSDService {
    static func archiveContents(in database: Database) -> ArchiveContents<UserID> {
        ArchiveContents(
            rows: [
                ArchivedRows(
                    "users", as: "account", of: "id", by: .integer("id"),
                    [
                        "id": .integer, "email": .text, "name": .text, "timezone": .text, "email_verified": .flag,
                        "created_at": .time, "updated_at": .time, "suspended_at": .time, "suspended_until": .time,
                        "suspension_reason": .text, "accepted_terms": .text,
                    ], without: ["password", "is_deactivated", "version"]),
                ArchivedRows(
                    "sessions", of: "user_id", by: .text("id"),
                    ["device": .text, "started_at": .time, "used_at": .time, "address": .text, "expires_at": .time],
                    without: ["id"]),
                ArchivedRows(
                    "profiles", as: "profile", of: "user_id", by: .integer("user_id"),
                    [
                        "date_of_birth": .day, "gender": .text, "goal": .text, "weight": .real, "target_weight": .real,
                        "height": .real, "activity": .text, "target_date": .day, "dietary_preferences": .json,
                        "allergies": .json, "meals_per_day": .integer,
                    ]),
                ArchivedRows(
                    "tasks", of: "user_id", by: .integer("id"),
                    [
                        "id": .integer, "day": .day, "type": .text, "title": .text, "description": .text,
                        "completed_at": .time, "completed_day": .day, "completed_minute": .integer,
                    ], without: ["slot"]),
                ArchivedRows(
                    "evidence", of: "user_id", by: .integer("id"),
                    [
                        "id": .integer, "task_id": .integer, "type": .text, "data": .json, "notes": .text,
                        "occurred_at": .time, "created_at": .time,
                    ]),
                ArchivedRows(
                    "streaks", as: "streak", of: "user_id", by: .integer("id"),
                    ["created_at": .time, "updated_at": .time], without: ["id"]),
                ArchivedRows(
                    "credits", as: "days", of: "user_id", by: .integer("day"), ["day": .day, "is_perfect": .flag]),
                ArchivedRows("skipped_days", of: "user_id", by: .integer("day"), ["day": .day, "skipped_at": .time]),
                ArchivedRows(
                    "badges", of: "user_id", by: .integer("id"), ["type": .text, "awarded_at": .time],
                    without: ["id", "is_announced"]),
                ArchivedRows(
                    "plans", of: "user_id", by: .integer("id"),
                    [
                        "id": .integer, "week": .day, "bmr": .integer, "tdee": .integer, "target_calories": .integer,
                        "protein_grams": .integer, "carb_grams": .integer, "fat_grams": .integer, "water": .integer,
                        "content": .json, "created_at": .time,
                    ]),
                ArchivedRows(
                    "photos", of: "user_id", by: .integer("id"),
                    [
                        "id": .integer, "mime_type": .text, "file_size": .integer, "width": .integer,
                        "height": .integer,
                        "taken_at": .time, "task_id": .integer, "stage": .text, "created_at": .time,
                    ], without: ["file_key"]),
                ArchivedRows("photo_weeks", of: "user_id", by: .integer("week"), ["week": .day]),
            ],
            files: { person, last in
                try await database.read { db in
                    try db.all(
                        """
                        SELECT id, file_key FROM photos WHERE user_id = \(person) AND id > \(Int64(last?.id ?? "") ?? 0)
                        ORDER BY id LIMIT 200
                        """
                    ) { row in
                        let (id, key): (Int64, String) = (try row.get(0), try row.get(1))
                        return ArchivedFile(
                            id: "\(id)", name: "photos/\(id)-\(key.split(separator: "/").last ?? "")", key: key)
                    }
                }
            })
    }
}
