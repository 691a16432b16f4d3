import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import NIOPosix

/// Stores objects in a bucket of S3 or a compatible server, from which clients download them directly.
///
/// Uploads are spooled to a local folder first. The credentials need `s3:GetObject`, `s3:PutObject` and
/// `s3:DeleteObject` on the objects, and `s3:ListBucket` on the bucket, without which S3 answers 403 for an object that
/// does not exist. An object has at most 5 GiB, S3's limit for one request. In a bucket with versions, a deleted object
/// is only hidden, and a lifecycle rule of the bucket should remove it.
///
/// The operations throw ``S3Error`` besides ``FileSystemError``. Temporary failures are retried; there are three
/// attempts.
public struct S3ObjectStore: ObjectStore {
    private static let abandonedAfter: Int64 = 86_400
    /// The header that names the upload of an object, see ``put(_:at:contentType:)``.
    private static let uploadHeader = "x-amz-meta-upload"
    /// The lifetimes of URLs that servers accept: up to a week.
    private static let lifetimes: ClosedRange<Int64> = 1...604_800

    let location: S3Location
    let client: S3Client
    private let spoolFolder: String
    private let reserve: DiskReserve?
    private let threads: NIOThreadPool
    private let pageSize: Int
    private let shutdown: @Sendable () async throws -> Void
    /// The uploads that are being sent to S3, each with a local file.
    private let uploads = ConcurrencyLimit(limit: 128)
    private let readiness = CachedCheck()
    let hold = DeletionHold()

    /// Creates the spool folder if it does not exist, and removes uploads in it that were not written to for a day. It
    /// does not connect to S3; ``check()`` does.
    ///
    /// It blocks and is meant for the start. It throws ``FileSystemError`` or an error of `FileManager`.
    /// - Parameters:
    ///   - location: The bucket, and the store's own folder in it (``S3Location/folder(_:)``).
    ///   - credentials: The credentials that sign the requests and the URLs.
    ///   - spoolFolder: The path of this store's folder for unfinished uploads.
    ///   - reserve: The space that uploads leave free on the folder's disk; nil for none.
    ///   - now: Returns the time in Unix seconds.
    ///   - threads: The threads that wait for the file system.
    public init(
        location: S3Location, credentials: S3Credentials, spoolFolder: String, reserve: DiskReserve? = nil,
        now: @escaping @Sendable () -> Int64, threads: NIOThreadPool = .singleton
    ) throws {
        let patience = TimeAmount.seconds(Int64(location.patience))
        let http = HTTPClient.forS3(patience: patience)
        let client = S3Client(
            location: location, signature: SignatureV4(credentials: credentials, region: location.region), now: now,
            sleep: { try await Task.sleep(for: $0) }, send: { try await http.answer(to: $0, within: $1) },
            open: { try await http.execute($0, timeout: $1) }, patience: patience)
        try self.init(client: client, spoolFolder: spoolFolder, reserve: reserve, threads: threads) {
            try await http.shutdown()
        }
    }

    init(
        client: S3Client, spoolFolder: String, reserve: DiskReserve? = nil, threads: NIOThreadPool = .singleton,
        pageSize: Int = 1000,
        shutdown: @escaping @Sendable () async throws -> Void = {}
    ) throws {
        self.location = client.location
        self.client = client
        self.spoolFolder = spoolFolder
        self.reserve = reserve
        self.threads = threads
        self.pageSize = pageSize
        self.shutdown = shutdown
        try FileManager.default.createDirectory(
            atPath: spoolFolder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try SpooledFile.removeAbandoned(in: spoolFolder, olderThan: client.now() - Self.abandonedAfter)
    }

    /// Closes the connections to S3; the store cannot be used afterwards.
    public func close() async throws {
        try await shutdown()
    }

    public func spool() async throws -> SpooledFile {
        // The check comes first, so that the server does not receive an upload that it cannot store.
        try client.breaker.check("PutObject")
        return try await SpooledFile(folder: spoolFolder, reserve: reserve, threads: threads)
    }

    /// Stores an object with the content type that ``Download`` would serve.
    ///
    /// An existing object is not replaced: this is checked first, and also a condition of the upload (`If-None-Match:
    /// *`). On servers that do not support the condition, the later of two simultaneous uploads to one key would win.
    public func put(_ file: SpooledFile, at key: ObjectKey, contentType: String) async throws {
        try await file.finish()
        // The name contains a UUID. When an answer is lost, it shows whether the object is this upload's.
        let upload = String(file.path.split(separator: "/").last ?? "")
        let done: Void? = try await uploads.run {
            if let object = try await head(key) {
                guard object.upload == upload else { throw ObjectStoreError.exists(key) }
            } else {
                try await self.upload(file, at: key, contentType: contentType, as: upload)
            }
        }
        guard done != nil else {
            throw S3Error(
                operation: "PutObject", status: nil, code: nil, message: "not asked: too many uploads are under way")
        }
        // The object is stored. A file that cannot be removed now is removed with its last reference, or at the start.
        try? await file.discard()
    }

    private func upload(_ file: SpooledFile, at key: ObjectKey, contentType: String, as upload: String) async throws {
        var call = call("PutObject", "PUT", key)
        // The timeout allows for 256 KiB a second, and a minute for the rest.
        call.timeout = .seconds(60 + file.count / 262_144)
        call.body = (
            .stream(FileChunks(path: file.path, threads: threads), length: .known(file.count)), file.sha256
        )
        call.headers = [
            ("Content-Type", Download(filename: "", contentType: contentType).contentType),
            (Self.uploadHeader, upload),
        ]
        var conditional = call
        conditional.headers.append(("If-None-Match", "*"))
        var response = try await client.perform(conditional)
        if response.status == 501 || response.code == "NotImplemented" { response = try await client.perform(call) }
        switch response.status {
        case 200..<300: return
        case 412:
            guard try await head(key)?.upload == upload else { throw ObjectStoreError.exists(key) }
        default: throw S3Error(call.operation, response)
        }
    }

    public func delete(_ key: ObjectKey) async throws {
        let day = StoreNames.day(of: client.now())
        if hold.note(key, day: day) { return try await discard(key, on: day) }
        try await delete(at: location.path(of: key))
    }

    func delete(at path: String) async throws {
        let call = S3Call(operation: "DeleteObject", method: "DELETE", path: path)
        let response = try await client.perform(call)
        let isGone = response.status == 404 && response.code != "NoSuchBucket"
        guard isGone || 200..<300 ~= response.status else { throw S3Error(call.operation, response) }
    }

    public func attributes(of key: ObjectKey) async throws -> ObjectAttributes? {
        try await head(key)?.attributes
    }

    public func content(of key: ObjectKey, in range: Range<Int64>) async throws -> [UInt8]? {
        if range.isEmpty { return try await head(key).map { _ in [] } }
        var call = call("GetObject", "GET", key)
        call.headers = [("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")]
        let response = try await client.perform(call)
        switch response.status {
        case 404 where response.code != "NoSuchBucket": return nil
        // Some servers answer 200 for a range, too.
        case 200 where response.headers["content-range"] != nil, 206: return Array(response.body.readableBytesView)
        // This answer is for an empty object, or comes from a server without ranges.
        case 200: return Array(response.body.readableBytesView.dropFirst(Int(range.lowerBound)).prefix(range.count))
        // A range beyond the end is empty.
        case 416: return []
        default: throw S3Error(call.operation, response)
        }
    }

    /// Opens an object, with one request for any size.
    public func open(_ key: ObjectKey, in range: Range<Int64>) async throws -> ObjectContent? {
        if range.isEmpty { return try await head(key).map { _ in ObjectContent { _ in } } }
        var call = call("GetObject", "GET", key)
        call.headers = [("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")]
        let (head, body) = try await client.stream(call)
        switch head.status {
        case 404 where head.code != "NoSuchBucket": return nil
        case 200, 206: break
        default: throw S3Error(call.operation, head)
        }
        // Some servers answer 200 for a range, too; a server without ranges sends the whole.
        let isPart = head.status == 206 || head.headers["content-range"] != nil
        return ObjectContent { write in
            var skipped = isPart ? 0 : range.lowerBound
            var rest = range.upperBound - range.lowerBound
            for try await var piece in body where rest > 0 {
                let surplus = min(skipped, Int64(piece.readableBytes))
                piece.moveReaderIndex(forwardBy: Int(surplus))
                skipped -= surplus
                guard let wanted = piece.readSlice(length: Int(min(rest, Int64(piece.readableBytes)))),
                    wanted.readableBytes > 0
                else { continue }
                rest -= Int64(wanted.readableBytes)
                try await write(wanted)
            }
            guard rest == 0 else { throw ObjectContent.CutShort() }
        }
    }

    private func head(_ key: ObjectKey) async throws -> (attributes: ObjectAttributes, upload: String?)? {
        let call = call("HeadObject", "HEAD", key)
        let response = try await client.perform(call)
        if response.status == 404 { return nil }
        guard response.status == 200, let size = response.headers["content-length"].flatMap({ Int64($0) }) else {
            throw S3Error(call.operation, response)
        }
        let modified = response.headers["last-modified"].flatMap { HTTPDate.seconds($0) }
        return (ObjectAttributes(size: size, modified: modified), response.headers[Self.uploadHeader])
    }

    /// Returns a page of keys, which has a thousand objects. The cursor is S3's. Other objects in the folder whose
    /// names are not an ``ObjectKey`` are ignored.
    public func keys(olderThan cutoff: Int64, after cursor: String?) async throws -> ObjectKeyPage {
        let listing = try await listing(of: location.prefix, after: cursor)
        let keys = listing.entries.compactMap { entry in
            guard entry.modified < cutoff, entry.name.hasPrefix(location.prefix) else { return nil as ObjectKey? }
            return ObjectKey(String(entry.name.dropFirst(location.prefix.count)))
        }
        return ObjectKeyPage(keys: keys, next: listing.next)
    }

    /// Returns the keys of all objects that begin with `prefix`, in no particular order.
    public func keys(under prefix: String) async throws -> [ObjectKey] {
        var (keys, cursor): ([ObjectKey], String?) = ([], nil)
        repeat {
            let page = try await listing(of: location.prefix + prefix, after: cursor)
            keys += page.entries.compactMap { ObjectKey(String($0.name.dropFirst(location.prefix.count))) }
            cursor = page.next
        } while cursor != nil
        return keys
    }

    /// Returns a page of the objects whose names begin with `prefix`.
    func listing(of prefix: String, after cursor: String?) async throws -> ObjectListing {
        var call = S3Call(operation: "ListObjectsV2", method: "GET", path: location.bucketPath)
        // No client waits for this call.
        call.timeout = .seconds(30)
        call.query = [
            ("list-type", "2"), ("encoding-type", "url"), ("max-keys", String(pageSize)), ("prefix", prefix),
        ]
        if let cursor { call.query.append(("continuation-token", cursor)) }
        let response = try await client.perform(call)
        guard response.status == 200, let listing = ObjectListing(response.body) else {
            throw S3Error(call.operation, response)
        }
        return listing
    }

    /// Returns a presigned URL of S3, which is valid for a week at most: a longer time throws ``S3Error``.
    ///
    /// It expires earlier when the credentials do. S3 sends the type and the disposition of `download`. It cannot be
    /// made to send `X-Content-Type-Options`, but it is another origin, so a page there has access to nothing.
    public func downloadURL(for key: ObjectKey, as download: Download, expiresIn seconds: Int64) throws -> String {
        let disposition = download.disposition.fieldValue(filename: download.filename)
        let query = [
            ("response-content-type", download.contentType), ("response-content-disposition", disposition),
        ]
        return try presigned("GET", key, query: query, expiresIn: seconds)
    }

    /// Returns an absolute URL that accepts a PUT of the object without credentials for `seconds` from now, and
    /// replaces an existing object.
    ///
    /// With a `size` the body must have exactly this number of bytes, and with a `contentType` the request must have
    /// this header.
    public func uploadURL(
        for key: ObjectKey, size: Int64? = nil, contentType: String? = nil, expiresIn seconds: Int64
    ) throws -> String {
        var headers: SignatureV4.Request.Fields = []
        if let size { headers.append(("Content-Length", String(size))) }
        if let contentType { headers.append(("Content-Type", contentType)) }
        return try presigned("PUT", key, headers: headers, expiresIn: seconds)
    }

    /// Returns a URL for an upload. S3 supports an exact size, but no limit, so the body must have exactly `size`
    /// bytes.
    public func uploadURL(for key: ObjectKey, upTo size: Int64, expiresIn seconds: Int64) throws -> String {
        try uploadURL(for: key, size: size, contentType: nil, expiresIn: seconds)
    }

    private func presigned(
        _ method: String, _ key: ObjectKey, query: SignatureV4.Request.Fields = [],
        headers: SignatureV4.Request.Fields = [], expiresIn seconds: Int64
    ) throws -> String {
        guard Self.lifetimes.contains(seconds) else {
            throw S3Error(
                operation: "presigned \(method)", status: nil, code: nil,
                message: "a URL is good for \(Self.lifetimes.lowerBound) to \(Self.lifetimes.upperBound) seconds")
        }
        let request = SignatureV4.Request(
            method: method, host: location.host, path: location.path(of: key), query: query, headers: headers)
        let signed = client.signature.presignedQuery(for: request, at: client.now(), expiresIn: seconds)
        return location.url(of: request, query: signed)
    }

    /// Checks that the bucket exists. The request takes 4 seconds at most, and is repeated every 3 seconds at most.
    /// Whether objects can be written is only known from writing.
    public func check() async throws {
        try await readiness.run { [client, location] in
            var call = S3Call(operation: "HeadBucket", method: "HEAD", path: location.bucketPath)
            call.attempts = 1
            let response = try await client.perform(call)
            guard response.status == 200 else { throw S3Error(call.operation, response) }
        }
    }

    /// Checks that the bucket exists, without writing anything.
    public func reach() async throws { try await check() }

    private func call(_ operation: String, _ method: String, _ key: ObjectKey) -> S3Call {
        S3Call(operation: operation, method: method, path: location.path(of: key))
    }
}
