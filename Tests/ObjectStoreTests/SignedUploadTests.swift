import Foundation
import Testing

@testable import ObjectStore

@Suite(.timeLimit(.minutes(30))) struct SignedUploadTests {
    private static let start: Int64 = 1_700_000_000

    private let folder: TemporaryFolder
    private let store: LocalObjectStore
    private let key: ObjectKey

    init() throws {
        folder = try TemporaryFolder()
        store = try LocalObjectStore(in: folder, at: Self.start)
        key = try #require(ObjectKey("ab/c-1_x.png"))
    }

    private func query(size: Int64 = 100, for seconds: Int64 = 3600) throws -> String {
        let url = try store.uploadURL(for: key, upTo: size, expiresIn: seconds)
        let prefix = "http://localhost:8080/objects/ab/c-1_x.png?"
        try #require(url.hasPrefix(prefix))
        return String(url.dropFirst(prefix.count))
    }

    @Test func `a signed URL accepts an upload`() throws {
        let upload = try store.verifyUpload(path: key.rawValue, query: query())
        #expect(upload == SignedUpload(key: key, maximumSize: 100))
    }

    @Test func `any other key, query or kind of URL is refused`() async throws {
        let query = try query()
        for path in ["ab/c-1_x.pn", "ab/c-1_x.png/", "", "../x", "ab%2Fc-1_x.png"] {
            #expect(throws: SignedURLError.badSignature) { try store.verifyUpload(path: path, query: query) }
        }
        let other = try store.downloadURL(
            for: key, as: Download(filename: "x", contentType: "image/png"), expiresIn: 3600)
        let download = try #require(other.split(separator: "?").last.map(String.init))
        let changed = [
            "", "x", query + "x", query + "&size=9", query.replacingOccurrences(of: "size=100", with: "size=1000"),
            query.replacingOccurrences(of: "expires=1", with: "expires=2"), String(query.dropLast()), download,
        ]
        for query in changed {
            #expect(throws: SignedURLError.badSignature) { try store.verifyUpload(path: key.rawValue, query: query) }
        }
        // A URL for writing does not allow reading.
        #expect(throws: SignedURLError.badSignature) {
            try store.verify(method: "GET", path: key.rawValue, query: query)
        }
        let stranger = try LocalObjectStore(in: TemporaryFolder(), at: Self.start, key: 2)
        #expect(throws: SignedURLError.badSignature) { try stranger.verifyUpload(path: key.rawValue, query: query) }
    }

    @Test func `its time ends`() throws {
        let query = try query()
        let later = try LocalObjectStore(in: folder, at: Self.start + 3599)
        #expect(try later.verifyUpload(path: key.rawValue, query: query).maximumSize == 100)
        let late = try LocalObjectStore(in: folder, at: Self.start + 3600)
        #expect(throws: SignedURLError.expired) { try late.verifyUpload(path: key.rawValue, query: query) }
        #expect(try store.verifyUpload(path: key.rawValue, query: self.query(for: .max)).maximumSize == 100)
    }
}
