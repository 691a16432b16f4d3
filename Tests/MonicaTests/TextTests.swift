import Contract
import ContractCheck
import Foundation
import MonicaAPI
import MonicaCheck
import Testbed
import Testing

/// Every text of every request is held to what it is for, and every body to its form.
@Suite(.timeLimit(.minutes(30))) struct MonicaTextTests {
    private static let fields: [TextClass: [String]] = [
        .needed: [
            "POST /contacts first_name", "PUT /contacts/{id} first_name", "POST /activities summary",
            "PUT /activities/{id} summary", "POST /notes body", "PUT /notes/{id} body", "POST /tasks title",
            "PUT /tasks/{id} title", "POST /gifts name", "PUT /gifts/{id} name", "POST /tags name",
            "PUT /tags/{id} name", "POST /contactfields data", "PUT /contactfields/{id} data",
            "POST /contactfieldtypes name", "PUT /contactfieldtypes/{id} name",
            "POST /me/tokens name", "POST /genders name", "PUT /genders/{id} name", "POST /activitytypes name",
            "PUT /activitytypes/{id} name",
            "POST /activitytypecategories name", "PUT /activitytypecategories/{id} name",
            "POST /reminders title", "PUT /reminders/{id} title", "POST /journal title", "PUT /journal/{id} title",
            "POST /journal post", "PUT /journal/{id} post", "POST /conversations/{id}/messages content",
            "PUT /conversations/{id}/messages/{message} content",
        ],
        .optional: [
            "POST /contacts middle_name", "POST /contacts last_name", "POST /contacts nickname",
            "POST /contacts description", "POST /contacts email", "PUT /contacts/{id} middle_name",
            "PUT /contacts/{id} last_name", "PUT /contacts/{id} nickname", "PUT /contacts/{id} description",
            "PUT /contacts/{id}/work job", "PUT /contacts/{id}/work company",
            "PUT /contacts/{id}/food food_preferences", "PUT /contacts/{id}/introduction general_information",
            "POST /contacts/{id}/setTags tags.*", "POST /activities description", "PUT /activities/{id} description",
            "POST /tasks description", "PUT /tasks/{id} description", "POST /gifts comment", "POST /gifts url",
            "PUT /gifts/{id} comment", "PUT /gifts/{id} url", "POST /contactfieldtypes fontawesome_icon",
            "POST /contactfieldtypes protocol", "POST /contactfieldtypes type",
            "PUT /contactfieldtypes/{id} fontawesome_icon", "PUT /contactfieldtypes/{id} protocol",
            "PUT /contactfieldtypes/{id} type",
            "POST /addresses name", "PUT /addresses/{id} name",
            "POST /addresses street", "PUT /addresses/{id} street",
            "POST /addresses city", "PUT /addresses/{id} city",
            "POST /addresses province", "PUT /addresses/{id} province",
            "POST /addresses postal_code", "PUT /addresses/{id} postal_code",
            "POST /calls content", "PUT /calls/{id} content",
            "POST /reminders description", "PUT /reminders/{id} description",
            "POST /debts reason", "PUT /debts/{id} reason",
            "POST /pets name", "PUT /pets/{id} name", "POST /lifeevents name", "PUT /lifeevents/{id} name",
            "POST /lifeevents note", "PUT /lifeevents/{id} note",
        ],
        .search: ["GET /contacts query"],
        .opaque: [
            "GET /contacts with", "GET /contacts/{id} with", "POST /gifts amount", "PUT /gifts/{id} amount",
            "POST /debts amount", "PUT /debts/{id} amount",
            "POST /addresses country", "PUT /addresses/{id} country", "POST /photos data",
        ],
    ]

    @Test(arguments: Stack.Engine.available)
    func everyTextIsHeldToItsClass(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let world = host.world()
            let owner = try await world.owner()
            // Each of these is the first of its kind.
            for (path, body) in [
                (
                    "/contacts",
                    [
                        "first_name": "A", "is_birthdate_known": false, "is_deceased": false,
                        "is_deceased_date_known": false,
                    ] as JSONValue
                ),
                ("/notes", ["contact_id": 1, "body": "A"]), ("/tasks", ["title": "A"]), ("/tags", ["name": "A"]),
                ("/journal", ["title": "A", "post": "A"]),
                ("/gifts", ["contact_id": 1, "name": "A", "status": "idea"]),
                ("/activities", ["summary": "A", "happened_at": "2026-02-23", "contacts": [1]]),
                ("/addresses", ["contact_id": 1]), ("/calls", ["contact_id": 1, "called_at": "2026-02-23"]),
                ("/debts", ["contact_id": 1, "in_debt": "no", "status": "completed", "amount": 1]),
                ("/pets", ["contact_id": 1, "pet_category_id": 3]),
                (
                    "/lifeevents",
                    [
                        "contact_id": 1, "life_event_type_id": 1, "happened_at": "2026-02-23", "has_reminder": false,
                        "happened_at_month_unknown": false, "happened_at_day_unknown": false,
                    ]
                ),
                ("/conversations", ["contact_id": 1, "happened_at": "2026-02-23", "contact_field_type_id": 2]),
                (
                    "/conversations/1/messages",
                    ["content": "A", "written_at": "2026-02-23", "written_by_me": true]
                ),
                (
                    "/reminders",
                    [
                        "contact_id": 1, "title": "A", "initial_date": "2026-02-23", "frequency_type": "year",
                        "frequency_number": 1,
                    ]
                ),
                ("/contactfields", ["contact_id": 1, "contact_field_type_id": 2, "data": "A"]),
            ] {
                let answer = try await owner.raw(.post, path, body)
                #expect(200...201 ~= answer.status, "\(path): \(answer.text)")
            }
            try await MonicaLawTests.laws.checkTexts(
                of: await Described.api.description, Self.fields,
                ids: [
                    "id": "1", "message": "1", "contact_id": 1, "contacts": [1], "recipient_id": 1,
                    "met_through_contact_id": 1,
                ]
            ) { method, path, body in
                try await world.raw.send(method, path, token: owner.token, body: body)
            }
        }
    }

    @Test(arguments: Stack.all)
    func everyBodyIsPlainAndHasNoKeyTwice(_ stack: Stack) async throws {
        try await withMonica(on: stack) { host in
            let world = host.world()
            let owner = try await world.owner()
            try await MonicaLawTests.laws.checkBodies { method, path, headers, body in
                try await world.raw.send(method, path, token: owner.token, headers: headers, body: body)
            }
        }
    }
}
