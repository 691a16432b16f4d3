import AsyncHTTPClient
import Crypto
import NIOCore

// The id is the object `.concord/store-id` in the store's folder. The trash is below `.concord/trash/`: a folder for
// each day, in which objects have their keys.
extension S3ObjectStore {
    private var identityName: String { "\(StoreNames.folder)/\(StoreNames.identity)" }
    private var trash: String { "\(StoreNames.folder)/\(StoreNames.trash)/" }

    public func identity() async throws -> String? {
        let path = location.path(named: identityName)
        let call = S3Call(operation: "GetObject", method: "GET", path: path)
        let response = try await client.perform(call)
        switch response.status {
        case 404 where response.code != "NoSuchBucket": return nil
        case 200: return try StoreNames.identity(in: String(buffer: response.body), at: path)
        default: throw S3Error(call.operation, response)
        }
    }

    /// Gives the store an id. An existing id is not replaced: this is checked first, and also a condition of the
    /// request, as in ``put(_:at:contentType:)``.
    public func identify(as id: String) async throws -> Bool {
        if try await identity() != nil { return false }
        let text = Array((id + "\n").utf8)
        var call = S3Call(operation: "PutObject", method: "PUT", path: location.path(named: identityName))
        call.body = (.bytes(ByteBuffer(bytes: text)), Array(SHA256.hash(data: text)))
        call.headers = [("Content-Type", "text/plain")]
        var conditional = call
        conditional.headers.append(("If-None-Match", "*"))
        var response = try await client.perform(conditional)
        if response.status == 501 || response.code == "NotImplemented" { response = try await client.perform(call) }
        switch response.status {
        case 200..<300: return true
        // An answer may have been lost, so the id may be that of this call's first attempt.
        case 412: return try await identity() == id
        default: throw S3Error(call.operation, response)
        }
    }

    /// Copies the object and then removes it. A failure in between leaves both.
    public func discard(_ key: ObjectKey) async throws {
        try await discard(key, on: StoreNames.day(of: client.now()))
    }

    func discard(_ key: ObjectKey, on day: String) async throws {
        let name = trash + day + "/" + key.rawValue
        var call = S3Call(operation: "CopyObject", method: "PUT", path: location.path(named: name))
        call.headers = [("x-amz-copy-source", location.source(of: key))]
        // The server copies, which takes time for a large object.
        call.timeout = .seconds(300)
        let response = try await client.perform(call)
        if response.status == 404, response.code == "NoSuchKey" { return }
        // A copy that fails half way is answered with 200 and an error in the body.
        guard 200..<300 ~= response.status, XMLElements(response.body)?.first("CopyObjectResult/ETag") != nil else {
            throw S3Error(call.operation, response)
        }
        try await delete(at: location.path(of: key))
    }

    public func keepingDeleted<T>(_ body: () async throws -> T) async throws -> T {
        try await hold.whileHeld(body) { object in
            try await delete(at: location.path(named: trash + object.day + "/" + object.key.rawValue))
        }
    }

    public func openKept(_ key: ObjectKey) async throws -> StoredObject? {
        let names =
            [key.rawValue]
            + StoreNames.daysInTrash(at: client.now()).map { trash + $0 + "/" + key.rawValue }
        // It may be moved to the trash after the first look, so the first place is looked at again at the end.
        for name in names + names.prefix(1) {
            if let object = try await openWhole(location.path(named: name)) { return object }
        }
        return nil
    }

    private func openWhole(_ path: String) async throws -> StoredObject? {
        let call = S3Call(operation: "GetObject", method: "GET", path: path)
        let (head, body) = try await client.stream(call)
        if head.status == 404, head.code != "NoSuchBucket" { return nil }
        guard head.status == 200, let size = head.headers["content-length"].flatMap({ Int64($0) }) else {
            throw S3Error(call.operation, head)
        }
        let modified = head.headers["last-modified"].flatMap { HTTPDate.seconds($0) }
        return StoredObject(
            attributes: ObjectAttributes(size: size, modified: modified),
            content: ObjectContent { write in
                var rest = size
                for try await piece in body {
                    rest -= Int64(piece.readableBytes)
                    try await write(piece)
                }
                guard rest == 0 else { throw ObjectContent.CutShort() }
            })
    }

    public func emptyTrash(before cutoff: Int64) async throws -> Int {
        if hold.isActive { return 0 }
        let prefix = location.prefix + trash
        var (count, cursor): (Int, String?) = (0, nil)
        repeat {
            let page = try await listing(of: prefix, after: cursor)
            for entry in page.entries where entry.name.hasPrefix(prefix) {
                let day = entry.name.dropFirst(prefix.count).prefix { $0 != "/" }
                guard StoreNames.isOver(String(day), before: cutoff) else { continue }
                try await delete(at: location.path(named: String(entry.name.dropFirst(location.prefix.count))))
                count += 1
            }
            cursor = page.next
        } while cursor != nil
        return count
    }
}
