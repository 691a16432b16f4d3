import Foundation
import Testing

@testable import Contract

/// Fields that are read one by one are those that a decoder's container gives, with the same issues.
@Suite(.timeLimit(.minutes(30))) struct FieldReaderTests {
    struct Decoded: OpenEndpoint, Equatable {
        typealias API = Sample
        typealias Output = Empty
        static let route = Route.post("/things/{id}")

        var thing: Sample.ID
        var text: String
        var kind: Kind
        var other: Sample.ID?

        enum CodingKeys: String, CodingKey {
            case thing = "id"
            case text, kind, other
        }
    }

    struct Read: OpenEndpoint, Equatable {
        typealias API = Sample
        typealias Output = Empty
        static let route = Route.post("/things/{id}")

        var thing: Sample.ID
        var text: String
        var kind: Kind
        var other: Sample.ID?

        init(from decoder: any Decoder) throws {
            let fields = try FieldReader(decoder)
            thing = try fields.id("id")
            text = try fields.text("text")
            kind = try fields.value("kind")
            other = try fields.optionalID("other")
        }

        enum CodingKeys: String, CodingKey {
            case thing = "id"
            case text, kind, other
        }
    }

    struct Kind: OpenEnumeration {
        let rawValue: String
        static let absent = Kind(rawValue: "usual")
    }

    private static let values = [
        "null", "true", "0", "1", "-7", "1.0", "1.5", "1e3", "9223372036854775807", "9223372036854775808", "1e400",
        "\"\"",
        "\"text\"", "\"a\\u0000b\"", "\"é\\n\"", "[]", "[1]", "{}",
    ]

    /// The bodies: each field with each value, once in a body of its own and once as the second of its name.
    private static let bodies: [String] =
        ["", "{}", "[]", "{", #"{"text":"x"}"#]
        + ["text", "kind", "other", "id"].flatMap { name in
            values.flatMap { value in
                [#"{"\#(name)":\#(value)}"#, #"{"text":"x","\#(name)":\#(value),"other":3}"#]
            }
        }

    @Test(arguments: [[("id", "5")], [("id", "x")], [("id", "99999999999999999999")], []])
    func everyBodyGivesTheSameFieldsAndIssues(_ captures: [(name: String, value: String)]) {
        for body in Self.bodies {
            let source = RequestCoding.Source(captures: captures, body: Array(body.utf8))
            func result<E: Endpoint>(_: E.Type) -> Result<(E, [FieldIssue]), Problem> {
                Result { () throws(Problem) in try RequestCoding.read(E.self, from: source) }
            }
            switch (result(Decoded.self), result(Read.self)) {
            case (.success(let (decoded, issues)), .success(let (read, others))):
                #expect(
                    [decoded.thing, decoded.other] == [read.thing, read.other] && decoded.text == read.text
                        && decoded.kind == read.kind, "\(body)")
                #expect(issues == others, "\(body)")
            case (.failure(let problem), .failure(let other)):
                #expect(problem.message == other.message, "\(body)")
            case (let decoded, let read):
                Issue.record("\(body): \(decoded), \(read)")
            }
        }
    }

    /// Other decoders give the same fields.
    @Test func anyDecoderCanBeRead() throws {
        let body = Data(#"{"id":5,"text":"x","kind":"usual","other":3}"#.utf8)
        let read = try JSONDecoder().decode(Read.self, from: body)
        #expect(read.thing == 5 && read.text == "x" && read.kind == .absent && read.other == 3)
    }
}
