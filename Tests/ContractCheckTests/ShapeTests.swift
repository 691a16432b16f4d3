import Contract
import ContractCheck
import Testing

@Suite(.timeLimit(.minutes(30))) struct ShapeTests {
    private static let person: Shape = .object(
        ["id": .id, "name": .text, "bio": .nullable(.text), "at": .timestamp, "kind": .oneOf(["a", "b"])],
        additions: ["more": .integer])

    private static let whole: [String: JSONValue] = [
        "id": 1, "name": "x", "bio": nil, "at": "2026-02-23T10:00:00Z", "kind": "a", "more": -5,
    ]

    @Test func matchingValuesHaveNoDifference() {
        #expect(Self.person.difference(in: .object(Self.whole)) == nil)
        let list: Shape = .list(of: Self.person)
        #expect(list.difference(in: [.object(Self.whole), .object(Self.whole)]) == nil)
        #expect(list.difference(in: []) == nil)
    }

    @Test(
        arguments: [
            ("id", 0, ".id", "an id above 0"), ("id", "1", ".id", "an id"), ("id", 1.5, ".id", "an id"),
            ("id", nil, ".id", "an id"), ("id", true, ".id", "an id"), ("name", nil, ".name", "a text"),
            ("name", 5, ".name", "a text"), ("bio", 5, ".bio", "a text"), ("kind", "c", ".kind", #""a" or "b""#),
            ("more", "1", ".more", "an integer"), ("at", 5, ".at", "a time"),
        ] as [(String, JSONValue, String, String)])
    func differencesNameTheirPath(_ member: String, _ value: JSONValue, _ path: String, _ expected: String) {
        var members = Self.whole
        members[member] = value
        let difference = Self.person.difference(in: .object(members))
        #expect(difference == JSONDifference(path: path, expected: expected, found: value.description))
    }

    @Test(arguments: [
        "2026-02-23T10:00:00.000Z", "2026-02-23T10:00:00+00:00", "2026-02-23 10:00:00Z", "2026-02-23T10:00:00",
        "2026-02-30T10:00:00Z", "2026-13-01T10:00:00Z", "2026-02-23T10:00Z", "2026-02-23T10:00:00z", "",
    ])
    func timesAreWrittenInOneWay(_ text: String) {
        #expect(Shape.timestamp.difference(in: .string(text)) != nil)
    }

    @Test func membersAreExact() {
        var more = Self.whole
        more["secret"] = 1
        #expect(Self.person.difference(in: .object(more))?.found == "unexpected: secret")
        var less = Self.whole
        less["bio"] = .some(nil)
        #expect(Self.person.difference(in: .object(less)) == nil)
        less.removeValue(forKey: "bio")
        #expect(Self.person.difference(in: .object(less))?.found == "missing: bio")
    }

    @Test func additionsMayBeAbsentFromAServerOfTheContractAlone() {
        var members = Self.whole
        members.removeValue(forKey: "more")
        #expect(Self.person.difference(in: .object(members), level: .contract) == nil)
        #expect(Self.person.difference(in: .object(members), level: .addition) != nil)
        members["more"] = "no integer"
        #expect(Self.person.difference(in: .object(members), level: .contract)?.path == ".more")
    }

    @Test func thePathLeadsToTheFirstDifference() {
        let found: JSONValue = ["a": [["b": 1], ["b": 2, "c": [1, 2]]]]
        let expected: JSONValue = ["a": [["b": 1], ["b": 2, "c": [1, 3]]]]
        #expect(
            found.difference(from: expected) == JSONDifference(path: ".a[1].c[1]", expected: "3", found: "2"))
        #expect(found.difference(from: found) == nil)
        #expect(found["a"]?.difference(from: [1])?.path == "")
    }
}
