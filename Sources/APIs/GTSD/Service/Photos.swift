import Backend
import Contract
import ContractServer
import Database
import GTSDAPI
import HTTPTypes
import ObjectStore

extension GTSDService {
    /// The lifetime of signed URLs, in seconds.
    static let urlLifetime: Int64 = 3600
    /// The seconds that an upload may take which began before its URL expired.
    static let uploadTime: Int64 = 900
    /// The age in seconds from which an unconfirmed object belongs to an abandoned upload.
    static let orphanAge: Int64 = 24 * 3600

    func photos(_ routes: inout Routes<GTSD, Caller>) {
        routes.on(answering: presignPhoto)
        routes.on(answering: confirmPhoto)
        routes.on(use: listPhotos)
        routes.on(use: deletePhoto)
    }

    /// Reserves a key in the store. A repeat returns the same key, with a URL that is valid from then on.
    func presignPhoto(
        _ request: GTSD.PresignPhoto, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<GTSD.PresignedUpload>> {
        let name: String
        do { name = try PhotoName.clean(request.fileName.trimmed) } catch { throw Problem(.badRequest, error.message) }
        let (size, now) = (Int64(request.fileSize), time.milliseconds())
        let text = "\(Photos.folder(of: caller.user))\(makeID())-\(name)"
        guard ObjectKey(text) != nil else { throw Problem(.badRequest, "Invalid filename: \(request.fileName)") }
        let end = now + Self.urlLifetime * 1000
        let reserve = LinkOrigin.keeping { [self] (db: Session) in
            let user = try people.lock(caller.user, at: now, in: db).id
            try uploadThrottle.count("\(user)", at: now, in: db)
            guard try Photos.storage(of: user, in: db) + size <= settings.storageQuota else {
                throw Problem.quotaExceeded
            }
            try Photos.reserve(text, size, of: user, until: end, in: db)
            return Answer(.ok, APIResponse(try presigned(text, size)))
        }
        let kept = try await database.write(
            info.idempotencyKey, errorMessages: GTSD.errorMessages, at: now, reserve)
        guard kept.isReplay else { return kept }
        let key = try kept.decoded().data.fileKey
        try await database.write { db in
            try db.run("UPDATE uploads SET url_expires_at = \(end) WHERE file_key = \(key) AND url_expires_at < \(end)")
        }
        return Answer(kept.status, APIResponse(try presigned(key, size)), headers: kept.headers)
    }

    private func presigned(_ key: String, _ size: Int64) throws -> GTSD.PresignedUpload {
        guard let object = ObjectKey(key) else { throw Self.notStored(key) }
        return .init(
            uploadUrl: try objects.uploadURL(for: object, upTo: size, expiresIn: Self.urlLifetime), fileKey: key,
            expiresIn: Int(Self.urlLifetime))
    }

    func confirmPhoto(
        _ request: GTSD.ConfirmPhoto, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<GTSD.ConfirmedPhoto>> {
        let now = time.milliseconds()
        if let replay = try await database.replay(
            info.idempotencyKey, errorMessages: GTSD.errorMessages, at: now, as: APIResponse<GTSD.ConfirmedPhoto>.self)
        {
            return try await confirmed(again: replay, request.fileKey, of: caller)
        }
        guard request.fileKey.hasPrefix(Photos.folder(of: caller.user)), let key = ObjectKey(request.fileKey) else {
            throw Problem(.forbidden, "Invalid file key: does not belong to authenticated user")
        }
        // The lock excludes uploads, so that the file that is confirmed is the one that was checked.
        let write = LinkOrigin.keeping { [self] (db: Session) in
            try confirm(request, by: caller, at: now, in: db)
        }
        let answer = try await uploadLocks.withLock(request.fileKey) {
            let isKnown = try await database.read { try Photos.one(request.fileKey, in: $0) } != nil
            if !isKnown { try await verify(request, key) }
            return try await database.write(
                info.idempotencyKey, errorMessages: GTSD.errorMessages, at: now, write)
        }
        guard answer.isReplay else { return answer }
        return try await confirmed(again: answer, request.fileKey, of: caller)
    }

    private func confirm(
        _ request: GTSD.ConfirmPhoto, by caller: Caller, at now: Int64, in db: Session
    ) throws -> Answer<APIResponse<GTSD.ConfirmedPhoto>> {
        let person = try people.lock(caller.user, at: now, in: db)
        if let photo = try Photos.one(request.fileKey, in: db) { return Answer(.ok, try confirmed(photo)) }
        // The photo was deleted, so the file in the store has been or will be removed.
        if try Photos.isDiscarded(request.fileKey, in: db) { throw Self.notStored(request.fileKey) }
        if let task = request.taskId { _ = try Tasks.day(of: task, of: person.id, in: db) }
        // A reservation was counted when it was made. A file from before there were reservations is counted now.
        if try !Photos.endReservation(request.fileKey, in: db) {
            let storage = try Photos.storage(of: person.id, in: db)
            guard storage + Int64(request.fileSize) <= settings.storageQuota else { throw Problem.quotaExceeded }
        }
        let photo = try Photos.insert(request, of: person.id, at: now, in: db)
        try Photos.recordWeek(Week.start(of: person.today), of: person.id, in: db)
        _ = try people.lockForChange(person.id, at: now, in: db)
        try Progress.award(person, after: person.today, at: now, in: db)
        return Answer(.created, try confirmed(photo))
    }

    /// Repeats an answer with a URL that is valid from now on.
    ///
    /// - Throws: A `Problem` with 404 when the photo has been deleted since.
    private func confirmed(
        again kept: Answer<APIResponse<GTSD.ConfirmedPhoto>>, _ key: String, of caller: Caller
    ) async throws -> Answer<APIResponse<GTSD.ConfirmedPhoto>> {
        let id = try kept.decoded().data.photoId
        guard let photo = try await database.read({ try Photos.one(key, in: $0) }), photo.id == id else {
            throw Self.notStored(key)
        }
        return Answer(kept.status, try confirmed(photo), headers: kept.headers)
    }

    private func confirmed(_ photo: Photos.Stored) throws -> APIResponse<GTSD.ConfirmedPhoto> {
        APIResponse(.init(photoId: photo.id, downloadUrl: try downloadURL(photo)))
    }

    private static func notStored(_ key: String) -> Problem {
        Problem(.notFound, "File not found in storage: \(key)")
    }

    /// Checks the type and the size of the file in the store.
    private func verify(_ request: GTSD.ConfirmPhoto, _ key: ObjectKey) async throws {
        guard let size = try await objects.size(of: key),
            let head = try await objects.content(of: key, in: 0..<Int64(MediaType.headSize))
        else { throw Self.notStored(request.fileKey) }
        let type = MediaType(head: head)?.contentType ?? "application/octet-stream"
        guard type == request.contentType else {
            throw Problem(.badRequest, "Content type mismatch: expected \(request.contentType), got \(type)")
        }
        guard size == request.fileSize else {
            throw Problem(.badRequest, "File size mismatch: expected \(request.fileSize) bytes, got \(size) bytes")
        }
    }

    func listPhotos(_ request: GTSD.ListPhotos, from caller: Caller) async throws -> APIResponse<GTSD.PhotoPage> {
        let (limit, offset) = (request.limit ?? 50, request.offset ?? 0)
        let stored = try await database.read(from: .replica) { db in
            try Photos.page(of: caller.user, task: request.taskId, limit: limit, offset: offset, in: db)
        }
        let photos = try stored.map { photo in
            GTSD.Photo(
                id: photo.id, fileKey: photo.key, fileSize: photo.size, mimeType: photo.mimeType, width: photo.width,
                height: photo.height, takenAt: photo.takenAt, uploadedAt: photo.createdAt, createdAt: photo.createdAt,
                downloadUrl: try downloadURL(photo), evidenceType: photo.stage)
        }
        return APIResponse(
            .init(photos: photos, pagination: .init(limit: limit, offset: offset, total: photos.count)))
    }

    private func downloadURL(_ photo: Photos.Stored) throws -> String {
        guard let key = ObjectKey(photo.key) else { throw Self.notStored(photo.key) }
        // The name comes after the folder, the user and the UUID.
        var path = photo.key
        let name = path.withUTF8 { path in
            let start = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
            return String(decoding: path[start...].dropFirst(37), as: UTF8.self)
        }
        return try objects.downloadURL(
            for: key, as: Download(filename: name, contentType: photo.mimeType, disposition: .inline),
            expiresIn: Self.urlLifetime)
    }

    func deletePhoto(_ request: GTSD.DeletePhoto, from caller: Caller) async throws -> APIResponse<NoData> {
        let now = time.milliseconds()
        let key = try await database.write { [people] db in
            let person = try people.lockForChange(caller.user, at: now, in: db)
            let key: String? = try db.value(
                "DELETE FROM photos WHERE id = \(request.photoId) AND user_id = \(person.id) RETURNING file_key")
            guard let key else {
                throw Problem(.notFound, "Photo \(request.photoId) not found or does not belong to user")
            }
            try Photos.discard([key], in: db)
            return key
        }
        await removeDiscarded([key])
        return APIResponse(message: "Photo deleted successfully")
    }
}

enum Photos {
    /// A photo's row.
    struct Stored: Sendable {
        let id: GTSD.Photo.ID
        let key: String
        let size: Int
        let mimeType: String
        let width: Int?
        let height: Int?
        let takenAt: GTSD.Timestamp?
        let stage: GTSD.PhotoStage?
        let createdAt: GTSD.Timestamp

        fileprivate init(row: borrowing Row) throws {
            id = try row.get(Column.id)
            key = try row.get(Column.key)
            size = try row.get(Column.size)
            mimeType = try row.get(Column.mimeType)
            width = try row.get(Column.width)
            height = try row.get(Column.height)
            takenAt = try row.get(Column.takenAt)
            stage = try row.get(Column.stage)
            createdAt = try row.get(Column.createdAt)
        }
    }

    fileprivate enum Column: String, Columns {
        case id
        case key = "file_key"
        case size = "file_size"
        case mimeType = "mime_type"
        case width, height
        case takenAt = "taken_at"
        case stage
        case createdAt = "created_at"

        static let list = ColumnList(Self.self)
    }

    /// Returns the prefix of the keys of a user's photos.
    static func folder(of user: UserID) -> String { "progress-photos/\(user)/" }

    static func one(_ key: String, in db: Session) throws -> Stored? {
        try db.one("SELECT \(Column.list) FROM photos WHERE file_key = \(key)", Stored.init(row:))
    }

    static func insert(
        _ request: GTSD.ConfirmPhoto, of user: UserID, at now: Int64, in db: Session
    ) throws -> Stored {
        let takenAt = request.takenAt.flatMap { GTSD.Timestamp($0) }
        let photo = try db.one(
            """
            INSERT INTO photos (user_id, file_key, file_size, mime_type, width, height, taken_at, task_id, stage,
                created_at)
            VALUES (\(user), \(request.fileKey), \(request.fileSize), \(request.contentType), \(request.width),
                \(request.height), \(takenAt), \(request.taskId), \(request.evidenceType), \(now))
            RETURNING \(Column.list)
            """, Stored.init(row:))
        guard let photo else { throw DatabaseFailure.failed("an insert returned no row") }
        return photo
    }

    /// Records that a photo was confirmed in a week.
    static func recordWeek(_ week: Day, of user: UserID, in db: Session) throws {
        try db.run(
            "INSERT INTO photo_weeks (user_id, week) VALUES (\(user), \(week)) ON CONFLICT (user_id, week) DO NOTHING")
    }

    /// Returns a page of a user's photos, the newest first.
    static func page(
        of user: UserID, task: GTSD.Task.ID?, limit: Int, offset: Int, in db: Session
    ) throws -> [Stored] {
        let which: SQL = task.map { "AND task_id = \($0)" } ?? ""
        return try db.all(
            """
            SELECT \(Column.list) FROM photos WHERE user_id = \(user) \(which)
            ORDER BY created_at DESC, id DESC LIMIT \(limit) OFFSET \(offset)
            """, Stored.init(row:))
    }
}
