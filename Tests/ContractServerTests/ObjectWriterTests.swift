import Contract
import Foundation
import NIOCore
import Testing

@testable import ContractServer

/// The members that a type writes one by one are those that a container would have.
@Suite(.timeLimit(.minutes(30))) struct ObjectWriterTests {
    struct Author: Codable, Hashable, Identifiable {
        var id: Int64
        var name: String

        init(id: Int64, name: String) { (self.id, self.name) = (id, name) }

        func encode(to encoder: any Encoder) throws {
            var object = try ObjectWriter(encoder)
            try object.write("id", id)
            try object.write("name", name)
            object.finish()
        }
    }

    /// A value with a member of each kind.
    struct Entry: Encodable {
        var author: Author
        var text: String?
        var number: Int64?
        var list: [String] = []
        var refuses = false

        func encode(to encoder: any Encoder) throws {
            var object = try ObjectWriter(encoder)
            try object.write("count", list.count)
            try object.write("text", text)
            try object.write("number", number)
            try object.write("isEmpty", list.isEmpty)
            try object.write("at", Timestamp<Milliseconds>(milliseconds: 1_771_840_800_123))
            try object.write("until", nil as Timestamp<Seconds>?)
            try object.write("author", repeating: author)
            if refuses { throw CancellationError() }
            try object.write("list", encoding: list)
            object.finish()
        }
    }

    /// An object to which a second value adds its members.
    struct Continued: Encodable {
        let author: Author

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: JSONText.Key.self)
            try container.encode("author", forKey: JSONText.Key(stringValue: "type"))
            try author.encode(to: encoder)
        }
    }

    private func text(_ value: some Encodable) throws -> String { String(buffer: try JSONBody.encode(value)) }

    private static let entries = [
        Entry(author: Author(id: 1, name: "Anna"), text: "a \"quoted\" é", number: .min, list: ["x", "y"]),
        Entry(author: Author(id: 2, name: "")), Entry(author: Author(id: 1, name: "Anna"), number: 0),
        // Another value of the same id has its own text.
        Entry(author: Author(id: 1, name: "Anne")), Entry(author: Author(id: 1, name: "Anna"), text: ""),
    ]

    @Test func membersAreWrittenInTheirOrder() throws {
        #expect(
            try text(Self.entries[0]) == """
                {"count":2,"text":"a \\"quoted\\" é","number":-9223372036854775808,"isEmpty":false,\
                "at":"2026-02-23T10:00:00.123Z","until":null,"author":{"id":1,"name":"Anna"},"list":["x","y"]}
                """)
    }

    /// Another encoder's containers have the same members.
    @Test func everyEncoderGetsTheSameMembers() throws {
        let encoder = JSONEncoder()
        for value in Self.entries {
            let (mine, other) = (Data(try text(value).utf8), try encoder.encode(value))
            let objects = try [mine, other].map {
                try #require(JSONSerialization.jsonObject(with: $0) as? NSDictionary)
            }
            #expect(objects[0] == objects[1])
        }
    }

    @Test func repeatedValuesKeepTheirOwnTexts() throws {
        let names = Self.entries.map(\.author)
        let list = try text(Self.entries)
        let found = try list.matches(of: #/"author":({[^}]*})/#).map {
            try JSONDecoder().decode(Author.self, from: Data($0.1.utf8))
        }
        #expect(found == names)
    }

    @Test func anObjectMayContinueOneThatIsOpen() throws {
        #expect(
            try text([Continued(author: Author(id: 1, name: "Anna"))])
                == #"[{"type":"author","id":1,"name":"Anna"}]"#)
    }

    /// An element that fails leaves nothing behind, and no place of its texts is copied later.
    @Test func aFailureTakesBackWhatWasWritten() throws {
        struct Lenient: Encodable {
            func encode(to encoder: any Encoder) throws {
                var list = encoder.unkeyedContainer()
                let author = Author(id: 7, name: "Once")
                try? list.encode(Entry(author: author, refuses: true))
                try list.encode(Entry(author: author))
                try list.encode(author)
            }
        }
        let json = try text(Lenient())
        #expect(json.hasSuffix(#","author":{"id":7,"name":"Once"},"list":[]},{"id":7,"name":"Once"}]"#))
        #expect(json.hasPrefix(#"[{"count":0,"#))
    }

    /// Times of one day share the text of their date.
    @Test func everyTimeHasItsOwnDate() throws {
        let day: Int64 = 86_400_000
        let now: Int64 = 1_771_840_800_123
        let milliseconds = [now, now + 1, now - day, now, day - 1, day, -1, -day, 0, 253_402_300_800_000, now]
        let times = milliseconds.map { Timestamp<Milliseconds>(milliseconds: $0) }
        #expect(try text(times) == "[" + times.map { "\"\($0)\"" }.joined(separator: ",") + "]")
        let seconds = milliseconds.map { Timestamp<Seconds>(milliseconds: $0) }
        #expect(try text(seconds) == "[" + seconds.map { "\"\($0)\"" }.joined(separator: ",") + "]")
        #expect(times[0].description == "2026-02-23T10:00:00.123Z")
    }

    /// A time that is removed again leaves its date to no other.
    @Test func aDateThatIsRemovedIsNotCopied() throws {
        struct Refused: Encodable {
            let time: Timestamp<Milliseconds>
            func encode(to encoder: any Encoder) throws {
                var list = encoder.unkeyedContainer()
                try list.encode(time)
                throw EncodingError.invalidValue(time, .init(codingPath: [], debugDescription: "refused"))
            }
        }
        struct Lenient: Encodable {
            func encode(to encoder: any Encoder) throws {
                let time = Timestamp<Milliseconds>(milliseconds: 1_771_840_800_123)
                var list = encoder.unkeyedContainer()
                try? list.encode(Refused(time: time))
                try list.encode("12345678901234567890")
                try list.encode(time)
            }
        }
        #expect(try text(Lenient()) == #"["12345678901234567890","2026-02-23T10:00:00.123Z"]"#)
    }
}
