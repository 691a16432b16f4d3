import Contract
import ContractCheck
import Foundation
import HTTPTypes
import MessengerCheck
import MessengerClient
import ObjectStore
import Testbed
import Testing

/// Stored files are served with ranges, conditions and signed URLs.
@Suite(.timeLimit(.minutes(30))) struct DownloadTests {
    private struct Link {
        let root: RawClient
        let path: String

        func callAsFunction(_ headers: HTTPFields = [:], _ method: HTTPRequest.Method = .get) async throws -> RawAnswer
        {
            try await root.send(method, path, headers: headers)
        }
    }

    private func link(_ host: MessengerHost, _ content: String = "0123456789") async throws -> Link {
        let world = MessengerWorld(baseURL: host.baseURL, transport: host.transport, sockets: host.sockets)
        let person = try await world.person()
        let file = try await person.client.upload(
            Upload(.bytes(Array(content.utf8)), filename: "ein Bild & mehr.jpg", contentType: "image/jpeg"))
        let answer = try await person.raw(.get, "/files/\(file.id)/download")
        let location = try #require(answer.headers[.location].flatMap { URL(string: $0) })
        var root = try #require(URLComponents(url: location, resolvingAgainstBaseURL: false))
        (root.path, root.query) = ("", nil)
        let path = try #require(location.absoluteString.range(of: "/objects/"))
        return Link(
            root: RawClient(baseURL: try #require(root.url), transport: host.transport),
            path: String(location.absoluteString[path.lowerBound...]))
    }

    @Test(arguments: Stack.Wire.allCases)
    func anUnchangedAnswerIsNotSentAgain(_ wire: Stack.Wire) async throws {
        try await withMessenger(on: Stack(.sqlite, wire)) { host in
            let link = try await link(host)
            let whole = try await link()
            let tag = try #require(whole.headers[.eTag])
            let modified = try #require(whole.headers[.lastModified])
            #expect(tag.hasPrefix("\"") && tag.hasSuffix(".jpg\""))
            #expect(HTTPDate.seconds(modified) != nil)
            for known in [tag, "W/\(tag)", "*", "\"other\", \(tag)", "\"a\" ,\t\(tag) "] {
                for method in [HTTPRequest.Method.get, .head] {
                    let answer = try await link([.ifNoneMatch: known, .range: "bytes=0-1"], method)
                    #expect(answer.status == 304 && answer.body == [], "\(known)")
                    #expect(answer.headers[.eTag] == tag && answer.headers[.cacheControl] != nil)
                }
            }
            #expect(try await link([.ifModifiedSince: modified]).status == 304)
            let sent: [HTTPFields] = [
                [.ifNoneMatch: "\"other\""], [.ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"],
                [.ifModifiedSince: "yesterday"], [.ifNoneMatch: "\"other\"", .ifModifiedSince: modified],
            ]
            for headers in sent { #expect(try await link(headers).text == "0123456789", "\(headers)") }
        }
    }

    @Test func aRangeIsOfTheFileThatTheClientHas() async throws {
        try await withMessenger(on: Stack(.sqlite, .live)) { host in
            let link = try await link(host)
            let head = try await link([:], .head)
            let (tag, modified) = (try #require(head.headers[.eTag]), try #require(head.headers[.lastModified]))
            for condition in [tag, modified] {
                let answer = try await link([.range: "bytes=2-4", .ifRange: condition])
                #expect(answer.status == 206 && answer.text == "234", "\(condition)")
                #expect(answer.headers[.contentRange] == "bytes 2-4/10")
            }
            for condition in ["\"abc\"", "W/\(tag)", "Sun, 06 Nov 1994 08:49:37 GMT", ""] {
                let answer = try await link([.range: "bytes=2-4", .ifRange: condition])
                #expect(answer.status == 200 && answer.text == "0123456789", "\(condition)")
            }
            // Ranges are defined for GET only.
            let part = try await link([.range: "bytes=2-4"], .head)
            #expect(part.status == 200 && part.headers[.contentLength] == "10" && part.body == [])
        }
    }

    /// The files are longer than one piece of the store's, or empty.
    @Test func bytesArriveAsTheyWere() async throws {
        try await withMessenger(on: Stack(.sqlite, .live)) { host in
            let text = (0..<120_000).map { "\($0) " }.joined()
            let link = try await link(host, text)
            #expect(try await link().text == text)
            let part = try await link([.range: "bytes=262000-525000"])
            #expect(part.body == Array(Array(text.utf8)[262_000...525_000]))
            let empty = try await self.link(host, "")
            #expect(try await empty().headers[.contentLength] == "0")
            #expect(try await empty([.range: "bytes=0-"]).status == 416)
        }
    }

    /// Some clients, such as aiohttp, follow the redirect with `image/jpeg` for `image%2Fjpeg`, others the other way
    /// round.
    @Test(arguments: Stack.Wire.allCases)
    func anInterruptedDownloadContinuesWhereItStopped(_ wire: Stack.Wire) async throws {
        try await withMessenger(on: Stack(.sqlite, wire)) { host in
            let alice = try await host.world().person()
            let block = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 251) }
            var content: [UInt8] = []
            for _ in 0..<1000 { content += block }
            let file = try await alice.client.upload(Upload(.bytes(content), filename: "naïve.bin"))
            let destination = URL(fileURLWithPath: host.folder).appendingPathComponent("fetched.bin")
            // The network goes after the first piece.
            let reports = Locked<[Int64]>([])
            let first = Task {
                try await alice.client.download(file.id, to: destination) { received, _ in
                    reports.use { $0.append(received) }
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            }
            await #expect(throws: CancellationError.self) { try await first.value }
            #expect(!FileManager.default.fileExists(atPath: destination.path))
            let downloaded = try await alice.client.download(file.id, to: destination) { received, total in
                #expect(total == 5_000_000)
                reports.use { $0.append(received) }
            }
            #expect(reports.use { $0 } == [2_097_152, 4_194_304, 5_000_000])
            #expect(downloaded.filename == "naïve.bin")
            #expect(try Data(contentsOf: destination) == Data(content))
        }
    }

    @Test func anEquivalentSpellingOfALinkIsTheSameLink() async throws {
        try await withMessenger(on: Stack(.sqlite, .live)) { host in
            let link = try await link(host)
            #expect(link.path.contains("type=image/jpeg&"))
            #expect(try await link().status == 200)
            for (one, other) in [("image/jpeg", "image%2Fjpeg"), ("ein%20Bild", "ein+Bild"), ("%26", "%26")] {
                let path = link.path.replacingOccurrences(of: one, with: other)
                #expect(try await link.root.send(.get, path).status == 200, "\(other)")
            }
            for path in [link.path + "&x=1", link.path + "&expires=9", link.path.replacing("image/", with: "video/")] {
                #expect(try await link.root.send(.get, path).status == 403, "\(path)")
            }
            for method in [HTTPRequest.Method.put, .post, .delete, .patch] {
                #expect(try await link([:], method).status == 403, "\(method)")
            }
        }
    }

    /// The stores of two APIs have different keys, which are derived from one secret.
    @Test func aLinkIsValidForOneStoreOnly() async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host in
            try await withTemporaryFolder { folder in
                let other = try LocalObjectStore(
                    folder: folder, keys: storeKeys(3),
                    baseURL: "\(host.baseURL.absoluteString)/objects", now: { host.clock.source.seconds })
                let key = try #require(ObjectKey("progress-photos/1/x.jpg"))
                let url = try other.uploadURL(for: key, upTo: 100, expiresIn: 60)
                let query = url.split(separator: "?").last ?? ""
                let root = RawClient(baseURL: host.baseURL, transport: host.transport)
                let answer = try await root.send(.put, "/objects/\(key)?\(query)", body: "foreign")
                #expect(answer.status == 403)
                #expect(try await host.objects.attributes(of: key) == nil)
            }
        }
    }
}
