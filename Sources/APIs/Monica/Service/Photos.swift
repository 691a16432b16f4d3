import Backend
import Contract
import ContractServer
import Database
import Foundation
import Identity
import MonicaAPI
import ObjectStore

extension MonicaService {
    /// Writes the photo in the file at a path again, in its own format (HEIC as JPEG), upright and without metadata. It returns
    /// nil when the file is not an image that can be read. It throws ``PhotoTooLarge``, or another error when the converter
    /// does not work.
    public typealias PhotoMaker = @Sendable (_ path: String, _ account: String) async throws -> [UInt8]?

    /// The error for a photo with more pixels than its format may have.
    public struct PhotoTooLarge: Error {
        public init() {}
    }

    func photos(_ routes: inout Routes<Monica, Caller>) {
        filesOfContacts(&routes, of: Monica.Photo.self)
        routes.on(use: setAvatar)
        routes.on(use: addPhotoToGift)
        let admit = { @Sendable [files] (name: String, query: String?) in
            try files.admit("/\(FileServer.pictureFolder)/\(name)", query)
        }
        routes.serve(
            publicly: objects, under: "/" + FileServer.pictureFolder, cacheControl: FileServer.cacheControl,
            admit: admit
        ) { name in MediaType.allCases.first { name.hasSuffix("." + $0.rawValue) }?.contentType }
    }

    func setAvatar(_ request: Monica.SetAvatar, from caller: Caller) async throws -> APIResponse<Monica.Contact> {
        try await update(Monica.Contact.self, for: caller) { loader, now in
            try Accounts.lockCaller(loader.account, in: loader.db)
            guard try Contacts.exists(request.id, of: loader.account, in: loader.db) else { return nil }
            var input = FormReader(request.form)
            let source = input.choice("source", of: Monica.AvatarChoice.words)
            let isPhoto = source == "photo"
            if isPhoto, !input.isGiven("photo_id") {
                input.reject("photo_id", "field is required when source is photo.")
            }
            let photo = input.integer("photo_id")
            try input.check()
            if isPhoto { try Avatars.require(photo ?? 0, of: request.id, in: loader.db) }
            try loader.db.run(
                """
                UPDATE contacts SET avatar_source = \(source == "default" ? nil : source),
                    avatar_photo_id = \(isPhoto ? photo : nil), updated_at = \(now)
                WHERE id = \(request.id)
                """)
            return try loader.contact(request.id)
        }
    }

    func addPhotoToGift(_ request: Monica.AddPhotoToGift, from caller: Caller) async throws -> APIResponse<Monica.Gift>
    {
        try await update(Monica.Gift.self, for: caller) { loader, now in
            try Accounts.lockCaller(loader.account, in: loader.db)
            guard let gift = try Monica.Gift.one(request.gift, by: loader) else { return nil }
            try Avatars.require(request.photo, of: gift.contactID, in: loader.db)
            if gift.photos.contains(where: { $0.id == request.photo }) { return gift }
            let maximum = Monica.Photo.maximumOfGift
            guard gift.photos.count < maximum else {
                throw Monica.Problems.tooMany("photos", limit: maximum)
            }
            try loader.db.run(
                "INSERT INTO gift_photos (gift_id, photo_id) VALUES (\(request.gift), \(request.photo))")
            try loader.db.run("UPDATE gifts SET updated_at = \(now) WHERE id = \(request.gift)")
            return try Monica.Gift.one(request.gift, by: loader)
        }
    }
}

extension Monica.Photo: StoredFile {
    static var table: SQL { "photos" }
    static let mustBeImage = "must be an image"

    /// The file is judged by its first bytes here, and by all of them when it is prepared.
    static func content(
        of request: Monica.Store<Self>, _ input: inout FormReader, by service: MonicaService
    ) async throws -> ReceivedFile? {
        let isFile = request.file != nil
        guard isFile || input.isGiven("data") else {
            input.reject("The photo field is required when data is not present.")
            input.reject("The data field is required when photo is not present.")
            return nil
        }
        let text = isFile ? nil : input.text("data", upTo: .max)
        var file = request.file?.spooledFile
        if let bytes = text.flatMap(DataURL.bytes) { file = try await service.spooled(bytes) }
        guard isFile || text != nil else { return nil }
        guard let file, let received = try received(file, named: request.file?.filename) else {
            input.reject(isFile ? "photo" : "data", mustBeImage + ".")
            return nil
        }
        return received
    }

    static func received(_ file: SpooledFile, named filename: String?) throws -> ReceivedFile? {
        guard let type = MediaType(head: try file.head()), type.isImage else { return nil }
        return ReceivedFile(
            content: file, filename: filename ?? "photo." + type.stored.rawValue, mimeType: type.stored.contentType,
            suffix: "." + type.stored.rawValue)
    }

    static func prepared(
        _ file: ReceivedFile, of account: AccountID, by service: MonicaService
    ) async throws -> SpooledFile {
        do {
            if let photo = try await service.photoMaker(file.content.path, "\(account)") {
                return try await service.spooled(photo)
            }
        } catch is MonicaService.PhotoTooLarge {
            throw Monica.Problems.invalid(["The photo has too many pixels."])
        }
        throw Monica.Problems.invalid(["The photo \(mustBeImage)."])
    }

    static func withdraw(_ id: Int, at now: Int64, in db: Session) throws {
        try db.run(
            """
            UPDATE contacts SET avatar_source = NULL, avatar_photo_id = NULL, updated_at = \(now)
            WHERE avatar_photo_id = \(id)
            """)
        try db.run(
            """
            UPDATE gifts SET updated_at = \(now)
            WHERE id IN (SELECT gift_id FROM gift_photos WHERE photo_id = \(id))
            """)
        try db.run("DELETE FROM gift_photos WHERE photo_id = \(id)")
    }

    init(_ row: FileRow, by loader: RecordLoader) throws {
        self.init(
            id: row.id, uuid: row.uuid, filename: row.filename, key: row.key, size: row.size, mimeType: row.mimeType,
            link: loader.links.picture(row.key), account: loader.account.number, createdAt: row.createdAt)
    }

    func renewed(by links: FileLinks) throws -> String { links.picture(newFilename) }

    /// Returns the photos of gifts, by the gifts' ids.
    static func ofGifts(_ gifts: [Int], by loader: RecordLoader) throws -> [Int: [Self]] {
        guard !gifts.isEmpty else { return [:] }
        let pairs: [(gift: Int, photo: Int)] = try loader.db.all(
            "SELECT gift_id, photo_id FROM gift_photos WHERE gift_id IN (\(list: gifts)) ORDER BY photo_id"
        ) { (try $0.get(0), try $0.get(1)) }
        let photos = try load(Array(Set(pairs.map(\.photo))), by: loader)
        let byID = Dictionary(uniqueKeysWithValues: photos.map { ($0.id, $0) })
        return Dictionary(grouping: pairs, by: \.gift).mapValues { $0.compactMap { byID[$0.photo] } }
    }
}

/// The texts in which JSON has a file.
enum DataURL {
    /// Returns the bytes of a text in Base64, or of a `data:` URL (RFC 2397) with one; nil when it is neither.
    static func bytes(of text: String) -> Data? {
        guard text.hasPrefix("data:") else { return Data(base64Encoded: text, options: .ignoreUnknownCharacters) }
        let parts = text.split(separator: ",", maxSplits: 1)
        guard parts.count == 2, parts[0].hasSuffix(";base64") else { return nil }
        return Data(base64Encoded: String(parts[1]), options: .ignoreUnknownCharacters)
    }
}

extension MediaType {
    /// The type with which an image is stored.
    fileprivate var stored: MediaType { self == .heic ? .jpeg : self }
}

/// The pictures of contacts.
enum Avatars {
    /// Requires that a photo is one of a contact's.
    ///
    /// - Throws: A `Problem` with 404 when it is not.
    static func require(_ photo: Int, of contact: Int, in db: Session) throws {
        guard try db.exists("SELECT 1 FROM photos WHERE id = \(photo) AND contact_id = \(contact)") else {
            throw Monica.Problems.notFound(Monica.Photo.singular)
        }
    }

    /// Returns the URLs of the pictures of those contacts that have one, by the contacts' ids.
    static func urls(of contacts: [ContactRow], by loader: RecordLoader) throws -> [Int: String] {
        var urls: [Int: String] = [:]
        let photos = Dictionary(contacts.compactMap { row in row.avatarPhoto.map { ($0, row.id) } }) { first, _ in first
        }
        if !photos.isEmpty {
            let found: [(photo: Int, key: String)] = try loader.db.all(
                "SELECT id, object_key FROM photos WHERE id IN (\(list: Array(photos.keys)))"
            ) { (try $0.get(0), try $0.get(1)) }
            for (photo, key) in found { urls[photos[photo] ?? 0] = loader.links.picture(key) }
        }
        let others = contacts.filter { $0.avatarSource == "gravatar" }.map(\.id)
        guard !others.isEmpty else { return urls }
        let addresses: [(contact: Int, address: String)] = try loader.db.all(
            """
            SELECT f.contact_id, f.content FROM contact_fields f JOIN contact_field_types t ON t.id = f.type_id
            WHERE f.contact_id IN (\(list: others)) AND t.kind = \(ContactFieldKind.email.rawValue) ORDER BY f.id DESC
            """
        ) { (try $0.get(0), try $0.get(1)) }
        for (contact, address) in addresses { urls[contact] = gravatar(of: address) }
        return urls
    }

    /// Returns the URL of the picture that Gravatar has for an e-mail address, or of a silhouette.
    private static func gravatar(of address: String) -> String {
        let digits = Digest.sha256(address.trimmed.lowercased()).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            .joined()
        return "https://www.gravatar.com/avatar/\(digits)?s=250&d=mm&r=g"
    }
}
