@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    /// The fields of a message.
    static let message: JSONValue = ["content": "x", "written_at": "2024-01-01", "written_by_me": true]

    static let conversations: [Scenario<MonicaWorld>] = [
        Scenario("A conversation is the same wherever shown", clause: "GET /conversations") { world, owner in
            let person = try await owner.described(world.freshWord())["id"]?.integer.map(Int.init) ?? 0
            let (phone, email) = (try await owner.fieldType("phone"), try await owner.fieldType("email"))
            let bodies: [JSONValue] = [
                ["contact_id": person.json, "happened_at": "2024-10-20", "contact_field_type_id": phone["id"] ?? nil],
                [
                    "contact_id": person.json, "happened_at": "2024-10-19T07:05:09Z",
                    "contact_field_type_id": email["id"] ?? nil,
                ],
            ]
            try await owner.follow("conversations", "conversation", of: person, bodies) { body in
                let isFirst = body["happened_at"] == "2024-10-20"
                return [
                    "happened_at": isFirst ? "2024-10-20T00:00:00Z" : body["happened_at"] ?? nil,
                    "contact_field_type": isFirst ? phone : email, "messages": [],
                ]
            } whole: {
                let list = "/contacts/\(person)/conversations"
                let conversations = try await owner.get(list).succeeded(200)["data"]
                for conversation in conversations?.elements ?? [] {
                    let end = "/api/conversations/\(conversation["id"] ?? nil)"
                    try expect(conversation["url"]?.string?.hasSuffix(end) == true, "the URL of \(conversation)")
                }
                let latest = try await owner.get(list + "?sort=-happened_at").succeeded(200)["data"]
                try expect(latest, equals: conversations ?? nil)
                let earliest = try await owner.get(list + "?sort=happened_at").succeeded(200)["data"]
                try expect(earliest?.elements, equals: conversations?.elements.reversed())
                return conversations
            }
        },
        Scenario("Messages of a conversation are made, changed and gone", clause: "POST /conversations/{id}/messages") {
            world, owner in
            let john = try await owner.described(world.freshWord())
            let talk = try await owner.talk(with: john["id"]?.integer.map(Int.init) ?? 0)
            let path = "/conversations/\(talk["id"] ?? nil)"
            let (question, answer): (JSONValue, JSONValue) = (
                ["content": "Coming?", "written_at": "2024-10-20T18:30:00Z", "written_by_me": true],
                ["content": "Yes", "written_at": "2024-10-20T18:29:00Z", "written_by_me": 0]
            )
            var shown = talk
            for (number, body) in [question, answer].enumerated() {
                shown = try await owner.raw(.post, path + "/messages", body).succeeded(200)["data"] ?? nil
                try expect(shown, equals: try await owner.get(path).succeeded(200)["data"] ?? nil)
                try expect(shown["messages"]?.elements.count, equals: number + 1)
                let message = shown["messages"]?.elements.last
                for (member, value) in body.members {
                    try expect(message?[member], equals: value == 0 ? false : value)
                }
                try message?["contact"].refers(to: john)
                try expect(message?["account"], equals: john["account"])
                try expect(message?["conversation"], equals: ["id": talk["id"] ?? nil])
            }
            for member in ["id", "uuid", "happened_at", "contact_field_type", "contact", "created_at"] {
                try expect(shown[member], equals: talk[member])
            }
            let (first, second) = (shown["messages"]?[0] ?? nil, shown["messages"]?[1] ?? nil)
            let own = path + "/messages/\(first["id"] ?? nil)"
            let late: JSONValue = ["content": "Late", "written_at": "2024-10-21", "written_by_me": "0"]
            let changed = try await owner.raw(.put, own, late).succeeded(200)["data"]
            try expect(changed, equals: try await owner.get(path).succeeded(200)["data"])
            try expect(changed?["messages"]?[0]?["content"], equals: "Late")
            try expect(changed?["messages"]?[0]?["written_at"], equals: "2024-10-21T00:00:00Z")
            try expect(changed?["messages"]?[0]?["written_by_me"], equals: false)
            for member in ["id", "created_at", "contact", "conversation", "account"] {
                try expect(changed?["messages"]?[0]?[member], equals: first[member])
            }
            try expect(changed?["messages"]?[1], equals: second)
            let same: JSONValue = [
                "happened_at": talk["happened_at"] ?? nil,
                "contact_field_type_id": talk["contact_field_type"]?["id"] ?? nil,
            ]
            let written = try await owner.raw(.put, path, same).succeeded(200)["data"]
            try expect(written?["messages"], equals: changed?["messages"])
            let list = try await owner.get("/contacts/\(john["id"] ?? nil)/conversations").succeeded(200)["data"]
            try expect(list, equals: [written ?? nil])
            let all = try await owner.get("/conversations?sort=-updated_at&limit=100").succeeded(200)["data"]?.elements
            try expect(all?.first { $0["id"] == talk["id"] }, equals: written)
            try expect(
                try await owner.raw(.delete, own).succeeded(200), equals: ["deleted": true, "id": first["id"] ?? nil])
            for method in [HTTPRequest.Method.delete, .put] {
                try await owner.raw(method, own, late).refused(404, 31, "The requested message was not found.")
            }
            let left = try await owner.get(path).succeeded(200)["data"]
            try expect(left?["messages"], equals: [second])
            try await owner.raw(.delete, path).succeeded(200)
            let gone = "The requested conversation was not found."
            try await owner.raw(.post, path + "/messages", late).refused(404, 31, gone)
            for method in [HTTPRequest.Method.delete, .put] {
                let own = path + "/messages/\(second["id"] ?? nil)"
                try await owner.raw(method, own, late).refused(404, 31, gone)
            }
        },
        Scenario("A conversation says what is wrong with it", clause: "POST /conversations") { _, owner in
            let (john, jane) = (try await owner.contact("John").id, try await owner.contact("Jane").id)
            let whole = try await owner.conversation(with: john)
            let own = "/conversations/\(try await owner.talk(with: john)["id"] ?? nil)"
            let none = "The selected contact field type id is invalid."
            let table: [([String: JSONValue], String)] = [
                (["happened_at": nil], "The happened at field is required."),
                (["happened_at": "yesterday"], "The happened at is not a valid date."),
                (["contact_field_type_id": nil], "The contact field type id field is required."),
                (["contact_field_type_id": "phone"], "The contact field type id must be an integer."),
                (["contact_field_type_id": 0], none), (["contact_field_type_id": 999_999_999], none),
                (
                    ["happened_at": 7, "contact_id": "x", "contact_field_type_id": 0],
                    "The happened at is not a valid date. The contact id must be an integer. \(none)"
                ),
            ]
            for (fields, text) in table {
                let body = JSONValue.object(whole.members.merging(fields) { $1 })
                try await owner.raw(.post, "/conversations", body).refused(422, 32, text, "POST \(body)")
                try await owner.raw(.put, own, body).refused(422, 32, text, "PUT \(body)")
            }
            let free = JSONValue.object(whole.members.merging(["contact_id": nil]) { $1 })
            try await owner.raw(.post, "/conversations", free).refused(422, 32, "The contact id field is required.")
            try await owner.raw(.put, own, .object(whole.members.filter { $0.key != "contact_id" })).succeeded(200)
            let nobody = "The requested contact was not found."
            for contact in [jane, 999_999_999] {
                let body = JSONValue.object(whole.members.merging(["contact_id": contact.json]) { $1 })
                try await owner.raw(.put, own, body).refused(404, 31, nobody)
                if contact != jane { try await owner.raw(.post, "/conversations", body).refused(404, 31, nobody) }
            }
        },
        Scenario("A message says what is wrong with it", clause: "POST /conversations/{id}/messages") { _, owner in
            let john = try await owner.contact("John").id
            let path = "/conversations/\(try await owner.talk(with: john)["id"] ?? nil)/messages"
            let made = try await owner.raw(.post, path, message).succeeded(200)["data"]?["messages"]?[0]
            let own = "\(path)/\(made?["id"] ?? nil)"
            let long = JSONValue.string(String(repeating: "x", count: 100_000))
            let table: [([String: JSONValue], String)] = [
                (["written_at": nil], "The written at field is required."),
                (["written_at": "2024-13-01"], "The written at is not a valid date."),
                (["written_by_me": nil], "The written by me field is required."),
                (["written_by_me": "me"], "The written by me field must be true or false."),
                (["content": " "], "The content field is required."), (["content": 7], "The content must be a string."),
                (
                    ["content": .string((long.string ?? "") + "x")],
                    "The content may not be greater than 100000 characters."
                ),
                (
                    ["content": nil, "written_at": 1, "written_by_me": 2],
                    "The written at is not a valid date. The written by me field must be true or false. "
                        + "The content field is required."
                ),
            ]
            for (fields, text) in table {
                let body = JSONValue.object(message.members.merging(fields) { $1 })
                try await owner.raw(.post, path, body).refused(422, 32, text)
                try await owner.raw(.put, own, body).refused(422, 32, text)
            }
            for id in ["x", "0", "999999999", "99999999999999999999", "-1"] {
                try await owner.raw(.put, "\(path)/\(id)", message)
                    .refused(404, 31, "The requested message was not found.", id)
                try await owner.raw(.delete, "\(path)/\(id)")
                    .refused(404, 31, "The requested message was not found.", id)
                try await owner.raw(.post, "/conversations/\(id)/messages", message)
                    .refused(404, 31, "The requested conversation was not found.", id)
            }
            // All messages of a conversation are in each answer about it.
            let body = JSONValue.object(message.members.merging(["content": long]) { $1 })
            let talk = try await owner.raw(.post, path, message).succeeded(200)["data"]
            let other = talk?["messages"]?.elements.compactMap { $0["id"]?.integer }.max() ?? 0
            try await owner.raw(.put, own, body)
                .refused(422, 32, "The messages may not be greater than 100000 characters.")
            try await owner.raw(.delete, "\(path)/\(other)").succeeded(200)
            try await owner.raw(.put, own, body).succeeded(200)
            try await owner.raw(.post, path, message)
                .refused(422, 32, "The messages may not be greater than 100000 characters.")
        },
        Scenario("A type of contact fields stays while a conversation has it", clause: "DELETE /contactfieldtypes") {
            world, owner in
            let john = try await owner.contact("John").id
            let type = try await owner.client.create(Monica.ContactFieldTypeDraft(name: world.freshWord())).id
            let talk = try await owner.client.create(
                Monica.ConversationDraft(contactID: john, happenedAt: Day(checked: "2024-10-20").start, typeID: type))
            let path = "/contactfieldtypes/\(type)"
            try await owner.raw(.delete, path).refused(422, 32, "The contact field type is in use.")
            try await owner.client.delete(Monica.Conversation.self, id: talk.id)
            try await owner.raw(.delete, path).succeeded(200)
        },
    ]
}

extension Owner {
    /// Returns the fields of a conversation by telephone.
    func conversation(with contact: Int) async throws -> JSONValue {
        let phone = try await fieldType("phone")["id"] ?? nil
        return ["contact_id": contact.json, "happened_at": "2024-01-01", "contact_field_type_id": phone]
    }

    /// Creates a conversation.
    func talk(with contact: Int) async throws -> JSONValue {
        try await raw(.post, "/conversations", try await conversation(with: contact)).succeeded(201)["data"] ?? nil
    }
}
