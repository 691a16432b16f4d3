import AsyncHTTPClient
import Foundation
import NIOCore
import Testbed
import Testing

@testable import ObjectStore

/// All object stores share this behaviour.
@Suite(.s3Server, .timeLimit(.minutes(30))) struct ObjectStoreTests {
    /// The kinds of object stores; S3 only where `make test` has installed an S3 server.
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case local, s3

        static var available: [Kind] { StockTools.rclone == nil ? [.local] : allCases }
        var testDescription: String { rawValue }
    }

    /// A store with a location of its own.
    struct Place {
        let store: any ObjectStore
        /// The same store with a clock that is 1000 seconds behind.
        let past: any ObjectStore
        let reader: Reader
    }

    private func withStore(_ kind: Kind, _ body: (Place) async throws -> Void) async throws {
        let past = { @Sendable in S3Server.now() - 1000 }
        switch kind {
        case .local:
            let folder = try TemporaryFolder()
            let store = try LocalObjectStore(in: folder, now: S3Server.now)
            try await body(Place(store: store, past: LocalObjectStore(in: folder, now: past), reader: .local(store)))
        case .s3:
            let server = try #require(S3Server.current)
            let location = try server.location()
            try await server.withStore(at: location) { store in
                try await server.withStore(at: location, now: past) { past in
                    try await body(Place(store: store, past: past, reader: .http))
                }
            }
        }
    }

    /// A client that has a URL.
    enum Reader {
        case local(LocalObjectStore)
        case http

        /// Returns content, type and disposition; nil if the URL is refused.
        func open(_ url: String) async throws -> (content: String, type: String, disposition: String)? {
            switch self {
            case .http:
                let answer = try await HTTPClient.shared.execute(HTTPClientRequest(url: url), timeout: .minutes(10))
                let content = String(buffer: try await answer.body.collect(upTo: 1 << 24))
                guard answer.status == .ok else {
                    #expect(answer.status == .forbidden || answer.status == .badRequest || answer.status == .notFound)
                    return nil
                }
                return (
                    content, answer.headers.first(name: "Content-Type") ?? "",
                    answer.headers.first(name: "Content-Disposition") ?? ""
                )
            case .local(let server):
                let parts = url.dropFirst("http://localhost:8080/objects/".count).split(separator: "?", maxSplits: 1)
                guard
                    let download = try? server.verify(
                        method: "GET", path: String(parts[0]), query: String(parts.last ?? "")),
                    let size = try await server.size(of: download.key),
                    let content = try await server.content(of: download.key, in: 0..<size)
                else { return nil }
                return (String(decoding: content, as: UTF8.self), download.contentType, download.contentDisposition)
            }
        }
    }

    private static let key = ObjectKey("photos/7/1b4e28ba-cat.jpg")
    private static let picture = Download(filename: "Ünter \"q\".png", contentType: "image/png")

    @Test(arguments: Kind.available)
    func `any part of an object can be sent`(kind: Kind) async throws {
        try await withStore(kind) { place in
            let store = place.store
            let (key, absent) = (try #require(Self.key), try #require(ObjectKey("absent")))
            let text = (0..<200_000).map { "\($0 % 10)" }.joined()
            let bytes = Array(text.utf8)
            try await store.put(text, at: key)
            let attributes = try #require(try await store.attributes(of: key))
            #expect(attributes.size == 200_000)
            #expect(abs(try #require(attributes.modified) - Int64(Date().timeIntervalSince1970)) < 3600)
            for range in [0..<200_000, 0..<1, 199_999..<200_000, 65_537..<131_075, 5..<5] as [Range<Int64>] {
                let content = try #require(try await store.open(key, in: range))
                var sent = ByteBuffer()
                try await content.send { piece in sent.writeImmutableBuffer(piece) }
                #expect(Array(sent.readableBytesView) == Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
            }
            #expect(try await store.attributes(of: absent) == nil)
            #expect(try await store.open(absent, in: 0..<1).map { _ in true } == nil)
            #expect(try await store.open(absent, in: 0..<0).map { _ in true } == nil)
        }
    }

    @Test(arguments: Kind.available)
    func `objects are put, measured, opened, listed and deleted`(kind: Kind) async throws {
        try await withStore(kind) { place in
            let (store, reader) = (place.store, place.reader)
            let contents = ["a": "", "a-b/c": "hello", "x._-Y/z": String(repeating: "0123456789", count: 200_000)]
            for (name, content) in contents {
                let key = try #require(ObjectKey(name))
                #expect(try await store.size(of: key) == nil)
                let file = try await store.spool()
                try await file.append(ByteBuffer(string: content))
                try await store.put(file, at: key, contentType: "image/png")
                #expect(!FileManager.default.fileExists(atPath: file.path))
                #expect(try await store.size(of: key) == Int64(content.utf8.count))
                let url = try store.downloadURL(for: key, as: Self.picture, expiresIn: 60)
                let opened = try #require(await reader.open(url))
                #expect(opened.content == content)
                #expect(opened.type == "image/png")
                #expect(opened.disposition == ContentDisposition.attachment(Self.picture.filename))
            }
            #expect(try await Set(store.allKeys().map(\.rawValue)) == Set(contents.keys))
            for name in contents.keys {
                let key = try #require(ObjectKey(name))
                let url = try store.downloadURL(for: key, as: Self.picture, expiresIn: 60)
                try await store.delete(key)
                try await store.delete(key)
                #expect(try await store.size(of: key) == nil)
                #expect(try await reader.open(url) == nil)
            }
            #expect(try await store.allKeys().isEmpty)
        }
    }

    @Test(arguments: Kind.available)
    func `objects are read in pieces`(kind: Kind) async throws {
        try await withStore(kind) { place in
            let store = place.store
            try await store.reach()
            let bytes = (0..<70_000).map { UInt8(truncatingIfNeeded: $0) }
            for (name, content) in [("none", []), ("uploads/some.jpg", bytes)] {
                let key = try #require(ObjectKey(name))
                #expect(try await store.content(of: key, in: 0..<10) == nil)
                #expect(try await store.content(of: key, in: 0..<0) == nil)
                let file = try await store.spool()
                try await file.append(ByteBuffer(bytes: content))
                try await store.put(file, at: key, contentType: "image/jpeg")
                for range in [0..<70_000, 0..<1, 0..<0, 69_999..<70_000, 100..<300, 60_000..<80_000, 70_000..<70_001] {
                    let wanted = content.indices.filter(range.contains).map { content[$0] }
                    let found = try await store.content(of: key, in: Int64(range.lowerBound)..<Int64(range.upperBound))
                    #expect(found == wanted, "\(name) \(range)")
                }
                try await store.delete(key)
                #expect(try await store.content(of: key, in: 0..<10) == nil)
            }
        }
    }

    @Test(arguments: Kind.available)
    func `an object is never replaced, and the file is still the caller's`(kind: Kind) async throws {
        try await withStore(kind) { place in
            let store = place.store
            let (key, other) = try (#require(Self.key), #require(ObjectKey("other")))
            try await store.put("first", at: key)
            let second = try await store.spool()
            try await second.append(ByteBuffer(string: "second one"))
            await #expect(throws: ObjectStoreError.exists(key)) {
                try await store.put(second, at: key, contentType: "text/plain")
            }
            #expect(try await store.size(of: key) == 5)
            try await store.put(second, at: other, contentType: "text/plain")
            #expect(try await store.size(of: other) == 10)
        }
    }

    @Test(arguments: Kind.available)
    func `a file that was discarded cannot be put`(kind: Kind) async throws {
        try await withStore(kind) { place in
            let store = place.store
            let key = try #require(Self.key)
            let file = try await store.spool()
            try await file.discard()
            await #expect(throws: SpooledFile.Closed.self) { try await store.put(file, at: key, contentType: "") }
            #expect(try await store.size(of: key) == nil)
        }
    }

    @Test(arguments: Kind.available)
    func `the sweep sees objects older than the cut-off`(kind: Kind) async throws {
        try await withStore(kind) { place in
            let store = place.store
            let key = try #require(Self.key)
            try await store.put("x", at: key)
            #expect(try await store.allKeys(olderThan: S3Server.now() - 60).isEmpty)
            #expect(try await store.allKeys(olderThan: S3Server.now() + 60) == [key])
        }
    }

    @Test(arguments: Kind.available)
    func `a URL's time is the one that was asked for`(kind: Kind) async throws {
        try await withStore(kind) { place in
            let key = try #require(Self.key)
            try await place.store.put("x", at: key)
            // These URLs were signed 1000 seconds ago, for more and for less than that time.
            let valid = try place.past.downloadURL(for: key, as: Self.picture, expiresIn: 1060)
            #expect(try await place.reader.open(valid)?.content == "x")
            let expired = try place.past.downloadURL(for: key, as: Self.picture, expiresIn: 940)
            #expect(try await place.reader.open(expired) == nil)
        }
    }

    @Test(arguments: Kind.available)
    func `a URL opens nothing else`(kind: Kind) async throws {
        try await withStore(kind) { place in
            let (store, reader) = (place.store, place.reader)
            let (key, other) = try (#require(Self.key), #require(ObjectKey("photos/7/1b4e28ba-dog.jpg")))
            for key in [key, other] { try await store.put("x", at: key) }
            let url = try store.downloadURL(for: key, as: Self.picture, expiresIn: 600)
            #expect(try await reader.open(url) != nil)
            #expect(try await reader.open(url.replacing("cat.jpg", with: "dog.jpg")) == nil)
            let query = try #require(url.firstIndex(of: "?"))
            let items = url[url.index(after: query)...].split(separator: "&").map(String.init)
            for index in items.indices {
                var fewer = items
                fewer.remove(at: index)
                #expect(try await reader.open(url[...query] + fewer.joined(separator: "&")) == nil)
                var changed = items
                let last = changed[index].removeLast()
                changed[index].append(last == "1" ? "2" : "1")
                #expect(try await reader.open(url[...query] + changed.joined(separator: "&")) == nil, "\(changed)")
            }
            #expect(try await reader.open(url + "&x=y") == nil)
        }
    }

    @Test(arguments: Kind.available)
    func `the store is ready`(kind: Kind) async throws {
        try await withStore(kind) { try await $0.store.check() }
    }
}
