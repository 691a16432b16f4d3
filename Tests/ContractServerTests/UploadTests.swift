import Contract
import Foundation
import HTTPTypes
import NIOCore
import Testbed
import Testing

@testable import ContractServer

/// A route accepts or refuses uploads, and no file stays behind.
@Suite(.timeLimit(.minutes(30))) struct UploadTests {
    private let spool = CountingSpool()
    private let table: Router<Sample>

    init() { table = Sample.table(spool: spool) }

    private static let headers: HTTPFields = [.contentType: "multipart/form-data; boundary=b0undary"]

    private func part(_ disposition: String, _ content: String, type: String? = nil) -> String {
        let type = type.map { "Content-Type: \($0)\r\n" } ?? ""
        return "--b0undary\r\nContent-Disposition: form-data; \(disposition)\r\n\(type)\r\n\(content)\r\n"
    }

    private let end = "--b0undary--\r\n"

    private func upload(
        _ body: String, headers: HTTPFields = Self.headers, failing: (any Error)? = nil
    ) async throws -> Answered {
        try await table.send(
            .post, "/things/1/files", headers: headers, pieces: [ByteBuffer(string: body)], failing: failing)
    }

    @Test func aFileAndItsNeighbours() async throws {
        let answer = try await upload(
            part("name=caption", "Häuser") + part("name=file; filename=\"a b.txt\"", "content", type: "text/plain")
                + end)
        #expect(answer.status == .created)
        #expect(answer["text"] == "a b.txt (text/plain), 7: Häuser")
        #expect(spool.finished == [Array("content".utf8)])
        #expect(spool.remaining == 0)
    }

    @Test func anEmptyFileWithoutATypeOrAName() async throws {
        let answer = try await upload(part("name=file", "") + end)
        #expect(answer["text"] == "file (application/octet-stream), 0: ")
    }

    @Test func ofSeveralFilesTheFirstOfTheName() async throws {
        let answer = try await upload(
            part("name=other; filename=o", "ignored") + part("name=file; filename=first", "1")
                + part("name=file; filename=second", "22") + part("name=caption", "after") + end)
        #expect(answer["text"] == "first (application/octet-stream), 1: after")
        #expect(spool.finished == [Array("1".utf8)])
        #expect(spool.remaining == 0)
    }

    /// A file under another field name is refused at once if the API says so, and accepted otherwise.
    @Test(arguments: [
        ("name=other; filename=o", "Unexpected field"), ("name=Picture; filename=o", "Unexpected field"),
        ("name=picture; filename=p", "p"), ("name=other", "No file"),
    ])
    func aFileOfAnotherName(_ disposition: String, _ text: String) async throws {
        let spool = CountingSpool()
        let answer = try await Textual.table(spool: spool).send(
            .post, "/pictures", headers: Self.headers, body: part(disposition, "x") + end)
        #expect((answer["text"] ?? answer["message"]) == text)
        #expect(answer.status == (text == "p" ? .ok : .badRequest))
        let both = try await Textual.table(spool: spool).send(
            .post, "/pictures", headers: Self.headers,
            body: part("name=picture; filename=p", "x") + part("name=more; filename=m", "y") + end)
        #expect(both["message"] == "Unexpected field")
        #expect(spool.remaining == 0)
    }

    @Test func aFileOfTheGreatestSize() async throws {
        let answer = try await upload(part("name=file", String(repeating: "x", count: 1000)) + end)
        #expect(answer.status == .created)
    }

    @Test func aLargerFileIs413() async throws {
        let answer = try await upload(part("name=file", String(repeating: "x", count: 1001)) + end)
        #expect(answer.status == .contentTooLarge)
        #expect(answer["error"] == "File too large")
        #expect(answer.headers[.connection] == "close")
        #expect(spool.finished.isEmpty)
        #expect(spool.remaining == 0)
    }

    @Test func aMuchLargerFileIs413BeforeItIsRead() async throws {
        var headers = Self.headers
        headers[.contentLength] = "99999999"
        // The body never arrives.
        let answer = try await upload("", headers: headers, failing: CancellationError())
        #expect(answer.status == .contentTooLarge)
        #expect(answer["error"] == "File too large")
    }

    @Test(arguments: [
        "", "not multipart", "--b0undary--\r\n", "{}",
        // "photo" is not the field's name.
        "--b0undary\r\nContent-Disposition: form-data; name=\"photo\"; filename=a\r\n\r\nx\r\n--b0undary--\r\n",
        // The end is missing, in the file or after it.
        "--b0undary\r\nContent-Disposition: form-data; name=file\r\n\r\nx",
        "--b0undary\r\nContent-Disposition: form-data; name=file\r\n\r\nx\r\n--b0undary\r\n",
        // The form is malformed after the file.
        "--b0undary\r\nContent-Disposition: form-data; name=file\r\n\r\nx\r\n--b0undary\r\n\r\ny\r\n--b0undary--",
        "--b0undary\r\nContent-Disposition: form-data; name=file\r\n\r\nx\r\n--b0undary!\r\n",
    ])
    func withoutAFileItIs400AndNothingRemains(_ body: String) async throws {
        let answer = try await upload(body)
        #expect(answer.status == .badRequest)
        #expect(answer["error"] == "No file")
        #expect(spool.remaining == 0)
    }

    @Test(arguments: [nil, "application/json", "multipart/form-data", "multipart/form-data; boundary="])
    func withoutABoundaryItIs400(_ contentType: String?) async throws {
        var headers = HTTPFields()
        headers[.contentType] = contentType
        let answer = try await upload(part("name=file", "x") + end, headers: headers)
        #expect(answer.status == .badRequest)
        #expect(answer["error"] == "No file")
    }

    @Test func aHundredPartsAndNoMore() async throws {
        let more = (1..<100).map { part("name=n\($0)", "") }.joined()
        #expect(try await upload(part("name=file", "x") + more + end).status == .created)
        let refused = try await upload(part("name=file", "x") + more + part("name=n", "") + end)
        #expect(refused.status == .badRequest)
        #expect(refused["error"] == "No file")
        #expect(spool.remaining == 0)
    }

    @Test func aMebibyteOfTextAndNoMore() async throws {
        let half = String(repeating: "x", count: Multipart.maximumText / 2)
        let fields = part("name=caption", half) + part("name=more", half)
        #expect(try await upload(part("name=file", "x") + fields + end).status == .created)
        let refused = try await upload(part("name=file", "x") + fields + part("name=last", "x") + end)
        #expect(refused.status == .contentTooLarge)
        #expect(refused["error"] == "Request body too large")
        #expect(spool.remaining == 0)
    }

    @Test func aConnectionThatBreaksLeavesNothing() async throws {
        let answer = try await upload(part("name=file", "half a file"), failing: ChannelError.inputClosed)
        #expect(answer.status.code == 499)
        #expect(spool.remaining == 0)
    }

    @Test func aFullDiskLeavesNothing() async throws {
        let spool = CountingSpool(capacity: 3)
        let answer = try await Sample.table(spool: spool).send(
            .post, "/things/1/files", headers: Self.headers, body: part("name=file", "too much") + end)
        #expect(answer.status == .internalServerError)
        #expect(answer["error"] == "Internal error")
        #expect(spool.remaining == 0)
    }

    @Test func aKeyKnowsFieldsAndBytesAndNotTheBoundary() async throws {
        func once(_ body: String, boundary: String = "b0undary") async throws -> String? {
            let headers: HTTPFields = [
                .contentType: "multipart/form-data; boundary=\(boundary)", .idempotencyKey: "k",
            ]
            return try await upload(
                body.replacingOccurrences(of: "b0undary", with: boundary), headers: headers)["once"]
        }
        let first = try await once(part("name=caption", "c") + part("name=file", "x") + end)
        #expect(first?.hasPrefix(" POST /things/1/files|k|") == true)
        #expect(try await once(part("name=caption", "c") + part("name=file", "x") + end, boundary: "other") == first)
        #expect(try await once(part("name=caption", "d") + part("name=file", "x") + end) != first)
        #expect(try await once(part("name=caption", "c") + part("name=file", "y") + end) != first)
        #expect(try await once(part("name=file", "x") + end) != first)
    }
}
