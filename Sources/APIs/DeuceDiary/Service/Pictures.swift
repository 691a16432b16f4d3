import Backend
import Contract
import ContractServer
import Database
import DeuceDiaryAPI
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import ObjectStore

extension DeuceDiaryService {
    /// The age in seconds from which a picture without an owner belongs to an upload that failed.
    static let orphanAge: Int64 = 3600

    func uploadProfilePicture(
        _ request: DeuceDiary.UploadProfilePicture, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<DeuceDiary.User> {
        let now = time.milliseconds()
        if let replay = try await database.replay(
            info.idempotencyKey, errorMessages: DeuceDiary.errorMessages, at: now, as: DeuceDiary.User.self)
        {
            return replay
        }
        guard case .spooled(let upload) = request.picture.content, let file = upload as? SpooledFile else {
            throw Problem(.badRequest, "No file uploaded")
        }
        guard request.picture.contentType.lowercased().hasPrefix("image/") else {
            throw Problem(.badRequest, "Only image files are allowed")
        }
        guard let picture = try await pictures(file.path, caller.user) else {
            throw Problem(.badRequest, "Failed to upload profile picture")
        }
        let (name, key) = try await store(picture, of: caller.user, at: now)
        do {
            let (answer, before) = try await replace(by: name, of: caller.user, under: info.idempotencyKey, at: now)
            // The former picture is no longer used. If it cannot be deleted now, it is swept later.
            await remove(picture: before)
            return answer
        } catch let problem as Problem {
            // No row names the picture. After any other failure, or when another request's answer is repeated, that is
            // not certain here; pictures that no row names are swept later.
            try? await objects.delete(key)
            throw problem
        }
    }

    /// Stores a picture under a new name.
    private func store(
        _ picture: [UInt8], of user: DeuceDiary.User.ID, at now: Int64
    ) async throws -> (name: String, key: ObjectKey) {
        let file = try await objects.spool()
        try await file.append(ByteBuffer(bytes: picture))
        // Names may be equal within a millisecond, or for users with similar ids. The next free millisecond makes them
        // distinct.
        for milliseconds in now..<now + 1000 {
            let name = Pictures.name(of: user, at: milliseconds)
            guard let key = Pictures.key(name) else { break }
            do {
                try await objects.put(file, at: key, contentType: "image/jpeg")
                return (name, key)
            } catch ObjectStoreError.exists {
                continue
            }
        }
        throw Problem(.serviceUnavailable, DeuceDiary.errorMessages.unavailable).retry(afterSeconds: 1)
    }

    /// Sets a user's picture, and returns the user and the name of the former picture.
    private func replace(
        by name: String, of user: DeuceDiary.User.ID, under key: IdempotencyKey?, at now: Int64
    ) async throws -> (Answer<DeuceDiary.User>, before: String?) {
        let before = NIOLockedValueBox<String?>(nil)
        let answer = try await database.write(key, errorMessages: DeuceDiary.errorMessages, at: now) { db in
            try Users.lockCaller(user, in: db)
            let old: String?? = try db.value("SELECT picture FROM users WHERE id = \(user)")
            before.withLockedValue { $0 = old ?? nil }
            try db.run("UPDATE users SET picture = \(name), updated_at = \(now) WHERE id = \(user)")
            guard let user = try Users.one(user, for: user, in: db) else { throw IssuerAccounts.unauthorized }
            return Answer(.ok, user)
        }
        return (answer, before.withLockedValue { $0 })
    }

    /// Refuses a picture that only a report keeps: it is gone for everyone else.
    @Sendable func admitToPicture(_ name: String, _ query: String?) async throws {
        guard let key = Pictures.key(name) else { return }
        let isShown = try await database.read { db in
            try !ReportedFiles.keep(key.rawValue, in: db) || db.exists("SELECT 1 FROM users WHERE picture = \(name)")
        }
        if !isShown { throw Problem(.notFound, DeuceDiary.errorMessages.notFound) }
    }

    public static let storedFiles = [
        StoredFileColumn("users", "picture", newest: "updated_at", folder: Pictures.folder), ReportedFiles.column,
        Archives<Users>.files,
    ]
}

enum Pictures {
    /// The folder of the stored objects and of the URLs that show them.
    static let folder = "uploads"

    /// Returns a name of the form `<user id>-<milliseconds since 1970>.jpg`. Characters other than letters, digits,
    /// underscores and hyphens become underscores.
    static func name(of user: DeuceDiary.User.ID, at milliseconds: Int64) -> String {
        let id = user.rawValue.unicodeScalars.map { scalar -> Character in
            switch scalar {
            case "A"..."Z", "a"..."z", "0"..."9", "_", "-": Character(scalar)
            default: "_"
            }
        }
        return "\(String(id))-\(milliseconds).jpg"
    }

    static func key(_ name: String) -> ObjectKey? { ObjectKey("\(folder)/\(name)") }
}
