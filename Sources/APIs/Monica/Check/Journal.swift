@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import Foundation
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static let journal: [Scenario<MonicaWorld>] = [
        Scenario("An entry of the journal is the same wherever shown", clause: "GET /journal") { world, owner in
            let missing = "The requested journal entry was not found."
            let words = [world.freshWord(), world.freshWord()]
            func body(_ index: Int, _ day: String) throws -> JSONValue {
                [
                    "title": .string(try words[index]), "post": .string("About \(try words[index])"),
                    "date": .string(day),
                ]
            }
            let sent = try body(0, "2024-02-29")
            let made = try await owner.raw(.post, "/journal", sent).succeeded(201)["data"] ?? nil
            try made.hasEntry(sent)
            let own = "/journal/\(made["id"] ?? nil)"
            try expect(made["url"]?.string?.hasSuffix("/api" + own) == true, "the URL of \(made)")
            try expect(try await owner.get(own).succeeded(200)["data"], equals: made)
            let other = try await owner.raw(.post, "/journal", try body(1, "2024-03-01")).succeeded(201)["data"] ?? nil
            // Scenarios share an account, so the newest entries are these or others' that came meanwhile.
            let newest = try await owner.get("/journal?sort=-created_at&limit=100").succeeded(200)["data"]
            try expect(newest?.elements.filter { $0 == made || $0 == other }, equals: [other, made])
            let changed = try body(1, "2024-01-31")
            let written = try await owner.raw(.put, own, changed).succeeded(200)["data"] ?? nil
            try written.hasEntry(changed)
            try expect(try await owner.get(own).succeeded(200)["data"], equals: written)
            for member in ["id", "uuid", "created_at", "account", "url"] {
                try expect(written[member], equals: made[member])
            }
            let first = try await owner.get("/journal?limit=1").succeeded(200)["data"]
            let second = try await owner.get("/journal?limit=1&page=2").succeeded(200)
            try expect([first?.elements.count, second["data"]?.elements.count], equals: [1, 1])
            try expect(first != second["data"], "two pages are the same")
            try expect(second["meta"]?["current_page"], equals: 2)
            try expect(second["meta"]?["per_page"], equals: 1)
            // A change without a day keeps it.
            let kept = try await owner.raw(.put, own, ["title": "x", "post": "y"]).succeeded(200)["data"]
            try expect(kept?["date"], equals: "2024-01-31T00:00:00Z")
            try expect(
                try await owner.raw(.delete, own).succeeded(200), equals: ["deleted": true, "id": made["id"] ?? nil])
            try await owner.raw(.delete, own).refused(404, 31, missing)
            try await owner.get(own).refused(404, 31, missing)
            let left = try await owner.get("/journal?sort=-created_at&limit=100").succeeded(200)["data"]
            try expect(left?.elements.filter { $0["id"] == made["id"] || $0 == other }, equals: [other])
        },
        Scenario("An entry of the journal is of today, and says what is wrong with it", clause: "POST /journal") {
            _, owner in
            let entry = try await owner.client.create(Monica.JournalDraft(title: "x", post: "y"))
            let zone = try await owner.get("/me").succeeded(200)["data"]?["timezone"]?.string ?? "UTC"
            try expect(entry.day, equals: Day(entry.createdAt.date, in: TimeZone(identifier: zone) ?? .gmt))
            let table: [(JSONValue, String)] = [
                ([:], "The title field is required. The post field is required."),
                (["title": "x"], "The post field is required."),
                (
                    ["title": .string(String(repeating: "x", count: 256)), "post": 7, "date": "2023-02-29"],
                    "The title may not be greater than 255 characters. The post must be a string. The date is not a valid date."
                ),
            ]
            for (body, text) in table {
                try await owner.raw(.post, "/journal", body).refused(422, 32, text, "POST \(body)")
                try await owner.raw(.put, "/journal/\(entry.id)", body).refused(422, 32, text, "PUT \(body)")
            }
        },
    ]
}

extension JSONValue {
    /// Fails unless this is an entry with the fields of the request that made it.
    fileprivate func hasEntry(_ body: JSONValue) throws {
        for member in ["title", "post"] { try expect(self[member], equals: body[member]) }
        try expect(self["object"], equals: "entry")
        try expect(self["date"], equals: .string("\(body["date"]?.string ?? "")T00:00:00Z"))
    }
}
