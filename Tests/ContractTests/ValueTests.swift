import Contract
import Foundation
import HTTPTypes
import Testing

/// The small types from which contracts are built keep their rules.
@Suite(.timeLimit(.minutes(30))) struct ValueTests {
    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func read<T: Decodable>(_ type: T.Type, _ json: String) throws -> T {
        try JSONDecoder().decode(type, from: Data(json.utf8))
    }

    // MARK: Identifier

    enum Thing {}
    typealias ID = Identifier<Thing>

    @Test func identifiersAreNumbersOnTheWire() throws {
        #expect(try json([ID(1), ID(.max)]) == "[1,9223372036854775807]")
        #expect(try read([ID].self, "[1,9223372036854775807]") == [1, ID(.max)])
        #expect(ID(42).description == "42")
        #expect("\(ID(7))" == "7")
    }

    @Test(arguments: ["[\"1\"]", "[1.5]", "[true]", "[null]", "[9223372036854775808]", "[{}]"])
    func identifiersOfOtherFormsAreRefused(_ text: String) {
        #expect(throws: DecodingError.self) { try read([ID].self, text) }
    }

    @Test(arguments: [(1, true), (Int64.max, true), (0, false), (-1, false), (.min, false)])
    func identifiersStartAtOne(_ value: Int64, _ isValid: Bool) {
        #expect(ID(value).isValid == isValid)
    }

    @Test func identifiersAreOrderedByNumber() {
        #expect([ID(10), 9, 100].sorted() == [9, 10, 100])
    }

    // MARK: TextIdentifier

    typealias TextID = TextIdentifier<Thing>

    @Test func textIdentifiersAreTextOnTheWire() throws {
        #expect(try json([TextID("user_1"), ""]) == #"["user_1",""]"#)
        #expect(try read([TextID].self, #"["user_1","é"]"#) == ["user_1", "é"])
        #expect("\(TextID("x"))" == "x")
        #expect(throws: DecodingError.self) { try read([TextID].self, "[1]") }
    }

    /// Databases compare bytes, while Swift's own strings are equal when they look alike.
    @Test func textIdentifiersAreComparedByteForByte() {
        let (composed, decomposed) = (TextID("\u{E9}"), TextID("e\u{301}"))
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, "\u{E9}"]).count == 2)
        #expect([TextID("b"), "a", "B", "\u{E9}", "e\u{301}"].sorted() == ["B", "a", "b", "e\u{301}", "\u{E9}"])
    }

    @Test(arguments: [
        ("0b9c8d7e-6f5a-4b4c-9d3e-2f1a0b9c8d7e", true), ("0B9C8D7E-6F5A-4B4C-9D3E-2F1A0B9C8D7E", true),
        ("00000000-0000-0000-0000-000000000000", true), ("", false), ("x", false),
        ("0b9c8d7e6f5a4b4c9d3e2f1a0b9c8d7e", false), ("0b9c8d7e-6f5a-4b4c-9d3e-2f1a0b9c8d7", false),
        ("0b9c8d7e-6f5a-4b4c-9d3e-2f1a0b9c8d7g", false), ("0b9c8d7-e6f5a-4b4c-9d3e-2f1a0b9c8d7e", false),
        ("{0b9c8d7e-6f5a-4b4c-9d3e-2f1a0b9c8d7}", false), ("0b9c8d7e-6f5a-4b4c-9d3e-2f1a0b9c8d\u{FF17}", false),
    ])
    func aUUIDHasOneForm(_ text: String, _ isUUID: Bool) { #expect(TextID(text).isUUID == isUUID) }

    // MARK: OrNull

    struct Profile: Codable, Equatable {
        @OrNull var bio: String?
        @OrNull var avatar: Int?
    }

    @Test func nilIsWrittenAsNull() throws {
        #expect(try json(Profile(bio: nil, avatar: nil)) == #"{"avatar":null,"bio":null}"#)
        #expect(try json(Profile(bio: "Hi", avatar: 4)) == #"{"avatar":4,"bio":"Hi"}"#)
    }

    @Test(arguments: [
        (#"{"bio":null,"avatar":null}"#, Profile(bio: nil, avatar: nil)),
        (#"{}"#, Profile(bio: nil, avatar: nil)),
        (#"{"avatar":3}"#, Profile(bio: nil, avatar: 3)),
        (#"{"bio":"","avatar":0}"#, Profile(bio: "", avatar: 0)),
    ])
    func nullAndAbsentAreNil(_ text: String, _ expected: Profile) throws {
        #expect(try read(Profile.self, text) == expected)
    }

    @Test func anotherTypeIsNotNil() {
        #expect(throws: DecodingError.self) { try read(Profile.self, #"{"bio":5}"#) }
    }

    // MARK: Open enumerations

    struct Kind: OpenEnumeration {
        let rawValue: String
    }

    @Test func unknownWordsSurvive() throws {
        let kinds = try read([Kind].self, #"["text","hologram",""]"#)
        #expect(kinds.map(\.rawValue) == ["text", "hologram", ""])
        #expect(try json(kinds) == #"["text","hologram",""]"#)
        #expect("\(kinds[1])" == "hologram")
        #expect(throws: DecodingError.self) { try read([Kind].self, "[1]") }
    }

    // MARK: JSONValue

    static let text = """
        {"null":null,"yes":true,"no":false,"zero":0,"one":1,"large":9223372036854775807,"small":-9223372036854775808,\
        "half":0.5,"huge":1e300,"text":"a\\u00e9\\n","empty":"","list":[1,[],{"a":[null]}],"object":{}}
        """
    static let value: JSONValue = [
        "null": nil, "yes": true, "no": false, "zero": 0, "one": 1, "large": .integer(.max), "small": .integer(.min),
        "half": 0.5, "huge": 1e300, "text": "aé\n", "empty": "", "list": [1, [], ["a": [nil]]], "object": [:],
    ]

    @Test func anyShapeIsReadAndWritten() throws {
        #expect(try read(JSONValue.self, Self.text) == Self.value)
        #expect(try read(JSONValue.self, json(Self.value)) == Self.value)
    }

    @Test func booleansAreNoNumbersAndNumbersNoBooleans() throws {
        #expect(try read(JSONValue.self, "[true,1,0,false]") == [true, 1, 0, false])
        #expect(try read(JSONValue.self, "[1]") != [true])
        #expect(try read(JSONValue.self, #"["1"]"#) != [1])
    }

    @Test func numbersBeyondIntegersAreNumbers() throws {
        #expect(try read(JSONValue.self, "[9223372036854775808]") == [.number(9_223_372_036_854_775_808)])
        #expect(try read(JSONValue.self, "[1.25e2]") == [125])
    }

    @Test func partsAreFoundByKeyAndIndex() {
        #expect(Self.value["list"]?[2]?["a"]?[0] == .null)
        #expect(Self.value["absent"] == nil)
        #expect(Self.value["list"]?[3] == nil)
        #expect(Self.value["list"]?[-1] == nil)
        #expect(Self.value[0] == nil)
        #expect(Self.value["list"]?["key"] == nil)
    }

    // MARK: Problem and route

    @Test(arguments: [(-5, "1"), (0, "1"), (1, "1"), (61, "61")])
    func aRetryIsAtLeastASecondAway(_ seconds: Int64, _ header: String) {
        let problem = Problem(.tooManyRequests, "Later", headers: [.allow: "GET"]).retry(afterSeconds: seconds)
        #expect(problem.headers[.retryAfter] == header)
        #expect(problem.headers[.allow] == "GET")
        #expect(problem.message == "Later")
    }

    @Test func aPathHasItsCaptures() {
        let route = Route.delete("/chats/{id}/members/{userId}", .noContent)
        #expect(route.captures == ["id", "userId"])
        #expect(
            route.segments == [.literal("chats"), .capture("id"), .literal("members"), .capture("userId")])
        #expect(route.status == .noContent)
        #expect(!route.acceptsIdempotencyKey)
    }
}
