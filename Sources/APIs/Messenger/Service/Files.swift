import Backend
import Contract
import ContractServer
import Database
import Foundation
import HTTPTypes
import MessengerAPI
import ObjectStore

extension MessengerService {
    static let downloadLifetime: Int64 = 3600
    /// The age in seconds from which an object without a row belongs to an upload that failed.
    static let orphanAge: Int64 = 3600
    /// The age in milliseconds from which an upload is abandoned that no message and no profile uses.
    static let unusedAge: Int64 = 7 * 24 * 3_600_000

    func files(_ routes: inout Routes<Messenger, Messenger.User.ID>) {
        routes.on(answering: uploadFile)
        routes.on(answering: downloadFile)
        routes.on(use: deleteFile)
    }

    func uploadFile(
        _ request: Messenger.UploadFile, from owner: Messenger.User.ID, _ info: RequestInfo
    ) async throws -> Answer<Messenger.File> {
        let now = time.milliseconds()
        if let replay = try await database.replay(
            info.idempotencyKey, errorMessages: Messenger.errorMessages, at: now, as: Messenger.File.self)
        {
            return replay
        }
        guard case .spooled(let upload) = request.file.content, let spooled = upload as? SpooledFile else {
            throw Problem(.badRequest, "No file uploaded (use multipart/form-data field 'file')")
        }
        let size = spooled.count
        // Both are checked again in the write, because two concurrent uploads may each have found room.
        try await database.read { [settings, uploadThrottle] db in
            try uploadThrottle.requireRoom("\(owner)", at: now, in: db)
            try Files.requireRoom(for: size, of: owner, quota: settings.storageQuota, in: db)
        }
        let filename = request.file.filename
        let mimeType = FileName.mimeType(request.file.contentType)
        let objectKey = FileName.objectKey(for: filename)
        guard let key = ObjectKey(objectKey) else { throw UnusableObjectKey(text: objectKey) }
        try await objects.put(spooled, at: key, contentType: mimeType)
        do {
            return try await database.write(info.idempotencyKey, errorMessages: Messenger.errorMessages, at: now) {
                [settings, uploadThrottle] db in
                try Users.lockCaller(owner, in: db)
                try uploadThrottle.count("\(owner)", at: now, in: db)
                try Files.requireRoom(for: size, of: owner, quota: settings.storageQuota, in: db)
                let file = try Files.insert(
                    owner: owner, filename: filename, mimeType: mimeType, objectKey: objectKey, size: size, at: now,
                    in: db)
                return Answer(.created, file)
            }
        } catch let problem as Problem {
            // No row was written. After any other failure, or when another request's answer is repeated, that is not
            // certain here; objects that no row names are swept later.
            try? await objects.delete(key)
            throw problem
        }
    }

    func downloadFile(
        _ request: Messenger.DownloadFile, from caller: Messenger.User.ID, _ info: RequestInfo
    ) async throws -> Answer<Empty> {
        let file = try await database.read { try Files.readable(request.id, by: caller, in: $0) }
        guard let file, let key = ObjectKey(file.objectKey) else { throw Problem(.notFound, "File not found") }
        let url = try objects.downloadURL(
            for: key, as: Download(filename: file.filename, contentType: file.mimeType),
            expiresIn: Self.downloadLifetime)
        return Answer(.found, headers: [.location: url, .cacheControl: "no-store"])
    }

    func deleteFile(_ request: Messenger.DeleteFile, from owner: Messenger.User.ID) async throws -> Empty {
        let key = try await database.write { db in try Files.removeUnused(request.id, of: owner, in: db) }
        // An object that cannot be deleted now is swept later.
        await remove(objects: key.map { [$0] } ?? [])
        return Empty()
    }

    /// Deletes uploads that nothing uses a week later, and moves their objects to the trash.
    func sweepUnused() async throws {
        let cutoff = time.milliseconds() - Self.unusedAge
        var last = Messenger.File.ID(0)
        while true {
            let page = try await database.read { [last] db in
                try Files.unused(since: cutoff, after: last, in: db)
            }
            guard let end = page.last else { return }
            last = end
            let keys = try await database.write { db in try Files.release(page, in: db) }
            // An object that cannot be moved now is swept later.
            let free = (try? await ReportedFiles.without(kept: keys, in: database)) ?? []
            for key in free.compactMap(ObjectKey.init) { try? await objects.discard(key) }
        }
    }

    public static let storedFiles = [
        StoredFileColumn("files", "object_key", newest: "id"), ReportedFiles.column,
        Archives<Users>.files,
    ]
}

/// The error for an invalid key that this server has made: a defect of the server.
struct UnusableObjectKey: Error {
    let text: String
}

/// The type and the key with which an upload is stored.
extension FileName {
    /// Returns the type in lower case when it is a well-formed `type/subtype`, else `application/octet-stream`.
    static func mimeType(_ declared: String) -> String {
        let essence = declared.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        let wellFormed = essence.wholeMatch(of: #/[a-z0-9!#$&^_.+-]{1,127}/[a-z0-9!#$&^_.+-]{1,127}/#) != nil
        return wellFormed ? essence : "application/octet-stream"
    }

    /// Returns a key of the form `<uuid>_<filename>`. Characters other than letters, digits, dots, underscores and
    /// hyphens become underscores.
    static func objectKey(for filename: String) -> String {
        let name = String(
            filename.unicodeScalars.map { scalar -> Character in
                switch scalar {
                case "A"..."Z", "a"..."z", "0"..."9", ".", "_", "-": Character(scalar)
                default: "_"
                }
            })
        return "\(UUID().uuidString.lowercased())_\(name)"
    }
}

enum Files {
    /// Locks a file to which this transaction is about to refer, so that it is not deleted: see ``release(_:in:)``.
    ///
    /// - Throws: A `Problem` with 404 unless it is the user's own upload.
    static func lock(_ file: Messenger.File.ID, of user: Messenger.User.ID, in db: Session) throws {
        guard try db.lock("files", where: "id = \(file) AND owner_id = \(user)") == 1 else {
            throw Problem(.notFound, "File not found")
        }
    }

    /// Deletes the rows of those files to which no message and no avatar refers any more. Their stored objects are
    /// swept.
    ///
    /// - Returns: The keys of their stored objects.
    @discardableResult
    static func release(_ files: [Messenger.File.ID], in db: Session) throws -> [String] {
        var keys: [String] = []
        for files in files.chunks(of: 500) {
            // The lock comes first: a transaction that is about to refer to a file has done so by now, or will find it
            // deleted.
            try db.lock("files", where: "id IN (\(list: files)) ORDER BY id")
            keys += try db.all("DELETE FROM files WHERE id IN (\(list: files)) AND \(isUnused) RETURNING object_key") {
                try $0.get(0)
            }
        }
        return keys
    }

    /// The condition that no message and no profile refers to a row of `files`.
    private static let isUnused: SQL = """
        NOT EXISTS (SELECT 1 FROM messages m WHERE m.file_id = files.id)
            AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = files.owner_id AND u.avatar_file_id = files.id)
        """

    /// Deletes an upload of the user that nothing uses.
    ///
    /// - Returns: The key of the stored object.
    /// - Throws: A `Problem` with 404 for any other file.
    static func removeUnused(
        _ id: Messenger.File.ID, of user: Messenger.User.ID, in db: Session
    ) throws -> String? {
        // The lock comes first: a transaction that is about to refer to the file has done so by now, or will find it
        // deleted.
        try lock(id, of: user, in: db)
        let key: String? = try db.value("DELETE FROM files WHERE id = \(id) AND \(isUnused) RETURNING object_key")
        guard let key else { throw Problem(.notFound, "File not found") }
        return key
    }

    /// Returns some of the older uploads that nothing uses, in the order of their ids.
    static func unused(
        since cutoff: Int64, after last: Messenger.File.ID, in db: Session
    ) throws -> [Messenger.File.ID] {
        try db.all(
            """
            SELECT id FROM files WHERE id > \(last) AND created_at <= \(cutoff) AND \(isUnused) ORDER BY id LIMIT 500
            """
        ) { try $0.get(0) }
    }

    /// Throws 413 when the upload would exceed the user's quota.
    static func requireRoom(
        for size: Int64, of user: Messenger.User.ID, quota: Int64, in db: Session
    ) throws {
        guard try storage(of: user, in: db) + size <= quota else { throw Problem.quotaExceeded }
    }

    /// Returns the size of a user's uploads in bytes.
    static func storage(of user: Messenger.User.ID, in db: Session) throws -> Int64 {
        try db.value("SELECT COALESCE(SUM(size), 0) FROM files WHERE owner_id = \(user)") ?? 0
    }

    static func insert(
        owner: Messenger.User.ID, filename: String, mimeType: String, objectKey: String, size: Int64, at now: Int64,
        in db: Session
    ) throws -> Messenger.File {
        let id: Messenger.File.ID? = try db.insert(
            """
            INSERT INTO files (owner_id, filename, mime_type, object_key, size, created_at)
            VALUES (\(owner), \(filename), \(mimeType), \(objectKey), \(size), \(now))
            """)
        guard let id else { throw DatabaseFailure.failed("an insert returned no id") }
        return .init(id: id, filename: filename, mimeType: mimeType, objectKey: objectKey)
    }

    /// Returns a file that the user has uploaded, that is in one of the user's chats, or that is its owner's avatar.
    static func readable(
        _ id: Messenger.File.ID, by user: Messenger.User.ID, in db: Session
    ) throws -> Messenger.File? {
        try db.one(
            """
            SELECT f.id, f.filename, f.mime_type, f.object_key FROM files f
            WHERE f.id = \(id) AND (f.owner_id = \(user)
                OR EXISTS (
                    SELECT 1 FROM messages m JOIN members me ON me.chat_id = m.chat_id AND me.user_id = \(user)
                    WHERE m.file_id = f.id)
                OR EXISTS (SELECT 1 FROM users u WHERE u.id = f.owner_id AND u.avatar_file_id = f.id))
            """
        ) { row in
            .init(id: try row.get(0), filename: try row.get(1), mimeType: try row.get(2), objectKey: try row.get(3))
        }
    }
}
