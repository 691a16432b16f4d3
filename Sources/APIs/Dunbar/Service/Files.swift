import Backend
import Contract
import ContractServer
import Database
import DunbarAPI
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import ObjectStore
import Videos

extension DunbarService {
    /// The age in seconds from which a file without a row belongs to an upload that failed.
    static let orphanAge: Int64 = 3600

    func uploadPhoto(
        _ request: Dunbar.UploadPhoto, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<Dunbar.UpdatedUser> {
        let now = time.milliseconds()
        try await database.read { try Users.require(caller.user, mayChange: request.id, in: $0) }
        try request.validate()
        if let replay = try await database.replay(
            info.idempotencyKey, errorMessages: Dunbar.errorMessages, at: now, as: Dunbar.UpdatedUser.self)
        {
            return try replay.renewed(by: urls)
        }
        try await database.read { [uploadThrottle] db in
            try uploadThrottle.requireRoom("\(caller.user)", at: now, in: db)
        }
        let refused = Problem(.badRequest, "Only image files are allowed")
        guard let upload = request.photo, let file = upload.spooledFile, let type = try type(of: file), type.isImage
        else { throw refused }
        let picture = try await picture(of: file, type, .profile, for: caller.user)
        let name = MediaFile.name(.jpeg)
        try await store(try await spool(picture), as: name, .jpeg)
        return try await removingOnFailure([name]) { [urls, uploadThrottle] in
            let before = NIOLockedValueBox<String?>(nil)
            let answer = try await database.write(info.idempotencyKey, errorMessages: Dunbar.errorMessages, at: now) {
                db in
                try Users.lock(request.id, in: db)
                try Users.require(caller.user, mayChange: request.id, in: db)
                try uploadThrottle.count("\(caller.user)", at: now, in: db)
                let old: String?? = try db.value("SELECT photo FROM users WHERE id = \(request.id)")
                before.withLockedValue { $0 = old ?? nil }
                if let old = old ?? nil { try UnsignedFiles.forget([old], in: db) }
                try db.run("UPDATE users SET photo = \(name) WHERE id = \(request.id)")
                return Answer(.ok, try Users.changed(request.id, by: caller.user, urls, in: db))
            }
            if answer.headers[.idempotentReplayed] == nil, let old = before.withLockedValue({ $0 }) {
                await remove([old])
            }
            return try answer.renewed(by: urls)
        }
    }

    // MARK: Storing uploads

    /// Stores the files of a user's post in their order, under new names: all of them or none.
    ///
    /// - Throws: A `Problem` with 400 when a file is neither an image nor a video.
    func store(_ uploads: [Upload], of user: Dunbar.User.ID) async throws -> [StoredFile] {
        let refused = Problem(.badRequest, "Only image and video files are allowed!")
        // All types are checked before the first file is converted.
        let files = try uploads.map { upload in
            guard let file = upload.spooledFile, let type = try type(of: file) else { throw refused }
            return (file, type)
        }
        var stored: [StoredFile] = []
        do {
            for (file, type) in files {
                let kept = type == .heic ? MediaType.jpeg : type
                var content = file
                if let container = type.container {
                    try await clean(file, container, refused)
                } else {
                    content = try await spool(try await picture(of: file, type, .post(kept), for: user))
                }
                let (name, size) = (MediaFile.name(kept), content.count)
                try await store(content, as: name, kept)
                stored.append(StoredFile(name: name, size: size))
            }
        } catch {
            await remove(stored.map(\.name))
            throw error
        }
        return stored
    }

    /// Converts an image.
    ///
    /// - Throws: A `Problem` with 400 when the image is damaged or has too many pixels.
    private func picture(
        of file: SpooledFile, _ type: MediaType, _ use: ImageUse, for user: Dunbar.User.ID
    ) async throws -> [UInt8] {
        do {
            guard let picture = try await images(file.path, use, user) else {
                throw Problem(.badRequest, "Image is damaged or incomplete")
            }
            return picture
        } catch is ImageTooLarge {
            let limit = ImageTooLarge.megapixels(of: type)
            throw Problem(.badRequest, "Image too large (max \(limit) megapixels)")
        }
    }

    /// Removes the metadata about a video's place and maker.
    private func clean(_ file: SpooledFile, _ container: VideoContainer, _ refused: Problem) async throws {
        do {
            try await file.change { try Video.clean($0, as: container) }
        } catch VideoError.notAVideo {
            throw refused
        }
    }

    private func type(of file: SpooledFile) throws -> MediaType? {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: file.path))
        defer { try? handle.close() }
        return MediaType(head: [UInt8](try handle.read(upToCount: MediaType.headSize) ?? Data()))
    }

    private func spool(_ content: [UInt8]) async throws -> SpooledFile {
        let file = try await objects.spool()
        try await file.append(ByteBuffer(bytes: content))
        return file
    }

    private func store(_ file: SpooledFile, as name: String, _ type: MediaType) async throws {
        guard let key = MediaFile.key(name) else {
            throw Problem(.internalServerError, Dunbar.errorMessages.internalError)
        }
        try await objects.put(file, at: key, contentType: type.contentType)
    }

    /// Writes the rows of stored files, and removes the files when that fails.
    ///
    /// Files stay when it is not known whether the rows were written, or when a stored answer is repeated, which may be
    /// this request's own from before the connection was lost. If no row names them, they are swept later.
    func removingOnFailure<Output>(
        _ names: [String], _ write: () async throws -> Answer<Output>
    ) async throws -> Answer<Output> {
        do {
            return try await write()
        } catch DatabaseFailure.unknownOutcome(let reason) {
            throw DatabaseFailure.unknownOutcome(reason)
        } catch {
            await remove(names)
            throw error
        }
    }

    /// Removes files whose rows were deleted, but for those that a report keeps. A file that cannot be removed now is swept
    /// later.
    func remove(_ names: [String]) async {
        let keys = names.compactMap { MediaFile.key($0)?.rawValue }
        let free = (try? await ReportedFiles.without(kept: keys, in: database)) ?? []
        for key in free.compactMap(ObjectKey.init) { try? await objects.delete(key) }
    }

    /// Records the sizes of files that were stored by a version that did not record them.
    func sweepSizes() async throws {
        while true {
            let names: [String] = try await database.read { db in
                try db.all("SELECT name FROM media WHERE size IS NULL ORDER BY name LIMIT 100") { try $0.get(0) }
            }
            if names.isEmpty { return }
            for name in names {
                var size: Int64 = 0
                if let key = MediaFile.key(name) { size = try await objects.size(of: key) ?? 0 }
                try await database.write { [size] db in
                    try db.run("UPDATE media SET size = \(size) WHERE name = \(name)")
                }
            }
        }
    }

    public static let storedFiles = [
        StoredFileColumn("media", "name", newest: "post_id", folder: MediaFile.folder),
        StoredFileColumn("users", "photo", newest: "id", folder: MediaFile.folder), ReportedFiles.column,
        Archives<Users>.files,
    ]
}

/// A file of a post, as it is stored.
struct StoredFile: Sendable {
    let name: String
    /// The size in bytes.
    let size: Int64
}

enum Files {
    /// Throws 413 when a user's files would exceed their quota.
    static func requireRoom(
        for size: Int64, of user: Dunbar.User.ID, _ settings: DunbarService.Settings, in db: Session
    ) throws {
        let stored = try db.value("SELECT COALESCE(SUM(size), 0) FROM media WHERE user_id = \(user)", as: Int64.self)
        guard (stored ?? 0) + size <= settings.storageQuota else { throw Problem.quotaExceeded }
    }
}

extension Upload {
    fileprivate var spooledFile: SpooledFile? {
        if case .spooled(let content) = content { content as? SpooledFile } else { nil }
    }
}

/// The error for an image with more pixels than its format may have.
public struct ImageTooLarge: Error {
    public init() {}

    /// The number of megapixels that an image may have, all frames together.
    public static func megapixels(of type: MediaType) -> Int {
        switch type {
        case .jpeg, .heic: 100
        default: 40
        }
    }
}

extension MediaType {
    /// The container format of a video; nil for an image.
    fileprivate var container: VideoContainer? {
        switch self {
        case .jpeg, .png, .gif, .webp, .heic: nil
        case .mp4, .mov: .isoBaseMedia
        case .webm: .matroska
        }
    }
}
