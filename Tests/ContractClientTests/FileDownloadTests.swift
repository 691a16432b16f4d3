import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testbed
import Testing

/// A file is downloaded in pieces, and an interrupted download continues.
@Suite(.timeLimit(.minutes(30))) struct FileDownloadTests {
    private static let url = URL(string: "https://files.example/1")!
    private static let content = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 256) }

    private func download(
        _ store: Store, to file: URL, progress: DownloadProgress? = nil
    ) async throws -> DownloadedFile {
        var retry = Retry.standard
        retry.sleep = { _ in }
        return try await FileDownload(transport: store, retry: retry, piece: 1000).run(to: file, progress: progress) {
            store.addresses.withLockedValue { $0 += 1 }
            return Self.url
        }
    }

    private func withFile(_ body: (URL) async throws -> Void) async throws {
        try await withTemporaryFolder { try await body(URL(fileURLWithPath: $0 + "/file.bin")) }
    }

    private func folder(of file: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
    }

    @Test func aFileComesInPieces() async throws {
        try await withFile { file async throws in
            try Data("earlier".utf8).write(to: file)
            let store = Store(Self.content)
            let reports = NIOLockedValueBox<[Int64]>([])
            let downloaded = try await download(store, to: file) { received, total in
                #expect(total == 10_000)
                reports.withLockedValue { $0.append(received) }
            }
            #expect(try Data(contentsOf: file) == Data(Self.content))
            #expect(reports.withLockedValue { $0 } == (1...10).map { $0 * 1000 })
            #expect(
                downloaded
                    == DownloadedFile(location: file, filename: "naïve 1.bin", contentType: "image/png", size: 10_000))
            #expect(store.ranges.first == "bytes=0-999")
            #expect(store.addresses.withLockedValue { $0 } == 1)
            #expect(try folder(of: file) == ["file.bin"])
        }
    }

    @Test func aCutConnectionCostsOnePiece() async throws {
        try await withFile { file async throws in
            let store = Store(Self.content)
            store.fail { number in number % 3 == 1 ? URLError(.networkConnectionLost) : nil }
            _ = try await download(store, to: file)
            #expect(try Data(contentsOf: file) == Data(Self.content))
            #expect(Set(store.ranges).count == 10)
        }
    }

    @Test func anotherLaunchContinues() async throws {
        try await withFile { file async throws in
            let first = Store(Self.content)
            first.fail { number in number >= 4 ? URLError(.notConnectedToInternet) : nil }
            await #expect(throws: URLError.self) { try await download(first, to: file) }
            #expect(!FileManager.default.fileExists(atPath: file.path))
            let second = Store(Self.content)
            _ = try await download(second, to: file)
            #expect(second.ranges.first == "bytes=4000-4999")
            #expect(try Data(contentsOf: file) == Data(Self.content))
            #expect(try folder(of: file) == ["file.bin"])
        }
    }

    @Test func aFileThatHasChangedIsFetchedAnew() async throws {
        try await withFile { file async throws in
            let first = Store(Self.content)
            first.fail { number in number >= 4 ? URLError(.notConnectedToInternet) : nil }
            await #expect(throws: URLError.self) { try await download(first, to: file) }
            let changed = Store(Array(Self.content.reversed()), tag: "\"other\"")
            _ = try await download(changed, to: file)
            #expect(try Data(contentsOf: file) == Data(Self.content.reversed()))
        }
    }

    @Test func aServerWithoutRangesSendsTheWhole() async throws {
        try await withFile { file async throws in
            let store = Store(Self.content, knowsRanges: false)
            let downloaded = try await download(store, to: file)
            #expect(downloaded.size == 10_000)
            #expect(try Data(contentsOf: file) == Data(Self.content))
            #expect(store.ranges.count == 1)
        }
    }

    @Test func anEmptyFileIsAFile() async throws {
        try await withFile { file async throws in
            #expect(try await download(Store([]), to: file).size == 0)
            #expect(try Data(contentsOf: file).isEmpty)
        }
    }

    @Test func anExpiredURLIsAskedForAgain() async throws {
        try await withFile { file async throws in
            let store = Store(Self.content)
            store.refuse { number in number == 3 ? .forbidden : nil }
            _ = try await download(store, to: file)
            #expect(store.addresses.withLockedValue { $0 } == 2)
            #expect(try Data(contentsOf: file) == Data(Self.content))
        }
    }

    @Test func aFileThatIsGoneIsRefused() async throws {
        try await withFile { file async throws in
            let store = Store(Self.content)
            store.refuse { _ in .notFound }
            let error = await #expect(throws: DownloadRefused.self) { try await download(store, to: file) }
            #expect(error?.status == .notFound)
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
    }

    /// A server may say that a piece ends at any byte.
    @Test(arguments: ["bytes 0-9223372036854775807/9223372036854775807", "bytes 0-5/-1", "bytes 9-5/9", "bytes -1-5/9"])
    func aPieceOfAnotherSizeIsAnError(_ range: String) async throws {
        struct Odd: Transport {
            let range: String

            func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
                TransportResponse(status: .partialContent, headers: [.contentRange: range], body: [1])
            }
        }
        try await withFile { file async throws in
            let download = FileDownload(transport: Odd(range: range), retry: .never)
            await #expect(throws: URLError.self) { try await download.run(to: file) { Self.url } }
        }
    }

    @Test func aCancelledDownloadEndsAtOnce() async throws {
        try await withFile { file async throws in
            let silent = SilentTransport()
            let running = Task { try await FileDownload(transport: silent).run(to: file) { Self.url } }
            await silent.asked()
            running.cancel()
            await #expect(throws: CancellationError.self) { try await running.value }
        }
    }

    @Test(arguments: [
        (#"attachment; filename="a b.txt""#, "a b.txt"), (#"inline; filename=plain.txt"#, "plain.txt"),
        (#"attachment; filename="x"; filename*=UTF-8''na%C3%AFve%201.bin"#, "naïve 1.bin"),
        (#"attachment; filename="quo\"te; x.txt""#, #"quo"te; x.txt"#), ("attachment", nil), ("", nil),
    ])
    func theNameIsThatOfTheUpload(_ disposition: String, _ name: String?) async throws {
        try await withFile { file async throws in
            let store = Store([1], disposition: disposition)
            #expect(try await download(store, to: file).filename == name)
        }
    }
}

/// A store of one file.
private final class Store: Transport {
    private let content: [UInt8]
    private let tag: String
    private let knowsRanges: Bool
    private let disposition: String
    private let asked = NIOLockedValueBox<[String]>([])
    private let failure = NIOLockedValueBox<@Sendable (Int) -> (any Error)?> { _ in nil }
    private let refusal = NIOLockedValueBox<@Sendable (Int) -> HTTPResponse.Status?> { _ in nil }
    /// The number of times that the file's URL was asked for.
    let addresses = NIOLockedValueBox(0)

    init(
        _ content: [UInt8], tag: String = "\"one\"", knowsRanges: Bool = true,
        disposition: String = #"attachment; filename="naive 1.bin"; filename*=UTF-8''na%C3%AFve%201.bin"#
    ) {
        self.content = content
        self.tag = tag
        self.knowsRanges = knowsRanges
        self.disposition = disposition
    }

    /// The ranges that were asked for.
    var ranges: [String] { asked.withLockedValue { $0 } }

    /// Sets the requests, counted from 0, that are lost.
    func fail(_ failure: @escaping @Sendable (Int) -> (any Error)?) { self.failure.withLockedValue { $0 = failure } }
    /// Sets the requests, counted from 0, that are refused.
    func refuse(_ refusal: @escaping @Sendable (Int) -> HTTPResponse.Status?) {
        self.refusal.withLockedValue { $0 = refusal }
    }

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let range = request.headers[.range] ?? ""
        let number = asked.withLockedValue { asked in
            asked.append(range)
            return asked.count - 1
        }
        if let error = failure.withLockedValue({ $0 })(number) { throw error }
        if let status = refusal.withLockedValue({ $0 })(number) { return TransportResponse(status: status) }
        var headers: HTTPFields = [.contentType: "image/png", .eTag: tag]
        if !disposition.isEmpty { headers[HTTPField.Name("Content-Disposition")!] = disposition }
        let isSame = request.headers[.ifRange].map { $0 == tag } ?? true
        guard knowsRanges, isSame, let bounds = range.wholeMatch(of: #/bytes=(\d+)-(\d+)/#),
            let lower = Int(bounds.1), let upper = Int(bounds.2)
        else { return TransportResponse(status: .ok, headers: headers, body: content) }
        guard lower < content.count else {
            return TransportResponse(
                status: .rangeNotSatisfiable, headers: [.contentRange: "bytes */\(content.count)"])
        }
        let last = min(upper, content.count - 1)
        headers[.contentRange] = "bytes \(lower)-\(last)/\(content.count)"
        return TransportResponse(status: .partialContent, headers: headers, body: Array(content[lower...last]))
    }
}
