import Contract
import Foundation
import Testbed
import Testing

/// Requests are encoded and decoded in the same way for every API.
@Suite(.timeLimit(.minutes(30))) struct RequestCodingTests {
    private func change(
        _ body: String?, id: String = "7", items: [(name: String, value: String)] = []
    ) throws -> Sample.Change {
        try RequestCoding.decode(
            Sample.Change.self, from: .init(captures: [("id", id)], items: items, body: body.map { Array($0.utf8) }))
    }

    private func find(_ items: [(name: String, value: String)], id: String = "7") throws -> Sample.Find {
        try RequestCoding.decode(Sample.Find.self, from: .init(captures: [("id", id), ("name", "n")], items: items))
    }

    private func refusal(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch let problem as Problem {
            return "\(problem.status.code) \(problem.message)"
        } catch {
            return "not a problem: \(error)"
        }
    }

    private func json(_ encoded: RequestCoding.Encoded) throws -> JSONValue {
        guard case .json(let bytes) = encoded.body else { throw NoJSON() }
        return try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
    }

    private struct NoJSON: Error {}

    // MARK: Sources of fields

    @Test func `the path has precedence over query and body`() throws {
        let request = try RequestCoding.decode(
            Sample.Change.self,
            from: .init(
                captures: [("id", "7")], items: [("id", "8")], body: Array(#"{"id": 9, "title": "t"}"#.utf8)))
        #expect(request.id == 7)
        #expect(request.title == "t")
    }

    @Test func `the first value of a repeated name counts`() throws {
        #expect(try find([("text", "one"), ("text", "two")]).text == "one")
        #expect(try find([("id", "8"), ("name", "m")]) == find([]))
    }

    @Test func `a query is read by each field's type`() throws {
        let request = try find([
            ("text", "Ünï ✓"), ("flag", "true"), ("count", "-12"), ("note", ""), ("limit", "007"), ("after", "3"),
            ("ratio", "0.25"), ("day", "2026-02-23"), ("unknown", "x"),
        ])
        #expect(
            request
                == Sample.Find(
                    id: 7, name: "n", text: "Ünï ✓", flag: true, count: -12, note: "", limit: 7, after: 3, ratio: 0.25,
                    day: Day("2026-02-23")))
    }

    @Test func `a body is read by each field's type`() throws {
        let request = try change(
            """
            {"title": "t", "kind": "odd", "flag": true, "count": -1, "large": 9223372036854775807,
             "others": [1, 2], "tags": ["a", ""], "note": "", "limit": 0, "after": 5, "maybe": false,
             "place": {"x": 1, "y": 2.5}, "time": "2026-02-23T11:00:00.5+01:00", "cleared": "no", "unknown": [{}]}
            """)
        #expect(
            request
                == Sample.Change(
                    id: 7, title: "t", kind: .init(rawValue: "odd"), flag: true, count: -1, large: .max,
                    others: [1, 2], tags: ["a", ""], note: "", limit: 0, after: 5, maybe: false,
                    place: .init(x: 1, y: 2.5), time: .init(milliseconds: 1_771_840_800_500), cleared: "no"))
    }

    // MARK: Stand-ins

    @Test(arguments: [
        nil, "", "{}",
        """
        {"title": null, "kind": null, "flag": null, "count": null, "large": null, "others": null, "tags": null,
         "note": null, "limit": null, "after": null, "maybe": null, "place": null, "time": null, "cleared": null}
        """,
    ])
    func `absent and null stand in alike`(_ body: String?) throws {
        #expect(try change(body) == Sample.Change(id: 7, kind: .plain))
    }

    @Test func `a value of another type counts as missing or is refused`() throws {
        let request = try change(
            """
            {"title": 5, "kind": ["odd"], "flag": "true", "count": "1", "large": 1.5, "others": [1, "2"], "tags": "a",
             "note": {}, "limit": true, "after": "5", "maybe": 0, "time": "yesterday",
             "cleared": 5}
            """)
        #expect(
            request
                == Sample.Change(
                    id: 7, title: "", kind: .plain, flag: false, count: .min, large: .min, others: [.init(.min)],
                    tags: [], note: nil, limit: .min, after: .init(.min), maybe: nil, time: .init(milliseconds: .min)))
        #expect(try change(#"{"time": 5}"#).time == .init(milliseconds: .min))
    }

    @Test(arguments: ["abc", "", " 5", "5 ", "+5", "5.0", "1e3", "0x1F", "--5", "-", "٥", "5\u{301}", "true"])
    func `text that is no integer is never taken for one`(_ text: String) throws {
        let request = try find([("count", text), ("limit", text), ("after", text)], id: text)
        #expect(request.count == .min)
        #expect(request.limit == .min)
        #expect(request.after == .init(.min))
        #expect(request.id == .init(.min))
    }

    @Test(arguments: [
        ("9223372036854775807", Int.max), ("9223372036854775808", .max), ("99999999999999999999999999", .max),
        ("-9223372036854775808", .min), ("-99999999999999999999999999", .min), ("-0", 0),
        ("00000000000000000000000000000001", 1),
    ])
    func `a number too large is held at its type's end`(_ text: String, _ value: Int) throws {
        let request = try find([("count", text), ("limit", text), ("after", text)], id: text)
        #expect(request.count == value)
        #expect(request.limit == value)
        #expect(request.after == .init(Int64(value)))
        #expect(request.id == .init(Int64(value)))
    }

    @Test(arguments: ["9223372036854775808", "1e400", "-9223372036854775809", "1.5"])
    func `a number in a body that is no such integer is never admitted`(_ number: String) throws {
        let request = try change(#"{"count": \#(number), "large": \#(number), "after": \#(number)}"#)
        #expect(request == Sample.Change(id: 7, count: .min, large: .min, after: .init(.min)))
    }

    @Test func `only true and false are booleans`() throws {
        #expect(try find([("flag", "true")]).flag)
        for text in ["false", "1", "TRUE", "yes", ""] { #expect(try !find([("flag", text)]).flag) }
    }

    @Test func `a type without a stand-in is decoded strictly`() {
        #expect(refusal { _ = try change(#"{"place": {"x": "1", "y": 2}}"#) } == "400 Invalid JSON")
        #expect(refusal { _ = try find([("day", "2026-02-30")]) } == "400 Invalid JSON")
    }

    @Test func `an invalid number with a fraction is in no range`() throws {
        #expect(try find([("ratio", "half")]).ratio?.isNaN == true)
        #expect(try find([("ratio", "0.5")]).ratio == 0.5)
        #expect(try find([]).ratio == nil)
    }

    // MARK: Refusals

    @Test(arguments: [
        "[]", "[{}]", "1", "null", "\"{}\"", "{", "}", "{}{}", "{} x", "{\"a\"}", "{\"a\":}", "{a:1}", "{'a':1}",
        "{\"a\":1,}", "{/* c */}", "{\"a\":NaN}", "{\"a\":+1}", "{\"a\":01}", "{\"a\":\"\n\"}", " ", "\u{FEFF}{}",
        "a=1&b=2",
    ])
    func `only one JSON object is a body`(_ body: String) {
        #expect(refusal { _ = try change(body) } == "400 Invalid JSON")
    }

    @Test func `only 64 levels are a body`() throws {
        func nested(_ count: Int) -> String {
            #"{"unknown": "#
                + String(repeating: "[", count: count - 1) + String(repeating: "]", count: count - 1) + "}"
        }
        #expect(refusal { _ = try change(nested(64)) } == nil)
        #expect(refusal { _ = try change(nested(65)) } == "400 Invalid JSON")
    }

    @Test(arguments: [
        #"{"title": "a\u0000b"}"#, #"{"note": "\u0000"}"#, #"{"tags": ["a", "\u0000"]}"#, #"{"kind": "\u0000"}"#,
    ])
    func `a NUL in a field is refused`(_ body: String) {
        #expect(refusal { _ = try change(body) } == "400 Text must not contain NUL characters")
    }

    @Test func `a NUL in a query is refused, except in unread members`() {
        #expect(refusal { _ = try find([("text", "a\0b")]) } == "400 Text must not contain NUL characters")
        #expect(refusal { _ = try find([("unknown", "\0")]) } == nil)
        #expect(refusal { _ = try change(#"{"unknown": "\u0000", "\u0000": 1}"#) } == nil)
        // In a field of another type, only the type is wrong.
        #expect(refusal { _ = try change(#"{"count": "\u0000"}"#) } == nil)
    }

    @Test(arguments: [
        ("{}", "kind absent, note absent, others absent, size absent, title absent"),
        (
            #"{"title": null, "kind": 1, "others": ["x"], "note": [], "size": 1}"#,
            "kind mistyped, note mistyped, others mistyped, title absent"
        ),
        (#"{"title": "\u0000", "kind": "odd", "others": [], "note": "", "size": 1}"#, "title containsNUL"),
        (#"{"title": "", "kind": "odd", "others": [], "note": "", "size": 1.5}"#, "size unrepresentable(1.5)"),
        (#"{"title": "", "kind": "odd", "others": [], "note": "", "size": -1e30}"#, "size unrepresentable(-1e+30)"),
        (#"{"title": "", "kind": "odd", "others": [], "note": "", "size": 1e999}"#, "size mistyped"),
        (#"{"title": "", "kind": "odd", "others": [], "note": "", "size": true}"#, "size mistyped"),
        (#"{"title": "", "kind": "odd", "others": [], "note": "", "size": "1.5"}"#, "size mistyped"),
        (#"{"title": 1.5, "kind": "odd", "others": [], "note": "", "size": 2.0}"#, "title mistyped"),
    ])
    func `a review receives every field that could not be read`(_ body: String, _ issues: String) {
        let refusal = refusal {
            _ = try RequestCoding.decode(
                Sample.StrictChange.self, from: .init(captures: [("id", "1")], body: Array(body.utf8)))
        }
        #expect(refusal == "422 \(issues)")
    }

    @Test func `a validation's refusal is thrown`() {
        #expect(
            refusal { _ = try RequestCoding.decode(Sample.Close.self, from: .init(captures: [("id", "1")])) }
                == "400 password required")
    }

    // MARK: Encoding

    @Test func `fields travel where the route says`() throws {
        let find = try RequestCoding.encode(
            Sample.Find(
                id: 7, name: "a/b c", text: "x&y=z+1", flag: true, count: -1, limit: 5, ratio: 0.5,
                day: Day("2026-02-23")))
        #expect(
            find.path
                == "/things/7/a%2Fb%20c/parts?text=x%26y%3Dz%2B1&flag=true&count=-1&limit=5&ratio=0.5&day=2026-02-23")
        guard case .none = find.body else { return #expect(Bool(false), "a GET has no body") }

        let change = try RequestCoding.encode(Sample.Change(id: 7, title: "a/b", after: 3))
        #expect(change.path == "/things/7")
        #expect(
            try json(change) == [
                "title": "a/b", "kind": "plain", "flag": false, "count": 0, "large": 0, "others": [], "tags": [],
                "after": 3, "cleared": nil,
            ])

        let close = try RequestCoding.encode(Sample.Close(id: 7, password: "p"))
        #expect(close.path == "/accounts/7")
        #expect(try json(close) == ["password": "p"])
    }

    @Test func `a list in a query is its name once per element`() throws {
        #expect(try RequestCoding.encode(Sample.Filter(tag: ["a", "b c"])).path == "/things?tag=a&tag=b%20c")
        #expect(try RequestCoding.encode(Sample.Filter(tag: [])).path == "/things")
    }

    @Test func `an upload travels in a form, with its neighbours`() throws {
        let upload = Upload(.bytes([1, 2]), filename: "a.txt", contentType: "text/plain")
        let encoded = try RequestCoding.encode(Sample.Upload(id: 7, caption: "c", width: nil, file: upload))
        #expect(encoded.path == "/things/7/files")
        guard case .form(let fields, let uploads) = encoded.body else { return #expect(Bool(false), "no form") }
        #expect(fields.map(\.name) == ["caption"])
        #expect(fields.map(\.value) == ["c"])
        #expect(uploads.map(\.name) == ["file"])
        #expect(uploads.map(\.upload.filename) == ["a.txt"])

        let decoded = try RequestCoding.decode(
            Sample.Upload.self,
            from: .init(
                captures: [("id", "7")], items: [("caption", "c"), ("width", "3")], uploads: ["file": [upload]]))
        #expect(decoded.id == 7)
        #expect(decoded.caption == "c")
        #expect(decoded.width == 3)
        #expect(decoded.file.contentType == "text/plain")
        #expect(refusal { _ = try RequestCoding.decode(Sample.Upload.self, from: .init()) } == "400 Invalid JSON")
    }

    @Test func `uploads are nothing for a JSON coder`() {
        let upload = Upload(.bytes([]), filename: "a")
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(upload) }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Upload.self, from: Data("{}".utf8)) }
    }

    // MARK: Encoding and decoding

    @Test func `percent-encoding keeps RFC 3986's unreserved characters alone`() throws {
        let unreserved = "ABCXYZabcxyz0189-._~"
        #expect(RequestCoding.percentEncoded(unreserved) == unreserved)
        #expect(
            RequestCoding.percentEncoded("/?#[]@!$&'()*+,;= %\0")
                == "%2F%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D%20%25%00")
        #expect(RequestCoding.percentEncoded("é€😀") == "%C3%A9%E2%82%AC%F0%9F%98%80")
    }

    @Test func `any text survives path and query`() throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<500 {
            let request = Sample.Find(
                id: 7, name: "n" + random.text(), text: random.text(),
                count: .random(in: .min ... .max, using: &random),
                note: random.text(), ratio: .random(in: -1e9...1e9, using: &random))
            let encoded = try RequestCoding.encode(request)
            // Foundation decodes it, and shares no code with this package.
            let parts = try #require(URLComponents(string: encoded.path))
            let steps = parts.percentEncodedPath.split(separator: "/").map { $0.removingPercentEncoding }
            #expect(steps.count == 4)
            let source = RequestCoding.Source(
                captures: [("id", try #require(steps[1])), ("name", try #require(steps[2]))],
                items: try #require(parts.queryItems).map { ($0.name, $0.value ?? "") })
            #expect(try RequestCoding.decode(Sample.Find.self, from: source) == request)
        }
    }

    @Test func `any value survives a body`() throws {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<300 {
            var request = Sample.Change(id: 7)
            request.title = random.text()
            request.kind = .init(rawValue: random.text())
            request.flag = .random(using: &random)
            request.count = .random(in: .min ... .max, using: &random)
            request.large = .random(in: .min ... .max, using: &random)
            request.others = (0..<3).map { _ in .init(.random(in: 1 ... .max, using: &random)) }
            request.tags = (0..<3).map { _ in random.text() }
            request.note = Bool.random(using: &random) ? random.text() : nil
            request.after = Bool.random(using: &random) ? .init(.random(in: 1 ... .max, using: &random)) : nil
            request.cleared = Bool.random(using: &random) ? random.text() : nil
            guard case .json(let body) = try RequestCoding.encode(request).body else { throw NoJSON() }
            let source = RequestCoding.Source(captures: [("id", "7")], body: body)
            #expect(try RequestCoding.decode(Sample.Change.self, from: source) == request)
        }
    }
}
