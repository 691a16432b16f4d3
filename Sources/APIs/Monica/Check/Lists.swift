@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static let lists: [Scenario<MonicaWorld>] = [
        Scenario("Lists of a contact have that contact's items alone, flat and nested", clause: "GET /notes") {
            _, owner in
            let (john, jane) = (try await owner.contact("John"), try await owner.contact("Jane"))
            let note = try await owner.client.create(Monica.NoteDraft(contactID: john.id, body: "x"))
            let task = try await owner.client.create(Monica.TaskDraft(title: "x", contactID: john.id))
            let gift = try await owner.client.create(Monica.GiftDraft(contactID: john.id, name: "x"))
            let activity = try await owner.client.create(
                Monica.ActivityDraft(summary: "x", happenedAt: Day(checked: "2024-10-20"), contacts: [john.id]))
            for (plural, id) in [
                ("notes", note.id), ("tasks", task.id), ("gifts", gift.id), ("activities", activity.id),
            ] {
                for path in ["/\(plural)?contact_id=\(john.id)", "/contacts/\(john.id)/\(plural)"] {
                    try expect(try await owner.ids(path), equals: [Int64(id)])
                }
                for path in [
                    "/\(plural)?contact_id=\(jane.id)", "/contacts/\(jane.id)/\(plural)",
                    "/\(plural)?contact_id=999999999",
                ] {
                    try expect(try await owner.ids(path), equals: [])
                }
                for contact in ["999999999", "x"] {
                    try await owner.get("/contacts/\(contact)/\(plural)")
                        .refused(404, 31, "The requested contact was not found.")
                }
                let flat = try await owner.get("/\(plural)?contact_id=\(john.id)&limit=10").succeeded(200)
                let nested = try await owner.get("/contacts/\(john.id)/\(plural)").succeeded(200)
                try expect(flat["links"]?["first"], equals: .string("/\(plural)?contact_id=\(john.id)&page=1&limit=10"))
                try expect(nested["links"]?["first"], equals: .string("/contacts/\(john.id)/\(plural)?page=1&limit=10"))
                try expect(nested["data"], equals: flat["data"])
                try expect(nested["meta"], equals: flat["meta"])
            }
            try expect(try await owner.client.listNotes(contactId: john.id, page: 1, limit: 10).data, equals: [note])
        },
        Scenario("Lists come in their order, ties by id, nulls last", clause: "§1 sort, example 6") { _, owner in
            let john = try await owner.contact("John")
            var activities: [Int64] = []
            for day in ["2024-01-01", "2024-03-01", "2024-02-01", "2024-03-01"] {
                let activity = try await owner.client.create(
                    Monica.ActivityDraft(summary: day, happenedAt: Day(checked: day), contacts: [john.id]))
                activities.append(Int64(activity.id))
            }
            let base = "?contact_id=\(john.id)"
            func of(_ order: [Int], _ ids: [Int64]) throws -> [Int64] { try order.map { try ids[$0] } }
            try expect(try await owner.ids("/activities" + base), equals: of([3, 1, 2, 0], activities))
            try expect(
                try await owner.ids("/activities\(base)&sort=happened_at"), equals: of([0, 2, 1, 3], activities))
            try expect(try await owner.ids("/activities\(base)&sort=created_at"), equals: activities)
            var made: [Int64] = []
            for title in ["A", "B", "C"] {
                made.append(
                    Int64(try await owner.client.create(Monica.TaskDraft(title: title, contactID: john.id)).id))
            }
            let tasks = made
            _ = try await owner.client.update(Int(tasks[1]), Monica.TaskDraft(title: "B", completed: true))
            try expect(try await owner.ids("/tasks" + base), equals: of([0, 2, 1], tasks))
            try expect(try await owner.ids("/tasks\(base)&sort=completed_at"), equals: of([1, 0, 2], tasks))
            try expect(try await owner.ids("/tasks\(base)&sort=-completed_at"), equals: of([1, 2, 0], tasks))
            var notes: [Int64] = []
            for (body, favorited) in [("a", false), ("b", true), ("c", false)] {
                let draft = Monica.NoteDraft(contactID: john.id, body: body, isFavorited: favorited)
                notes.append(Int64(try await owner.client.create(draft).id))
            }
            try expect(try await owner.ids("/notes" + base), equals: notes.reversed())
            try expect(try await owner.ids("/notes\(base)&sort=favorited_at"), equals: of([1, 0, 2], notes))
            var gifts: [Int64] = []
            for name in ["A", "B"] {
                gifts.append(Int64(try await owner.client.create(Monica.GiftDraft(contactID: john.id, name: name)).id))
            }
            try expect(try await owner.ids("/gifts" + base), equals: gifts)
            try expect(try await owner.ids("/gifts\(base)&sort=-created_at"), equals: gifts.reversed())
        },
    ]

    static let writing: [Scenario<MonicaWorld>] = [
        Scenario("Activities are made, changed and gone", clause: "POST /activities") { _, owner in
            let john = try await owner.contact("John")
            let types = try await owner.send(Monica.ListActivityTypes()).data
            let made = try await owner.client.create(
                Monica.ActivityDraft(
                    summary: "Dinner", description: "With wine", happenedAt: Day(checked: "2024-10-20"),
                    contacts: [john.id],
                    activityTypeID: types.first?.id))
            try expect(made.activityType, equals: types.first)
            try expect(made.contacts.map(\.id), equals: [john.id])
            let changed = try await owner.raw(
                .patch, "/activities/\(made.id)",
                ["summary": "Lunch", "happened_at": "2024-10-21", "contacts": [john.id.json]])
            try expect(try changed.succeeded(200)["data"]?["description"], equals: .null)
            try await owner.raw(.post, "/activities", [:]).refused(
                422, 32,
                "The summary field is required. The happened at field is required. The contacts field is required.")
            try await owner.raw(
                .post, "/activities",
                ["summary": "x", "happened_at": "20.10.2024", "contacts": 1, "activity_type_id": 999_999_999]
            ).refused(
                422, 32,
                "The happened at does not match the format Y-m-d. The contacts must be an array. The selected activity "
                    + "type id is invalid.")
            try await owner.raw(
                .post, "/activities", ["summary": "x", "happened_at": "2025-02-30", "contacts": [john.id.json]]
            ).refused(422, 32, "The happened at is not a valid date.")
            try await owner.raw(
                .post, "/activities", ["summary": "x", "happened_at": "2025-02-03", "contacts": [999_999_999]]
            ).refused(404, 31, "The requested contact was not found.")
            try await owner.client.delete(Monica.Activity.self, id: made.id)
            try expect(try await owner.get("/activities/\(made.id)").status, equals: 404)
        },
        Scenario("Notes keep the time of their star", clause: "POST /notes") { _, owner in
            let (john, jane) = (try await owner.contact("John"), try await owner.contact("Jane"))
            var note = try await owner.client.create(
                Monica.NoteDraft(contactID: john.id, body: " Tea ", isFavorited: true))
            try expect(note.body, equals: "Tea")
            let star = note.favoritedAt
            try expect(star != nil && note.isFavorited, "no star")
            note = try await owner.client.update(
                note.id, Monica.NoteDraft(contactID: jane.id, body: "Tea", isFavorited: true))
            try expect(note.favoritedAt, equals: star)
            try expect(note.contact?.id, equals: jane.id)
            note = try await owner.client.update(note.id, Monica.NoteDraft(contactID: jane.id, body: "Tea"))
            try expect(note.favoritedAt, equals: nil)
            try await owner.raw(.post, "/notes", ["body": " "])
                .refused(422, 32, "The body field is required. The contact id field is required.")
            try await owner.raw(.post, "/notes", ["body": "x", "contact_id": 999_999_999])
                .refused(404, 31, "The requested contact was not found.")
            try expect(try await owner.send(Monica.Get<Monica.Note>(id: note.id)).data, equals: note)
            try await owner.client.delete(Monica.Note.self, id: note.id)
            try expect(try await owner.get("/notes/\(note.id)").status, equals: 404)
        },
        Scenario("Tasks are open when they are made and keep when they were done", clause: "POST /tasks, example 6") {
            _, owner in
            let john = try await owner.contact("John")
            let answer = try await owner.raw(
                .post, "/tasks", ["title": "Card", "contact_id": john.id.json, "completed": true])
            let made = try answer.succeeded(200)
            try expect(made["data"]?["completed"], equals: false)
            guard let id = made["data"]?["id"]?.integer.map(Int.init) else { throw CheckFailure("no id") }
            let done = try await owner.client.update(id, Monica.TaskDraft(title: "Card", completed: true))
            try expect(done.completedAt != nil, "no time")
            try expect(done.contactID, equals: john.id)
            let again = try await owner.client.update(id, Monica.TaskDraft(title: "Card", completed: true))
            try expect(again.completedAt, equals: done.completedAt)
            let open = try await owner.client.update(id, Monica.TaskDraft(title: "Card"))
            try expect(open.completedAt, equals: nil)
            try await owner.raw(.put, "/tasks/\(id)", [:])
                .refused(422, 32, "The title field is required. The completed field is required.")
            let jane = try await owner.contact("Jane")
            try await owner.raw(.put, "/tasks/\(id)", ["title": "x", "completed": false, "contact_id": jane.id.json])
                .refused(404, 31, "The requested contact was not found.")
            let free = try await owner.client.create(Monica.TaskDraft(title: "Of no contact"))
            try expect(free.contact, equals: nil)
            try expect(try await owner.send(Monica.Get<Monica.Task>(id: free.id)).data, equals: free)
            try await owner.client.delete(Monica.Task.self, id: free.id)
            try expect(try await owner.get("/tasks/\(free.id)").status, equals: 404)
        },
        Scenario("Gifts have amounts of two decimals", clause: "POST /gifts, example 7") { _, owner in
            let john = try await owner.contact("John")
            let amounts: [(JSONValue, JSONValue, JSONValue, JSONValue)] = [
                (12.5, "12.50", 12.5, "$12.50"), ("0.07", "0.07", 0.07, "$0.07"), (0, nil, nil, ""),
                (nil, nil, nil, ""),
                (19.999, "19.99", 19.99, "$19.99"), (3, "3.00", 3, "$3.00"),
                ("999999999.99", "999999999.99", 999_999_999.99, "$999999999.99"),
            ]
            for (sent, amount, value, shown) in amounts {
                let answer = try await owner.raw(
                    .post, "/gifts", ["contact_id": john.id.json, "name": "x", "status": "offered", "amount": sent])
                let gift = try answer.succeeded(201)["data"]
                try expect(gift?["amount"], equals: amount)
                try expect(gift?["value"], equals: value)
                try expect(gift?["amount_with_currency"], equals: shown)
                try expect(gift?["has_been_offered"], equals: true)
                try expect(gift?["is_an_idea"], equals: false)
            }
            try await owner.raw(
                .post, "/gifts", ["contact_id": "x", "status": "stolen", "amount": "much", "date": "soon"]
            ).refused(
                422, 32,
                "The contact id must be an integer. The name field is required. The selected status is invalid. The "
                    + "amount must be a number. The date does not match the format Y-m-d.")
            for amount: JSONValue in [-1, 1_000_000_000] {
                try await owner.raw(
                    .post, "/gifts",
                    ["contact_id": john.id.json, "name": "x", "status": "idea", "amount": amount]
                ).refused(422, 32, "The selected amount is invalid.")
            }
        },
        Scenario("Gifts are made, changed and gone", clause: "PUT /gifts/{id}") { _, owner in
            let john = try await owner.contact("John")
            var draft = Monica.GiftDraft(contactID: john.id, name: "Book", comment: "Signed", amount: "12.50")
            let made = try await owner.client.create(draft)
            try expect(made.isAnIdea && made.status == .idea, "a new gift is an idea")
            (draft.status, draft.comment, draft.date) = try (.received, nil, Day(checked: "2024-10-20"))
            let changed = try await owner.client.update(made.id, draft)
            try expect(changed.id, equals: made.id)
            try expect(changed.status, equals: .received)
            try expect(changed.comment, equals: nil)
            try expect(changed.date, equals: draft.date)
            try expect(try await owner.send(Monica.Get<Monica.Gift>(id: made.id)).data, equals: changed)
            try await owner.client.delete(Monica.Gift.self, id: made.id)
            try expect(try await owner.get("/gifts/\(made.id)").status, equals: 404)
        },
    ]
}
