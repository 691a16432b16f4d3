import Contract
import Foundation
import NIOCore
import Testing

@testable import ContractServer

/// The members that a type writes one by one are those that a container would have.
@Suite(.timeLimit(.minutes(30))) struct ObjectWriterTests {
    struct Author: Codable, WrittenByMembers, Hashable {
        var id: Int64
        var name: String

        init(id: Int64, name: String) { (self.id, self.name) = (id, name) }

        func encode(to encoder: any Encoder) throws { try encodeMembers(to: encoder) }

        func write(to object: inout ObjectWriter) throws {
            try object.write("id", id)
            try object.write("name", name)
        }
    }

    /// A value with a member of each kind.
    struct Entry: Encodable {
        @Shared var author: Author
        var text: String?
        var number: Int64?
        var list: [String] = []
        var objects: [Author] = []
        var refuses = false

        func encode(to encoder: any Encoder) throws {
            var object = try ObjectWriter(encoder)
            try object.write("count", list.count)
            try object.write("text", text)
            try object.write("number", number)
            try object.write("isEmpty", list.isEmpty)
            try object.write("at", Timestamp<Milliseconds>(milliseconds: 1_771_840_800_123))
            try object.write("until", nil as Timestamp<Seconds>?)
            try object.write("author", _author)
            if refuses { throw CancellationError() }
            try object.write("list", list)
            try object.write("objects", objects)
            try object.write("first", objects.first ?? author)
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

    private static let entries: [Entry] = {
        let anna = Entry(
            author: Author(id: 1, name: "Anna"), text: "a \"quoted\" é", number: .min, list: ["x", "y"],
            objects: [Author(id: 3, name: "Zoe"), Author(id: 4, name: "")])
        // Copies share an author until one of them gets another.
        var (copy, other) = (anna, anna)
        copy.list = []
        other.author.name = "Anne"
        return [anna, Entry(author: Author(id: 2, name: "")), copy, other, copy]
    }()

    @Test func membersAreWrittenInTheirOrder() throws {
        #expect(
            try text(Self.entries[0]) == """
                {"count":2,"text":"a \\"quoted\\" é","number":-9223372036854775808,"isEmpty":false,\
                "at":"2026-02-23T10:00:00.123Z","until":null,"author":{"id":1,"name":"Anna"},"list":["x","y"],\
                "objects":[{"id":3,"name":"Zoe"},{"id":4,"name":""}],\
                "first":{"id":3,"name":"Zoe"}}
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

    @Test func sharedValuesKeepTheirOwnTexts() throws {
        let names = Self.entries.map(\.author)
        let list = try text(Self.entries)
        let found = try list.matches(of: #/"author":({[^}]*})/#).map {
            try JSONDecoder().decode(Author.self, from: Data($0.1.utf8))
        }
        #expect(found == names)
    }

    /// A list of such objects takes no encoder for its elements, wherever it stands.
    @Test func listsAreThoseOfAnyEncoder() throws {
        struct Page<Item: Encodable>: Encodable {
            let items: [Item]

            func encode(to encoder: any Encoder) throws {
                var object = try ObjectWriter(encoder)
                try object.write("items", encoding: items)
                object.finish()
            }
        }
        let authors = [Author(id: 1, name: "Anna"), Author(id: 2, name: "\"")]
        let list = #"[{"id":1,"name":"Anna"},{"id":2,"name":"\""}]"#
        #expect(try text(authors) == list)
        #expect(try text([] as [Author]) == "[]")
        #expect(try text([authors, [], authors]) == "[\(list),[],\(list)]")
        #expect(try text(Page(items: authors)) == #"{"items":\#(list)}"#)
        #expect(try text(Page(items: [] as [Author])) == #"{"items":[]}"#)
        #expect(try text(Page(items: [1, 2])) == #"{"items":[1,2]}"#)
        #expect(try text(Optional(authors)) == list)
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
                let entry = Entry(author: Author(id: 7, name: "Once"))
                var refusal = entry
                refusal.refuses = true
                try? list.encode(refusal)
                try list.encode(entry)
                try list.encode(entry.author)
            }
        }
        let json = try text(Lenient())
        let author = #"{"id":7,"name":"Once"}"#
        #expect(
            json.hasSuffix(#","author":\#(author),"list":[],"objects":[],"first":\#(author)},\#(author)]"#))
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
