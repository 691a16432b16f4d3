@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DeuceDiaryClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    static let reactions: [Scenario<DeuceDiaryWorld>] = [
        Scenario(
            "A reaction is one for each emoji and user, and listed with its user",
            clause: "POST /api/entries/{entryId}/reactions"
        ) { _, john, jane in
            let entry = try await john.log(in: try await john.group(with: jane))[0].id
            let path = "/api/entries/\(entry)/reactions"
            try expect(try await jane.get(path).succeeded(), equals: [])
            var made: [JSONValue] = []
            for (person, emoji) in [(john, "💩"), (jane, "💩"), (jane, "🚽")] {
                let reaction = try await person.post(path, ["emoji": .string(emoji)]).succeeded()
                try expect(reaction["entryId"], equals: entry.json)
                try expect(reaction["userId"], equals: person.id.json)
                try expect(reaction["emoji"], equals: .string(emoji))
                made.append(reaction)
                try await person.post(path, ["emoji": .string(emoji)])
                    .refused(400, "You've already reacted with this emoji")
            }
            let listed = try await john.get(path).succeeded().elements
            try expect(listed.map { $0["id"] }, equals: made.map { $0["id"] })
            try expect(listed.map { $0["user"]?["id"] }, equals: [john.id.json, jane.id.json, jane.id.json])
        },
        Scenario(
            "Taking a reaction back always succeeds, and touches one's own alone",
            clause: "DELETE /api/entries/{entryId}/reactions"
        ) { world, john, jane, joan in
            let entry = try await john.log(in: try await john.group(with: jane))[0].id
            for person in [john, jane] { try await person.send(DeuceDiary.AddReaction(entry: entry, emoji: "💩")) }
            for _ in 0..<2 {
                let answer = try await john.send(DeuceDiary.RemoveReaction(entry: entry, emoji: "💩"))
                try expect(answer.message, equals: "Reaction removed")
            }
            for (person, entry, emoji) in [
                (joan, entry.rawValue, "💩"), (john, world.unknownID(), "💩"), (john, "x", "💩"),
                (jane, entry.rawValue, "never"), (jane, entry.rawValue, String(repeating: "x", count: 99)),
            ] {
                let body = (["emoji": .string(emoji)] as JSONValue).description
                try await person.raw(.delete, "/api/entries/\(entry)/reactions", body: body).succeeded("\(entry)")
            }
            let left = try await john.send(DeuceDiary.ListReactions(entry: entry))
            try expect(left.map(\.userId), equals: [jane.id])
            for body in ["", "{}", #"{"emoji":""}"#, #"{"emoji":" "}"#] {
                try await john.raw(.delete, "/api/entries/\(entry)/reactions", body: body)
                    .refused(400, "Emoji is required", body)
            }
            // A removed reaction can be added again.
            try await john.send(DeuceDiary.AddReaction(entry: entry, emoji: "💩"))
        },
        Scenario(
            "An emoji is any text of up to 10 scalars, compared scalar by scalar",
            clause: "POST /api/entries/{entryId}/reactions"
        ) { _, john in
            let entry = try await john.log(in: try await john.group())[0].id
            let path = "/api/entries/\(entry)/reactions"
            let family = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}\u{200D}\u{1F466}"
            let emojis = [
                family, "lol", "\u{2764}", "\u{2764}\u{FE0F}", " x ", "x", "e\u{301}", "\u{E9}",
                String(repeating: "💩", count: 10), "<script>",
            ]
            for emoji in emojis {
                let reaction = try await john.post(path, ["emoji": .string(emoji)]).succeeded(emoji)
                let kept = reaction["emoji"]?.string.map { Array($0.unicodeScalars) }
                try expect(kept, equals: Array(emoji.unicodeScalars))
            }
            try expect(try await john.send(DeuceDiary.ListReactions(entry: entry)).count, equals: emojis.count)
            let long = "Emoji must be 10 characters or less"
            for (emoji, text) in [
                ("", "Emoji is required"), (" \n", "Emoji is required"), ("\u{3000}", "Emoji is required"),
                ("\u{FE0F}", "Emoji is required"), ("\u{200D}\u{2800}", "Emoji is required"),
                ("elevenletters", long), (String(repeating: "💩", count: 11), long),
            ] {
                try await john.post(path, ["emoji": .string(emoji)]).refused(400, text, emoji)
            }
        },
        Scenario("The same reaction twice at once is one", clause: "POST /api/entries/{entryId}/reactions") { _, john in
            let entry = try await john.log(in: try await john.group())[0].id
            let answers = try await together(20) { _ in
                try await john.post("/api/entries/\(entry)/reactions", ["emoji": "💩"])
            }
            try expect(answers.filter { $0.status == 200 }.count, equals: 1)
            for answer in answers where answer.status != 200 {
                try answer.refused(400, "You've already reacted with this emoji")
            }
        },
        Scenario("Reactions are for members, to entries that exist", clause: "POST /api/entries/{entryId}/reactions") {
            world, john, joan in
            let entry = try await john.log(in: try await john.group())[0].id
            for id in [world.unknownID(), "x", "1"] {
                let path = "/api/entries/\(id)/reactions"
                try await john.post(path, ["emoji": "x"]).refused(404, "Entry not found", id)
                try await john.get(path).refused(404, "Entry not found", id)
                try await john.post(path, ["emoji": ""]).refused(400, "Emoji is required", id)
            }
            let path = "/api/entries/\(entry)/reactions"
            try await joan.post(path, ["emoji": "x"]).refused(403, "Not authorized to react to this entry")
            try await joan.get(path).refused(403, "Not authorized to access this entry")
        },
        Scenario("Reactions are read in pages", clause: "GET /api/entries/{entryId}/reactions") { _, john, jane in
            let group = try await john.group(with: jane)
            let (entry, other) = (try await john.log(in: group)[0].id, try await john.log(in: group)[0].id)
            var added: [DeuceDiary.Reaction.ID] = []
            for index in 0..<5 {
                added.append(try await jane.send(DeuceDiary.AddReaction(entry: entry, emoji: "\(index)")).id)
            }
            let ids = added
            let foreign = try await jane.send(DeuceDiary.AddReaction(entry: other, emoji: "x")).id
            func page(_ limit: Int?, _ after: DeuceDiary.Reaction.ID?) async throws -> [DeuceDiary.Reaction.ID] {
                try await john.send(DeuceDiary.ListReactions(entry: entry, limit: limit, after: after)).map(\.id)
            }
            try expect(try await page(2, nil), equals: Array(ids[..<2]))
            try expect(try await page(2, ids[1]), equals: Array(ids[2..<4]))
            try expect(try await page(nil, ids[3]), equals: Array(ids[4...]))
            try expect(try await page(nil, ids[4]), equals: [])
            let path = "/api/entries/\(entry)/reactions"
            for query in ["limit=0", "limit=x", "limit=-5"] {
                try await john.get("\(path)?\(query)").refused(400, "Invalid limit", query)
            }
            for id in ["\(foreign)", "0", "-1", "x", "", "9223372036854775807"] {
                try await john.get("\(path)?after=\(id)").refused(400, "Invalid cursor", id)
            }
        },
    ]
}
