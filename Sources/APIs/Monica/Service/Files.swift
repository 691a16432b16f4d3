import Backend
import Contract
import ContractServer
import Database
import Foundation
import Identity
import MonicaAPI
import NIOCore
import ObjectStore

/// A file of a contact, as it is stored: a row that names an object.
protocol StoredFile: OfContact, Monica.FileOfContact {
    /// Takes the file out of a request, and judges it.
    static func content(of request: Monica.Store<Self>, _ input: inout FormReader, by service: MonicaService)
        async throws
        -> ReceivedFile?
    /// Judges a file by its first bytes.
    ///
    /// - Parameter filename: The name that the sender declared, if any.
    /// - Returns: Nil for a file that is none of this kind.
    static func received(_ file: SpooledFile, named filename: String?) throws -> ReceivedFile?
    /// Returns the content with which a received file is stored.
    ///
    /// - Throws: A `Problem` with 422 when it is none.
    static func prepared(_ file: ReceivedFile, of account: AccountID, by service: MonicaService) async throws
        -> SpooledFile
    /// Takes a file that is about to be deleted away from what shows it.
    static func withdraw(_ id: Int, at now: Int64, in db: Session) throws
    /// Makes a file of its row.
    init(_ row: FileRow, by loader: RecordLoader) throws
    var newFilename: String { get }
    var link: String { get set }
    /// Returns the file's link, good from now on.
    func renewed(by links: FileLinks) throws -> String
}

/// A file that has come, and is not stored yet.
struct ReceivedFile: Sendable {
    let content: SpooledFile
    let filename: String
    /// The media type, by the content.
    let mimeType: String
    /// The end of the object's name, by which it is served; empty for what is served as an attachment.
    var suffix = ""
}

/// A file whose object is stored, and whose row is not there yet.
struct StoredContent: Sendable {
    let key: ObjectKey
    let filename: String
    let size: Int64
    let mimeType: String

    /// Inserts the row.
    ///
    /// - Returns: Its id.
    func insert(
        into table: SQL, uuid: String, of contact: Int, _ account: AccountID, at time: Int64, in db: Session
    ) throws -> Int? {
        try db.insert(
            """
            INSERT INTO \(table) (uuid, account_id, contact_id, filename, object_key, size, mime_type, created_at)
            VALUES (\(uuid), \(account), \(contact), \(filename), \(key.rawValue), \(size), \(mimeType), \(time))
            """)
    }
}

/// The row of a file.
struct FileRow {
    let id: Int
    let uuid: String
    let filename: String
    let key: String
    let size: Int
    let mimeType: String
    let createdAt: Monica.Timestamp

    enum Column: String, Columns {
        case uuid = "t.uuid"
        case filename = "t.filename"
        case key = "t.object_key"
        case size = "t.size"
        case mimeType = "t.mime_type"
        case createdAt = "t.created_at"

        static let list = ColumnList(Self.self)
    }

    init(_ id: Int, _ row: borrowing Row) throws {
        self.id = id
        uuid = try row.get(Column.uuid)
        filename = try row.get(Column.filename)
        key = try row.get(Column.key)
        size = try row.get(Column.size)
        mimeType = try row.get(Column.mimeType)
        createdAt = try row.get(Column.createdAt)
    }
}

extension StoredFile {
    static func owned(by account: AccountID) -> SQL { "t.account_id = \(account)" }

    /// A file never changes, so the time of its last change is that of its creation.
    static func order(by sort: Monica.Sort<Monica.FileOrder>?) -> ListOrder {
        .order("t.created_at", descending: sort?.isDescending ?? false)
    }

    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self] {
        try load(ids, FileRow.Column.self, by: loader) { id, row in try Self(FileRow(id, row), by: loader) }
    }
}

extension MonicaService {
    /// Adds every operation of a contact's files.
    func filesOfContacts<Item: StoredFile>(_ routes: inout Routes<Monica, Caller>, of _: Item.Type) {
        lists(&routes, of: Item.self)
        routes.on(answering: { (request: Monica.Store<Item>, caller: Caller, info: RequestInfo) in
            try await self.store(request, from: caller, info)
        })
        routes.on { (request: Monica.Delete<Item>, caller: Caller) in
            try await self.deleteFile(request, from: caller)
        }
    }

    private func store<Item: StoredFile>(
        _ request: Monica.Store<Item>, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<Item>> {
        let (now, account) = (time.milliseconds(), caller.account)
        if let replay: Answer<APIResponse<Item>> = try await database.replay(
            info.idempotencyKey, errorMessages: Monica.errorMessages, at: now)
        {
            return try renewed(replay)
        }
        var input = FormReader(request.form)
        let contact = input.integer("contact_id", required: true) ?? 0
        let received = try await Item.content(of: request, &input, by: self)
        try input.check()
        guard let received else { throw Monica.Problems.notFound(Item.singular) }
        // All is checked again in the write, because two concurrent uploads may each have found room.
        let admit = { @Sendable [uploadThrottle, limits] (size: Int64, db: Session) in
            guard try Contacts.exists(contact, of: account, in: db) else {
                throw Monica.Problems.notFound(Monica.Contact.singular)
            }
            try uploadThrottle.requireRoom("\(account)", at: now, in: db)
            try Files.requireRoom(for: size, of: account, quota: limits.storageQuota, in: db)
        }
        try await database.read { try admit(0, $0) }
        let object = try await storeObject(Item.self, received, of: account)
        do {
            return try await renewed(
                database.write(info.idempotencyKey, errorMessages: Monica.errorMessages, at: now) {
                    [loader = loader(of: account), makeID, uploadThrottle] db in
                    try Accounts.lockCaller(account, in: db)
                    try admit(object.size, db)
                    try uploadThrottle.count("\(account)", at: now, in: db)
                    let id = try object.insert(
                        into: Item.table, uuid: makeID(), of: contact, account, at: now, in: db)
                    guard let item = try id.flatMap({ try Item.one($0, by: loader(db)) }) else {
                        throw DatabaseFailure.failed("no row")
                    }
                    return Answer(.created, APIResponse(data: item))
                })
        } catch let problem as Problem {
            // No row was written. After any other failure, or when another request's answer is repeated, that is not
            // certain here; objects that no row names are swept later.
            try? await objects.delete(object.key)
            throw problem
        }
    }

    /// Stores the content of a file. Its row names the object; one that no row names is swept.
    ///
    /// - Throws: A `Problem` with 422 for a photo that cannot be read, or with 429 or 503 when it cannot be converted now.
    func storeObject<Item: StoredFile>(
        _: Item.Type, _ received: ReceivedFile, of account: AccountID
    ) async throws -> StoredContent {
        let content = try await Item.prepared(received, of: account, by: self)
        guard let key = ObjectKey("\(Item.plural)/\(makeID())\(received.suffix)") else {
            throw Problem(.internalServerError, Monica.errorMessages.internalError)
        }
        try await objects.put(content, at: key, contentType: received.mimeType)
        return StoredContent(
            key: key, filename: received.filename, size: content.count, mimeType: received.mimeType)
    }

    /// Returns a repeated answer with a link that is valid from now on, and any other answer unchanged.
    private func renewed<Item: StoredFile>(
        _ answer: Answer<APIResponse<Item>>
    ) throws -> Answer<APIResponse<Item>> {
        guard answer.isReplay else { return answer }
        var response = try answer.decoded()
        response.data.link = try response.data.renewed(by: files.links)
        return Answer(answer.status, response, headers: answer.headers)
    }

    private func deleteFile<Item: StoredFile>(
        _ request: Monica.Delete<Item>, from caller: Caller
    ) async throws -> Monica.Deletion {
        let now = time.milliseconds()
        let key = try await database.write { [loader = loader(of: caller.account)] db in
            try Accounts.lockCaller(caller.account, in: db)
            guard let file = try Item.one(request.id, by: loader(db)) else {
                throw Monica.Problems.notFound(Item.singular)
            }
            try Item.withdraw(request.id, at: now, in: db)
            try db.run("DELETE FROM \(Item.table) WHERE id = \(request.id)")
            return file.newFilename
        }
        await removeObjects([key])
        return .init(id: request.id)
    }

    /// Removes the objects of files whose rows were deleted. One that cannot be removed now is swept later.
    func removeObjects(_ keys: [String]) async {
        for key in keys.compactMap(ObjectKey.init) { try? await objects.delete(key) }
    }

    /// Writes bytes to a file that can be stored.
    func spooled(_ bytes: some Sequence<UInt8>) async throws -> SpooledFile {
        let file = try await objects.spool()
        try await file.append(ByteBuffer(bytes: bytes))
        return file
    }

}

extension SpooledFile {
    /// Returns the first bytes, by which the type of a file is known.
    func head() throws -> [UInt8] {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        return [UInt8](try handle.read(upToCount: MediaType.headSize) ?? Data())
    }
}

extension Upload {
    /// The file on the server's disk.
    var spooledFile: SpooledFile? {
        if case .spooled(let content) = content { content as? SpooledFile } else { nil }
    }
}

/// Makes links by which apps fetch files without a token.
struct FileServer: Sendable {
    /// The folder of the photos' keys, and of the URLs that show them.
    static let pictureFolder = "photos"
    /// Apps keep a picture as long as its link stays the same.
    static let cacheControl = "private, max-age=86400, immutable"

    let objects: any ObjectStore
    let pictures: ExpiringURLs
    let publicURL: String
    let time: TimeSource

    init(_ objects: any ObjectStore, secret: Secret, publicURL: String, time: TimeSource) {
        self.objects = objects
        pictures = ExpiringURLs(secret: secret, purpose: "monica photos")
        self.publicURL = publicURL
        self.time = time
    }

    /// The links in the answer to the present request. Ask for them before a transaction.
    var links: FileLinks {
        let origin = LinkOrigin.current(else: publicURL)
        let attachment = LinkOrigin.keeping { [objects] (file: (key: String, download: Download)) in
            guard let key = ObjectKey(file.key) else { throw DatabaseFailure.failed("\(file.key) is no key") }
            return try objects.downloadURL(for: key, as: file.download, expiresIn: FileLinks.documentLifetime)
        }
        return FileLinks(
            picture: { [pictures, now = time.milliseconds()] key in
                "\(origin)/\(key)?\(pictures.query(for: "/" + key, at: now))"
            }, attachment: { try attachment(($0, $1)) })
    }

    /// Refuses a request for a picture without a link of this server's that is still good.
    func admit(_ path: String, _ query: String?) throws {
        guard case .valid = pictures.verdict(on: query, for: path, at: time.milliseconds()) else {
            throw Problem(.forbidden, "Invalid or expired link")
        }
    }
}

/// The links to files in one answer.
struct FileLinks: Sendable {
    /// The lifetime of a document's link, in seconds.
    static let documentLifetime: Int64 = 3600
    /// No links, for what no app reads.
    static let none = FileLinks(picture: { _ in "" }, attachment: { _, _ in "" })

    /// Returns the link of a picture, which is the same for a day, so that apps keep what they have fetched.
    let picture: @Sendable (_ key: String) -> String
    /// Returns the link of a file that browsers save.
    let attachment: @Sendable (_ key: String, _ download: Download) throws -> String
}

enum Files {
    /// Returns the size of an account's files in bytes.
    static func storage(of account: AccountID, in db: Session) throws -> Int64 {
        try db.value(
            """
            SELECT (SELECT COALESCE(SUM(size), 0) FROM photos WHERE account_id = \(account))
                + (SELECT COALESCE(SUM(size), 0) FROM documents WHERE account_id = \(account))
            """) ?? 0
    }

    /// Requires that an account has room for a file.
    ///
    /// - Throws: A `Problem` with 413 when it has none.
    static func requireRoom(for size: Int64, of account: AccountID, quota: Int64, in db: Session) throws {
        try requireRoom(for: size, beside: storage(of: account, in: db), quota: quota)
    }

    /// Requires that an account whose files have a size in all has room for another.
    ///
    /// - Throws: A `Problem` with 413 when it has none.
    static func requireRoom(for size: Int64, beside storage: Int64, quota: Int64) throws(Problem) {
        guard storage + size <= quota else { throw Problem.quotaExceeded }
    }

    /// Deletes the files of contacts.
    ///
    /// - Returns: The keys of their objects, which are to be removed once the transaction is committed.
    static func delete(of contacts: [Int], in db: Session) throws -> [String] {
        try db.run(
            """
            DELETE FROM gift_photos WHERE photo_id IN (SELECT id FROM photos WHERE contact_id IN (\(list: contacts)))
                OR gift_id IN (SELECT id FROM gifts WHERE contact_id IN (\(list: contacts)))
            """)
        var keys: [String] = []
        for table: SQL in ["photos", "documents"] {
            keys += try db.all(
                "DELETE FROM \(table) WHERE contact_id IN (\(list: contacts)) RETURNING object_key"
            ) { try $0.get(0) }
        }
        return keys
    }

    /// Returns some files of an account for its archive, in the order of their keys.
    static func archived(of account: AccountID, after last: ArchivedFile?, in db: Session) throws -> [ArchivedFile] {
        let key = last?.id ?? ""
        return try db.all(
            """
            SELECT object_key, folder, id, filename FROM (
                SELECT object_key, 'photos' AS folder, id, filename FROM photos WHERE account_id = \(account)
                UNION ALL SELECT object_key, 'documents', id, filename FROM documents WHERE account_id = \(account)
            ) AS files WHERE object_key > \(key) ORDER BY object_key LIMIT 200
            """
        ) { row in
            let (key, folder, id): (String, String, Int) = (try row.get(0), try row.get(1), try row.get(2))
            return ArchivedFile(id: key, name: "\(folder)/\(id)-\(try row.get(3, as: String.self))", key: key)
        }
    }
}
