import Foundation
import Testing

@testable import ObjectStore

@Suite(.timeLimit(.minutes(30))) struct SignedURLTests {
    private static let start: Int64 = 1_700_000_000

    private let folder: TemporaryFolder
    private let store: LocalObjectStore
    private let key: ObjectKey

    init() throws {
        folder = try TemporaryFolder()
        store = try LocalObjectStore(in: folder, at: Self.start)
        key = try #require(ObjectKey("ab/c-1_x.png"))
    }

    private func query(_ download: Download = Download(filename: "ä b&c=d?.png", contentType: "image/png")) throws
        -> String
    {
        let url = try store.downloadURL(for: key, as: download, expiresIn: 3600)
        let prefix = "http://localhost:8080/objects/ab/c-1_x.png?"
        try #require(url.hasPrefix(prefix))
        return String(url.dropFirst(prefix.count))
    }

    @Test func `the URL is a URL, with the parameters of the design in their order`() throws {
        let query = try query()
        let components = try #require(URLComponents(string: "http://h/p?" + query))
        let items = try #require(components.queryItems)
        #expect(items.map(\.name) == ["expires", "name", "type", "disposition", "signature"])
        #expect(items.dropLast().map(\.value) == ["1700003600", "ä b&c=d?.png", "image/png", "attachment"])
        #expect(URL(string: "http://h/p?" + query)?.absoluteString == "http://h/p?" + query)
    }

    @Test func `a signature is 32 bytes in base64url without padding`() throws {
        for number in 0..<50 {
            let query = try query(Download(filename: "\(number).png", contentType: "image/png"))
            let signature = try #require(query.components(separatedBy: "&signature=").last)
            #expect(signature.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil, "\(signature)")
        }
    }

    @Test(arguments: ["GET", "HEAD"])
    func `a signed URL is served`(method: String) throws {
        let found = try store.verify(method: method, path: key.rawValue, query: query())
        #expect(found.key == key)
        #expect(found.download.filename == "ä b&c=d?.png")
        #expect(found.contentType == "image/png")
        #expect(found.contentDisposition.hasPrefix("attachment; filename=\"_ b&c=d?.png\"; filename*="))
    }

    @Test(arguments: ["", "&", "%", "a&signature=b", "\r\n", "é\0", "x=y&disposition=inline", "+", "🔑"])
    func `any name survives`(name: String) async throws {
        try await store.put("", at: key)
        for disposition in [ContentDisposition.attachment, .inline] {
            let download = Download(filename: name, contentType: "text/html", disposition: disposition)
            let found = try store.verify(method: "GET", path: key.rawValue, query: query(download))
            #expect(found.download == download)
            #expect(found.contentType == "application/octet-stream")
        }
    }

    @Test func `a base URL may end in a slash`() throws {
        let store = try LocalObjectStore(
            folder: folder.path, keys: signingKeys(1), baseURL: "https://a.b/c/", now: { 0 })
        let url = try store.downloadURL(for: key, as: Download(filename: "", contentType: ""), expiresIn: .max)
        #expect(url.hasPrefix("https://a.b/c/ab/c-1_x.png?expires=604800&name=&"))
    }

    @Test func `a URL is valid for a week at most`() throws {
        let url = try store.downloadURL(for: key, as: Download(filename: "", contentType: ""), expiresIn: .max)
        #expect(url.contains("?expires=\(Self.start + 604_800)&"))
    }

    @Test func `a URL from another year is not believed`() async throws {
        try await store.put("x", at: key)
        let query = try query()
        for seconds in [Int64(31_536_000), 604_800] {
            let before = try LocalObjectStore(in: folder, at: Self.start - seconds)
            #expect(throws: SignedURLError.expired) {
                try before.verify(method: "GET", path: key.rawValue, query: query)
            }
        }
    }

    @Test(arguments: [(3599, nil), (3600, .expired), (3601, .expired)] as [(Int64, SignedURLError?)])
    func `a URL ends at its second`(seconds: Int64, expected: SignedURLError?) async throws {
        try await store.put("x", at: key)
        let query = try query()
        let later = try LocalObjectStore(in: folder, at: Self.start + seconds)
        if let expected {
            #expect(throws: expected) { try later.verify(method: "GET", path: key.rawValue, query: query) }
        } else {
            #expect(throws: Never.self) {
                try later.verify(method: "GET", path: key.rawValue, query: query)
            }
        }
    }

    // MARK: Tampering

    private func expectRefused(method: String = "GET", path: String? = nil, query: String) async {
        #expect(throws: SignedURLError.badSignature, "\(method) \(path ?? key.rawValue) \(query)") {
            try store.verify(method: method, path: path ?? key.rawValue, query: query)
        }
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "get", "Get", "head", "", "GET ", "OPTIONS", "GET\n"])
    func `other methods are refused`(method: String) async throws {
        try await store.put("x", at: key)
        try await expectRefused(method: method, query: query())
    }

    @Test(arguments: [
        "", "/ab/c-1_x.png", "ab/c-1_x.png/", "ab/c-1_x.pn", "ab/C-1_x.png", "ab//c-1_x.png", "ab/./c-1_x.png",
        "x/../ab/c-1_x.png", "ab%2Fc-1_x.png", "ab/c%2D1_x.png", "../objects/ab/c-1_x.png", "..", "/etc/passwd",
        "../../../../etc/passwd", "ab/c-1_x.png\n", "ab/c-1_x.png\0", "ab",
    ])
    func `other keys are refused`(path: String) async throws {
        try await store.put("x", at: key)
        try await expectRefused(path: path, query: query())
    }

    @Test func `the URL of one object does not open another, nor that of another key`() async throws {
        let other = try #require(ObjectKey("ab/other"))
        try await store.put("x", at: other)
        try await expectRefused(path: other.rawValue, query: query())
        let stranger = try LocalObjectStore(in: folder, at: Self.start, key: 2)
        let foreign = try stranger.downloadURL(for: key, as: Download(filename: "a", contentType: ""), expiresIn: 9)
        await expectRefused(query: String(foreign.drop { $0 != "?" }.dropFirst()))
    }

    /// Returns the meaning of a query, independent of its spelling.
    private func meaning(_ query: [UInt8]) -> [String?] {
        let text = String(decoding: query, as: UTF8.self).replacingOccurrences(of: "+", with: "%20")
        return text.components(separatedBy: "&").map(\.removingPercentEncoding)
    }

    @Test func `no byte of what the query says can be changed, dropped or added`() async throws {
        try await store.put("x", at: key)
        let query = try Array(query().utf8)
        let meaning = meaning(query)
        var generator = SeededGenerator(state: 42)
        for index in query.indices {
            let samples = (0..<12).map { _ in UInt8.random(in: 1...126, using: &generator) }
            for byte in samples + Array("&=%+;09aAzZ-_".utf8) where byte != query[index] {
                var changed = query
                changed[index] = byte
                for changed in [changed, Array(query[..<index] + [byte] + query[index...])]
                where self.meaning(changed) != meaning {
                    await expectRefused(query: String(decoding: changed, as: UTF8.self))
                }
            }
            var shorter = query
            shorter.remove(at: index)
            await expectRefused(query: String(decoding: shorter, as: UTF8.self))
        }
    }

    @Test func `parameters cannot be added, repeated, moved or left out`() async throws {
        try await store.put("x", at: key)
        let query = try query()
        let items = query.split(separator: "&").map(String.init)
        for index in items.indices {
            var fewer = items
            fewer.remove(at: index)
            await expectRefused(query: fewer.joined(separator: "&"))
            for position in 0...items.count {
                for extra in [items[index], "expires=9999999999", "type=text/html", "x=y", "", "signature="] {
                    var more = items
                    more.insert(extra, at: position)
                    await expectRefused(query: more.joined(separator: "&"))
                }
            }
            for other in items.indices where other != index {
                var moved = items
                moved.swapAt(index, other)
                await expectRefused(query: moved.joined(separator: "&"))
            }
        }
        let broken = [
            query + "=", query + "&", query + "#", "&" + query, "?" + query, query + query, "", "signature=",
            "&signature=", query.replacingOccurrences(of: "&", with: ";"),
            query.replacingOccurrences(of: "%20", with: "%2"), query.replacingOccurrences(of: "%20", with: "%FF"),
        ]
        for changed in broken { await expectRefused(query: changed) }
    }

    @Test func `a query may be spelled in another way`() throws {
        let query = try query()
        #expect(query.contains("&name=%C3%A4%20b%26c%3Dd?.png&type=image/png&"))
        let respelled = [
            query.replacingOccurrences(of: "image/png", with: "image%2Fpng"),
            query.replacingOccurrences(of: "d?", with: "d%3F"), query.replacingOccurrences(of: "%C3", with: "%c3"),
            query.replacingOccurrences(of: "%20", with: "+"), query.replacingOccurrences(of: "png", with: "%70n%67"),
            query.replacingOccurrences(of: "expires", with: "expire%73"),
        ]
        for other in respelled {
            #expect(other != query)
            let found = try store.verify(method: "GET", path: key.rawValue, query: other)
            #expect(found.download.filename == "ä b&c=d?.png" && found.contentType == "image/png", "\(other)")
        }
    }

    @Test func `the URL of a former key is accepted until the key is dropped`() throws {
        let query = try query()
        func store(_ keys: UInt8...) throws -> LocalObjectStore {
            try LocalObjectStore(
                folder: folder.path, keys: { keys.flatMap { signingKeys($0)() } }, baseURL: "http://h/objects",
                now: { Self.start })
        }
        let both = try store(2, 1)
        #expect(try both.verify(method: "GET", path: key.rawValue, query: query).key == key)
        let new = try both.downloadURL(for: key, as: Download(filename: "a", contentType: "b"), expiresIn: 9)
        let newQuery = String(new.drop { $0 != "?" }.dropFirst())
        let present = try store(2)
        #expect(try present.verify(method: "GET", path: key.rawValue, query: newQuery).key == key)
        #expect(throws: SignedURLError.badSignature) {
            try present.verify(method: "GET", path: key.rawValue, query: query)
        }
    }
}
