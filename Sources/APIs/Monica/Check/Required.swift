@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MonicaClient

/// Each write says what it lacks, in the words of its own fields.
extension MonicaScenarios {
    static let required: [Scenario<MonicaWorld>] = [
        Scenario("A write says what it lacks", clause: "§4 validation") { _, owner in
            let john = try await owner.contact("John").id
            let jane: JSONValue = john.json
            let note = try await owner.client.create(Monica.NoteDraft(contactID: john, body: "x")).id
            let task = try await owner.client.create(Monica.TaskDraft(title: "x", contactID: john)).id
            let gift = try await owner.client.create(Monica.GiftDraft(contactID: john, name: "x")).id
            let activity = try await owner.client.create(
                Monica.ActivityDraft(summary: "x", happenedAt: Day(checked: "2024-10-20"), contacts: [john])
            ).id
            let type: JSONValue = [
                "summary": "x", "happened_at": "2024-10-20", "contacts": [jane], "activity_type_id": 999_999_999,
            ]
            let table: [(HTTPRequest.Method, String, JSONValue, String)] = [
                (
                    .post, "/contacts",
                    ["is_birthdate_known": false, "is_deceased": false, "is_deceased_date_known": false],
                    "The first name field is required."
                ),
                (.post, "/notes", ["contact_id": jane], "The body field is required."),
                (.put, "/notes/\(note)", ["contact_id": jane], "The body field is required."),
                (.post, "/gifts", ["contact_id": jane, "status": "idea"], "The name field is required."),
                (.put, "/gifts/\(gift)", ["contact_id": jane, "status": "idea"], "The name field is required."),
                (.post, "/activities", type, "The selected activity type id is invalid."),
                (.put, "/activities/\(activity)", type, "The selected activity type id is invalid."),
                (.post, "/tasks", ["contact_id": jane], "The title field is required."),
                (.put, "/tasks/\(task)", [:], "The title field is required. The completed field is required."),
                (.post, "/contacts/\(john)/unsetTag", [:], "The tags field is required."),
                (.post, "/contacts/\(john)/setTags", [:], "The tags field is required."),
                (
                    .put, "/contacts/\(john)/introduction", ["is_date_known": true],
                    "The day field is required. The month field is required."
                ),
                (
                    .put, "/contacts/\(john)/introduction", ["is_date_known": true, "day": 31, "month": 2],
                    "The date is not a valid date."
                ),
            ]
            for (method, path, body, text) in table {
                try await owner.raw(method, path, body).refused(422, 32, text, "\(method) \(path)")
            }
            let nobody = "The requested contact was not found."
            let unknown: JSONValue = 999_999_999
            let moved: [(String, JSONValue)] = [
                ("/notes/\(note)", ["body": "x", "contact_id": unknown]),
                ("/tasks/\(task)", ["title": "x", "completed": false, "contact_id": unknown]),
                ("/gifts/\(gift)", ["name": "x", "status": "idea", "contact_id": unknown]),
                ("/activities/\(activity)", ["summary": "x", "happened_at": "2024-10-20", "contacts": [unknown]]),
            ]
            for (path, body) in moved { try await owner.raw(.put, path, body).refused(404, 31, nobody, path) }
        },
        Scenario("A contact's dates are whole or not there", clause: "§4 contacts") { _, owner in
            let john = try await owner.contact("John").id
            let plain: [String: JSONValue] = [
                "first_name": "John", "is_birthdate_known": false, "is_deceased": true, "is_deceased_date_known": false,
            ]
            let table: [([String: JSONValue], String)] = [
                (
                    ["is_birthdate_known": true],
                    "The birthdate day field is required. The birthdate month field is required."
                ),
                (
                    ["is_birthdate_known": true, "birthdate_day": 31, "birthdate_month": 2],
                    "The birthdate is not a valid date."
                ),
                (
                    ["is_birthdate_known": true, "birthdate_is_age_based": true],
                    "The birthdate age field is required."
                ),
                (
                    ["is_deceased_date_known": true],
                    "The deceased date day field is required. The deceased date month field is required."
                ),
                (
                    ["is_deceased_date_known": true, "deceased_date_day": 31, "deceased_date_month": 2],
                    "The deceased date is not a valid date."
                ),
                (
                    ["is_deceased_date_known": true, "deceased_date_is_age_based": true],
                    "The deceased date age field is required."
                ),
                (["gender_id": 999_999_999], "The selected gender id is invalid."),
            ]
            for (fields, text) in table {
                let body = JSONValue.object(plain.merging(fields) { $1 })
                try await owner.raw(.post, "/contacts", body).refused(422, 32, text, "POST \(body)")
                try await owner.raw(.put, "/contacts/\(john)", body).refused(422, 32, text, "PUT \(body)")
            }
        },
        Scenario("Reads follow writes", clause: "§4 writes") { world, owner in
            let word = world.freshWord()
            let john = try await owner.contact("John", word).id
            let path = "/contacts/\(john)"
            func tags() async throws -> [JSONValue] {
                try await owner.get(path).succeeded(200)["data"]?["tags"]?.elements ?? []
            }
            try await owner.raw(.post, path + "/setTags", ["tags": [.string(word)]]).succeeded(200)
            try expect(try await tags().count, equals: 1)
            try await owner.raw(.post, path + "/unsetTags").succeeded(200)
            try expect(try await tags(), equals: [])
            let lists = ["notes", "tasks", "gifts", "activities"].map { "/\($0)?contact_id=\(john)" }
            for list in lists { try expect(try await owner.ids(list), equals: []) }
            try await owner.client.create(Monica.NoteDraft(contactID: john, body: "x"))
            try await owner.client.create(Monica.TaskDraft(title: "x", contactID: john))
            try await owner.client.create(Monica.GiftDraft(contactID: john, name: "x"))
            try await owner.client.create(
                Monica.ActivityDraft(summary: "x", happenedAt: Day(checked: "2024-10-20"), contacts: [john]))
            for list in lists { try expect(try await owner.ids(list).count, equals: 1) }
            try await owner.raw(
                .put, path,
                [
                    "first_name": "John", "is_partial": true, "is_birthdate_known": false, "is_deceased": false,
                    "is_deceased_date_known": false,
                ]
            ).succeeded(200)
            try expect(try await owner.get(path).succeeded(200)["data"]?["is_partial"], equals: true)
            try await owner.raw(.delete, path).succeeded(200)
            try await owner.get(path).refused(404, 31, "The requested contact was not found.")
        },
    ]
}
