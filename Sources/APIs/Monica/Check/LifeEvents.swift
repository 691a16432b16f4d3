@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static func lifeEvent(of contact: Int) -> JSONValue {
        [
            "contact_id": contact.json, "life_event_type_id": 1, "happened_at": "2024-01-01", "has_reminder": false,
            "happened_at_month_unknown": false, "happened_at_day_unknown": false,
        ]
    }

    static let lifeEvents: [Scenario<MonicaWorld>] = [
        Scenario("A life event is the same wherever shown", clause: "GET /lifeevents") { world, owner in
            let person = try await owner.described(world.freshWord())["id"]?.integer.map(Int.init) ?? 0
            let bodies: [JSONValue] = [
                [
                    "contact_id": person.json, "life_event_type_id": 10, "happened_at": "2024-10-20", "name": "In Rome",
                    "note": "In May", "has_reminder": false, "happened_at_month_unknown": false,
                    "happened_at_day_unknown": true,
                ],
                [
                    "contact_id": person.json, "life_event_type_id": 18, "happened_at": "2024-10-19T07:05:09Z",
                    "name": "To Lyon", "note": "By train", "has_reminder": false, "happened_at_month_unknown": true,
                    "happened_at_day_unknown": false,
                ],
            ]
            try await owner.follow(
                "lifeevents", "life event", of: person, bodies, status: 200, isNested: false
            ) { body in
                let isFirst = body["life_event_type_id"] == 10
                var shown = body.members
                for member in ["contact_id", "life_event_type_id", "has_reminder"] { shown[member] = nil }
                if isFirst { shown["happened_at"] = "2024-10-20T00:00:00Z" }
                return shown
            } whole: {
                let list = "/lifeevents?contact_id=\(person)"
                let events = try await owner.get(list).succeeded(200)["data"]
                for (event, kind) in zip(events?.elements ?? [], [Monica.LifeEventKind.marriage, .moved]) {
                    let type = event["life_event_type"]
                    try expect(type?["default_life_event_type_key"], equals: .string(kind.rawValue))
                    try expect(type?["id"], equals: kind.typeID?.json)
                }
                let latest = try await owner.get(list + "&sort=-happened_at").succeeded(200)["data"]
                try expect(latest, equals: events ?? nil)
                let earliest = try await owner.get(list + "&sort=happened_at").succeeded(200)["data"]
                try expect(earliest?.elements, equals: events?.elements.reversed())
                return events
            }
        },
        Scenario("A life event is of one of 43 types in five categories", clause: "POST /lifeevents") { _, owner in
            let john = try await owner.contact("John").id
            let account = try await owner.send(Monica.GetMe()).data.account
            var names: [String: String] = [:]
            for (number, category) in Monica.LifeEventKind.categories.enumerated() {
                for kind in category.kinds {
                    let body = lifeEvent(of: john).members.merging(["life_event_type_id": .orNull(kind.typeID)]) { $1 }
                    let made = try await owner.raw(.post, "/lifeevents", .object(body)).succeeded(200)["data"]
                    for member in ["name", "note"] { try expect(made?[member], equals: .null) }
                    let type = made?["life_event_type"]
                    try expect(type?["id"], equals: .orNull(kind.typeID))
                    try expect(type?["default_life_event_type_key"], equals: .string(kind.rawValue))
                    names[kind.rawValue] = type?["name"]?.string
                    let group = type?["life_event_category"]
                    try expect(group?["id"], equals: (number + 1).json)
                    try expect(group?["default_life_event_category_key"], equals: .string(category.word))
                    names[category.word] = group?["name"]?.string
                    for part in [type, group] {
                        try expect(part?["core_monica_data"], equals: true)
                        try expect(part?["account"], equals: ["id": account.id.json])
                    }
                }
            }
            try expect(names.count, equals: 48)
            try expect(names["tattoo_or_piercing"], equals: "Tattoo or piercing")
            try expect(names["work_education"], equals: "Work & education")
        },
        Scenario("The reminder of a life event comes every year, and goes with it", clause: "POST /lifeevents") {
            _, owner in
            let john = try await owner.contact("John").id
            func reminders() async throws -> [JSONValue] {
                try await owner.get("/contacts/\(john)/reminders").succeeded(200)["data"]?.elements ?? []
            }
            let remembered: JSONValue = ["life_event_type_id": 10, "happened_at": "2024-02-29", "has_reminder": true]
            let body = JSONValue.object(lifeEvent(of: john).members.merging(remembered.members) { $1 })
            let event = try await owner.raw(.post, "/lifeevents", body).succeeded(200)["data"]
            let own = "/lifeevents/\(event?["id"] ?? nil)"
            let made = try await reminders()
            try expect(made.count, equals: 1)
            let expected: [String: JSONValue] = [
                "title": "Marriage", "description": nil, "initial_date": "2024-02-29T00:00:00Z",
                "frequency_type": "year", "frequency_number": 1,
            ]
            for (member, value) in expected { try expect(made[0][member], equals: value) }
            // A change makes no other one.
            try await owner.raw(.put, own, body).succeeded(200)
            try expect(try await reminders(), equals: made)
            let other = try await owner.raw(.post, "/reminders", reminder(of: john)).succeeded(201)["data"] ?? nil
            try await owner.raw(.delete, own).succeeded(200)
            try expect(try await reminders(), equals: [other])
            // Without its reminder an event stays.
            let second = try await owner.raw(.post, "/lifeevents", body).succeeded(200)["data"]
            let left = try await reminders()
            try await owner.raw(.delete, "/reminders/\(left.last?["id"] ?? nil)").succeeded(200)
            let path = "/lifeevents/\(second?["id"] ?? nil)"
            try expect(try await owner.get(path).succeeded(200)["data"], equals: second)
            try await owner.raw(.delete, path).succeeded(200)
        },
        Scenario("A life event says what is wrong with it", clause: "POST /lifeevents") { _, owner in
            let (john, jane) = (try await owner.contact("John").id, try await owner.contact("Jane").id)
            let whole = lifeEvent(of: john)
            let own =
                "/lifeevents/\(try await owner.raw(.post, "/lifeevents", whole).succeeded(200)["data"]?["id"] ?? nil)"
            let none = "The selected life event type id is invalid."
            let table: [([String: JSONValue], String)] = [
                (["life_event_type_id": nil], "The life event type id field is required."),
                (["life_event_type_id": "moved"], "The life event type id must be an integer."),
                (["life_event_type_id": 0], none), (["life_event_type_id": 44], none),
                (["life_event_type_id": .integer(.min)], none),
                (["happened_at": nil], "The happened at field is required."),
                (["happened_at": "once"], "The happened at is not a valid date."),
                (["name": 7], "The name must be a string."),
                (
                    ["name": .string(String(repeating: "x", count: 256))],
                    "The name may not be greater than 255 characters."
                ),
                (["note": 7], "The note must be a string."),
                (["has_reminder": "x"], "The has reminder field must be true or false."),
                (["happened_at_month_unknown": 2], "The happened at month unknown field must be true or false."),
                (["happened_at_day_unknown": []], "The happened at day unknown field must be true or false."),
                (
                    ["contact_id": "x", "life_event_type_id": 0, "happened_at": 7, "name": 7, "note": 7],
                    "The contact id must be an integer. \(none) The happened at is not a valid date. "
                        + "The name must be a string. The note must be a string."
                ),
            ]
            for (fields, text) in table {
                let body = JSONValue.object(whole.members.merging(fields) { $1 })
                try await owner.raw(.post, "/lifeevents", body).refused(422, 32, text, "POST \(body)")
                try await owner.raw(.put, own, body).refused(422, 32, text, "PUT \(body)")
            }
            let optional = ["contact_id", "has_reminder", "happened_at_month_unknown", "happened_at_day_unknown"]
            for member in optional {
                let body = JSONValue.object(whole.members.filter { $0.key != member })
                let text = "The \(member.replacing("_", with: " ")) field is required."
                try await owner.raw(.post, "/lifeevents", body).refused(422, 32, text)
            }
            // A change keeps the fields that it leaves out.
            let vague = JSONValue.object(whole.members.merging(["happened_at_day_unknown": true]) { $1 })
            let read = try await owner.raw(.put, own, vague).succeeded(200)["data"]
            let short = JSONValue.object(whole.members.filter { !optional.contains($0.key) })
            let kept = try await owner.raw(.put, own, short).succeeded(200)["data"]
            for member in ["contact", "happened_at_month_unknown", "happened_at_day_unknown"] {
                try expect(kept?[member], equals: read?[member])
            }
            let nobody = "The requested contact was not found."
            for contact in [jane, 999_999_999] {
                let body = JSONValue.object(whole.members.merging(["contact_id": contact.json]) { $1 })
                try await owner.raw(.put, own, body).refused(404, 31, nobody)
                if contact != jane { try await owner.raw(.post, "/lifeevents", body).refused(404, 31, nobody) }
            }
        },
    ]
}
