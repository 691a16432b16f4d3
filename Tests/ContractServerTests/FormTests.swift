import Contract
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import ContractServer

/// An operation can take JSON or a form with any number of files, and fields that come last.
@Suite(.timeLimit(.minutes(30))) struct FormTests {
    private let spool = CountingSpool()
    private let table: Router<Sample>

    init() { table = Sample.table(spool: spool) }

    private static let form: HTTPFields = [.contentType: "Multipart/Form-Data; boundary=b0undary"]

    private func part(_ disposition: String, _ content: String) -> String {
        "--b0undary\r\nContent-Disposition: form-data; \(disposition)\r\n\r\n\(content)\r\n"
    }

    private let end = "--b0undary--\r\n"

    private func send(_ body: String, headers: HTTPFields = form) async throws -> Answered {
        try await table.send(.post, "/pictures", headers: headers, body: body)
    }

    @Test(arguments: [nil, "application/json", "text/plain"])
    func jsonWithoutFiles(_ type: String?) async throws {
        var headers = HTTPFields()
        headers[.contentType] = type
        let answer = try await send(#"{"text":"hi","picture":["x"]}"#, headers: headers)
        #expect(answer.status == .created)
        #expect(answer["text"] == "hi: ")
        #expect(try await send("{", headers: headers)["error"] == "Invalid JSON")
    }

    @Test func filesInTheirOrderAmongTexts() async throws {
        let answer = try await send(
            part("name=picture; filename=b", "22") + part("name=text", "hi") + part("name=other; filename=x", "xxx")
                + part("name=picture; filename=a", "1") + part("name=picture; filename=c", "") + end)
        #expect(answer["text"] == "hi: b 2, a 1, c 0")
        #expect(spool.remaining == 0)
    }

    @Test func aFormWithoutFiles() async throws {
        #expect(try await send(part("name=text", "hi") + end)["text"] == "hi: ")
        // A browser sends this where no file was chosen.
        #expect(
            try await send(part("name=text", "hi") + part("name=picture; filename=\"\"", "") + end)["text"] == "hi: ")
        #expect(spool.remaining == 0)
    }

    /// Files beyond the last allowed one are counted but not stored.
    @Test func filesBeyondTheLastAreOnlyCounted() async throws {
        let files = (1...5).map { part("name=picture; filename=p\($0)", "x") }.joined()
        #expect(try await send(files + end)["text"] == ": p1 1, p2 1, p3 1, beyond, beyond")
        #expect(spool.finished.count == 3)
        #expect(spool.remaining == 0)
    }

    @Test func everyFileHasTheSameLimit() async throws {
        let whole = part("name=picture; filename=p", "1234567890")
        #expect(try await send(whole + whole + end).status == .created)
        for place in 0..<5 {
            var files = Array(repeating: whole, count: 4)
            files.insert(part("name=picture; filename=p", "12345678901"), at: place)
            let answer = try await send(files.joined() + end)
            #expect(answer.status == .contentTooLarge)
            #expect(answer["error"] == "Picture too large")
            #expect(spool.remaining == 0)
        }
    }

    /// Fields that no operation reads count towards the limit of a form.
    @Test func aFormHasALimit() async throws {
        let other = part("name=other; filename=o", String(repeating: "x", count: 2 * Multipart.maximumText))
        let answer = try await send(part("name=text", "hi") + other + end)
        #expect(answer.status == .contentTooLarge)
    }

    @Test(arguments: [
        "", "--b0undary\r\nContent-Disposition: form-data; name=picture; filename=p\r\n\r\nx",
        "--b0undary\r\n\r\nx\r\n--b0undary--",
    ])
    func aBrokenFormIsRefused(_ body: String) async throws {
        let answer = try await send(body)
        #expect(answer.status == .badRequest)
        #expect(answer["error"] == "Malformed form")
        #expect(spool.remaining == 0)
    }

    @Test func aKeyKnowsEveryFile() async throws {
        func once(_ contents: String...) async throws -> String? {
            var headers = Self.form
            headers[.idempotencyKey] = "k"
            let files = contents.map { part("name=picture; filename=p", $0) }.joined()
            return try await send(files + end, headers: headers)["once"]
        }
        let first = try await once("1", "2")
        #expect(first != nil)
        #expect(try await once("1", "2") == first)
        for others in [try await once("2", "1"), try await once("1"), try await once("1", "2", "3")] {
            #expect(others != first)
        }
    }

    // MARK: Fields that come last

    @Test func thePathIsCheckedThenLookedUpThenTheFields() async throws {
        for (path, body, status, text) in [
            ("/labels/0", "{", 400, "Invalid JSON"), ("/labels/0", "{}", 400, "Invalid id"),
            ("/labels/404", "{}", 404, "No such label"), ("/labels/1", "{}", 400, "No text"),
        ] {
            let answer = try await table.send(.patch, path, body: body)
            #expect(answer.status.code == status)
            #expect(answer["error"] == text)
        }
        #expect(try await table.send(.patch, "/labels/1", body: #"{"text":"x"}"#)["text"] == "x")
    }
}
