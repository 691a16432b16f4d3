@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static let contacts: [Scenario<MonicaWorld>] = [
        Scenario("A contact is what it was made of", clause: "POST /contacts") { world, owner in
            let word = world.freshWord()
            let draft = try Monica.ContactDraft(
                firstName: " John ", middleName: "Michael", lastName: word, nickname: "Johnny", description: "Tall",
                email: "john@example.com", birthdate: .day(Day(checked: "1980-10-10")), isStarred: true)
            let made = try await owner.client.create(draft)
            try expect(made.firstName, equals: "John")
            try expect(made.completeName, equals: "John Michael \(word)")
            try expect(made.initials, equals: "JM" + word.prefix(1).uppercased())
            try expect(made.information.dates.birthdate, equals: .init(Day(checked: "1980-10-10")))
            try expect(made.hashID.count, equals: 20)
            try expect(made.isStarred && !made.isPartial && !made.isDead, "flags")
            let read = try await owner.client.getContact(id: made.id).data
            try expect(read, equals: made)
            let detailed = try await owner.send(Monica.GetContact(id: made.id, with: .contactFields)).data
            try expect(detailed.contactFields?.map(\.content), equals: ["john@example.com"])
            try expect(detailed.notes, equals: [])
        },
        Scenario("What is missing or wrong is said for every field, in order", clause: "§4, example 4") { _, owner in
            try await owner.raw(.post, "/contacts", [:]).refused(
                422, 32,
                "The first name field is required. The is birthdate known field is required. The is deceased field is "
                    + "required. The is deceased date known field is required.")
            let long = String(repeating: "é", count: 256)
            try await owner.raw(
                .post, "/contacts",
                [
                    "first_name": 7, "last_name": .string(long), "gender_id": "x", "email": "nobody",
                    "is_partial": "perhaps", "is_birthdate_known": 1, "birthdate_day": 31, "birthdate_month": 2,
                    "is_deceased": "0", "is_deceased_date_known": false,
                ]
            ).refused(
                422, 32,
                "The first name must be a string. The last name may not be greater than 255 characters. The gender id "
                    + "must be an integer. The email must be a valid email address. The is partial field must be true "
                    + "or false. The birthdate is not a valid date.")
            try await owner.raw(
                .post, "/contacts",
                [
                    "first_name": "  ", "gender_id": 999_999_999, "is_birthdate_known": true, "is_deceased": false,
                    "is_deceased_date_known": false,
                ]
            ).refused(
                422, 32,
                "The first name field is required. The selected gender id is invalid. The birthdate day field is "
                    + "required. The birthdate month field is required.")
        },
        Scenario("An e-mail address is one to which a letter can be sent", clause: "§4 contacts") { _, owner in
            func create(_ email: String) async throws -> RawAnswer {
                try await owner.raw(
                    .post, "/contacts",
                    [
                        "first_name": "John", "email": .string(email), "is_birthdate_known": false,
                        "is_deceased": false, "is_deceased_date_known": false,
                    ])
            }
            for email in [
                "a@example..com", "a@.example.com", "a@example.com.", ".a@example.com", "a.@example.com",
                "a..b@example.com", "a b@example.com", "a,b@example.com", "a@b@example.com", "<a@example.com>",
                #"a\b@example.com"#, #""a"@example.com"#, "a@-example.com", "@example.com", "a@",
            ] {
                try await create(email).refused(422, 32, "The email must be a valid email address.", email)
            }
            for email in ["a@localhost", "a.b+c@example.com", "zoë@exämple.com", " a@example.com "] {
                let id = try await create(email).succeeded(201, email)["data"]?["id"]?.integer ?? 0
                let read = try await owner.get("/contacts/\(id)?with=contactfields").succeeded(200)["data"]
                try expect(
                    read?["contactFields"]?.elements.compactMap { $0["content"]?.string }, equals: [email.trimmed])
            }
        },
        Scenario("Dates may be known without their year, or by an age", clause: "example 5") { _, owner in
            var draft = Monica.ContactDraft(firstName: "John", birthdate: .dayOfYear(month: 10, day: 10))
            var made = try await owner.client.create(draft)
            let year = String(made.createdAt.description.prefix(4))
            let birthdate = made.information.dates.birthdate
            try expect(birthdate.date?.description, equals: "\(year)-10-10T00:00:00Z")
            try expect(birthdate.isYearUnknown == true && birthdate.isAgeBased == false, "a year that is not known")
            draft.birthdate = .age(30)
            (draft.isDeceased, draft.deceasedDate) = try (true, .day(Day(checked: "2024-02-29")))
            made = try await owner.client.update(made.id, draft)
            try expect(
                made.information.dates.birthdate.date?.description, equals: "\((Int(year) ?? 0) - 30)-01-01T00:00:00Z")
            try expect(made.information.dates.birthdate.isAgeBased, equals: true)
            try expect(made.isDead, equals: true)
            try expect(made.information.dates.deceasedDate, equals: .init(Day(checked: "2024-02-29")))
            draft.deceasedDate = .age(3)
            for contact in [try await owner.client.create(draft), try await owner.client.update(made.id, draft)] {
                let deceased = contact.information.dates.deceasedDate
                try expect(deceased.date?.description, equals: "\((Int(year) ?? 0) - 3)-01-01T00:00:00Z")
                try expect(deceased.isAgeBased, equals: true)
            }
            draft.isDeceased = false
            draft.deceasedDate = nil
            draft.birthdate = nil
            made = try await owner.client.update(made.id, draft)
            try expect(made.information.dates.birthdate, equals: .init())
            try expect(made.information.dates.deceasedDate, equals: .init())
        },
        Scenario("Work, food and the first meeting are written apart, never of partial contacts", clause: "§4") {
            _, owner in
            let (john, jane) = (try await owner.contact("John"), try await owner.contact("Jane", isPartial: true))
            try await owner.send(Monica.SetWork(id: john.id, job: "Baker", company: "ACME"))
            try await owner.send(Monica.SetFood(id: john.id, preferences: "No nuts"))
            let met = try await owner.send(
                Monica.SetIntroduction(
                    id: john.id, generalInformation: "At a party", metThrough: jane.id,
                    date: .day(Day(checked: "2020-01-02")))
            ).data
            try expect(met.information.career, equals: .init(job: "Baker", company: "ACME"))
            try expect(met.information.foodPreferences, equals: "No nuts")
            try expect(met.information.howYouMet.generalInformation, equals: "At a party")
            try expect(met.information.howYouMet.firstMetThroughContact?.id, equals: jane.id)
            try expect(met.information.howYouMet.firstMetDate, equals: .init(Day(checked: "2020-01-02")))
            for path in ["work", "food", "introduction"] {
                try await owner.raw(.put, "/contacts/\(jane.id)/\(path)", [:])
                    .refused(422, 32, "The contact can't be a partial contact", path)
            }
            try await owner.raw(
                .put, "/contacts/\(john.id)/introduction",
                ["is_date_known": false, "met_through_contact_id": 999_999_999]
            )
            .refused(404, 31, "The requested contact was not found.")
            // The introducing contact is removed from the introduction when it is deleted.
            try await owner.client.delete(Monica.Contact.self, id: jane.id)
            let after = try await owner.send(Monica.GetContact(id: john.id)).data
            try expect(after.information.howYouMet.firstMetThroughContact, equals: nil)
        },
        Scenario("Pages are counted, linked and past their end empty", clause: "example 1") { world, owner in
            let word = world.freshWord()
            var made: [Int64] = []
            for index in 0..<5 { made.append(Int64(try await owner.contact("N\(index)", word).id)) }
            let ids = made
            let base = "/contacts?query=\(word)"
            let first = try await owner.get(base + "&page=1&limit=2").succeeded(200)
            try expect(first["data"]?.elements.map { $0["id"]?.integer }, equals: [ids[0], ids[1]])
            try expect(
                try await owner.get(base).succeeded(200)["meta"],
                equals: [
                    "total": 5, "current_page": 1, "per_page": 50, "last_page": 1, "from": 1, "to": 5,
                    "query": .string(word),
                ])
            try expect(
                first["meta"],
                equals: [
                    "total": 5, "current_page": 1, "per_page": 2, "last_page": 3, "from": 1, "to": 2,
                    "query": .string(word),
                ])
            try expect(
                first["links"],
                equals: [
                    "first": .string(base + "&page=1&limit=2"), "last": .string(base + "&page=3&limit=2"), "prev": nil,
                    "next": .string(base + "&page=2&limit=2"),
                ])
            let last = try await owner.get(base + "&page=3&limit=2").succeeded(200)
            try expect(last["meta"]?["from"], equals: 5)
            try expect(last["links"]?["next"], equals: .null)
            let past = try await owner.get(base + "&page=9&limit=2").succeeded(200)
            try expect(past["data"], equals: [])
            try expect(past["meta"]?["from"], equals: .null)
            try expect(past["links"]?["prev"], equals: .string(base + "&page=3&limit=2"))
            try expect(try await owner.ids(base + "&sort=-created_at"), equals: ids.reversed())
            let all = try await owner.client.contacts(matching: word, pageSize: 2).elements(expecting: ids.count)
            try expect(all.map { Int64($0.id) }, equals: ids)
        },
        Scenario("Partial contacts are in no list and no search", clause: "§1 query") { world, owner in
            let word = world.freshWord()
            let partial = try await owner.contact("Jane", word, isPartial: true)
            try expect(try await owner.ids("/contacts?query=\(word)"), equals: [])
            try expect(try await owner.client.getContact(id: partial.id).data.isPartial, equals: true)
            let whole = try await owner.client.update(
                partial.id, Monica.ContactDraft(firstName: "Jane", lastName: word))
            try expect(whole.isPartial, equals: false)
            try expect(try await owner.ids("/contacts?query=\(word)"), equals: [Int64(partial.id)])
            try await owner.client.delete(Monica.Contact.self, id: partial.id)
            try expect(try await owner.ids("/contacts?query=\(word)"), equals: [])
        },
        Scenario("A contact takes what is its own along", clause: "DELETE /contacts/{id}") { _, owner in
            let (john, jane) = (try await owner.contact("John"), try await owner.contact("Jane"))
            let day = try Day(checked: "2024-10-20")
            let alone = try await owner.client.create(
                Monica.ActivityDraft(summary: "Alone", happenedAt: day, contacts: [john.id]))
            let both = try await owner.client.create(
                Monica.ActivityDraft(summary: "Both", happenedAt: day, contacts: [john.id, jane.id, john.id]))
            try expect(both.attendees.total, equals: 2)
            let note = try await owner.client.create(Monica.NoteDraft(contactID: john.id, body: "x"))
            let task = try await owner.client.create(Monica.TaskDraft(title: "x", contactID: john.id))
            let gift = try await owner.client.create(Monica.GiftDraft(contactID: john.id, name: "x"))
            let given = try await owner.client.create(
                Monica.GiftDraft(contactID: jane.id, name: "x", recipientID: john.id))
            let counted = try await owner.send(Monica.GetContact(id: john.id)).data
            try expect(counted.statistics.numberOfActivities, equals: 2)
            try expect(counted.statistics.numberOfNotes, equals: 1)
            try expect(counted.statistics.numberOfTasks, equals: 1)
            try expect(counted.statistics.numberOfGifts, equals: 1)
            try expect(counted.lastActivityTogether?.description, equals: "2024-10-20T00:00:00Z")
            let answer = try await owner.raw(.delete, "/contacts/\(john.id)")
            try expect(try answer.succeeded(200), equals: ["deleted": true, "id": john.id.json])
            try await owner.raw(.delete, "/contacts/\(john.id)")
                .refused(404, 31, "The requested contact was not found.")
            for path in [
                "/activities/\(alone.id)", "/notes/\(note.id)", "/tasks/\(task.id)", "/gifts/\(gift.id)",
            ] {
                try expect(try await owner.get(path).status, equals: 404)
            }
            let left = try await owner.send(Monica.Get<Monica.Activity>(id: both.id)).data
            try expect(left.contacts.map(\.id), equals: [jane.id])
            try expect(try await owner.send(Monica.Get<Monica.Gift>(id: given.id)).data.recipient, equals: nil)
        },
    ]

    static let search: [Scenario<MonicaWorld>] = [
        Scenario("Every word must occur, without regard to case and accents, and means itself", clause: "example 2") {
            world, owner in
            let word = world.freshWord()
            let john = Int64(try await owner.contact("John", "Doe\(word)").id)
            let jane = Int64(try await owner.contact("Jane", "Doe\(word)").id)
            let jose = Int64(try await owner.contact("José", "Müller", nickname: "50%\(word)").id)
            let expected: [(String, [Int64])] = [
                ("john doe\(word)", [john]), ("doe\(word)", [john, jane]), ("jose muller \(word)", [jose]),
                ("50%\(word)", [jose]), ("5_%\(word)", []), ("JOHN \(word.uppercased())", [john]),
                (word, [john, jane, jose]), ("\(word) \(word) oh", [john]), ("first_name:\(word)", []),
                ("\\\(word)", []), ("ohn\tdoe\(word)", [john]), ("doe \(word)", [john, jane]), ("\(word)x", []),
            ]
            for (query, ids) in expected {
                let path = "/contacts?query=" + RequestCoding.percentEncoded(query)
                try expect(try await owner.ids(path), equals: ids)
            }
            let blank = try await owner.get("/contacts?query=%20%20&limit=1").succeeded(200)
            try expect(blank["meta"]?["query"], equals: nil)
        },
        Scenario("A search takes letters, apostrophes and hyphens as phones do", clause: "§1 query") { world, owner in
            let word = world.freshWord()
            let all = [
                "Łukasz", "Søren", "Đorđe", "Ægir", "Œuvre", "Strauß", "Þór", "Işık", "O’Connor", "Jean\u{2011}Luc",
            ]
            var made: [Int64] = []
            for name in all { made.append(Int64(try await owner.contact(name, word).id)) }
            let ids = made
            for (query, index) in [
                ("lukasz", 0), ("soren", 1), ("dorde", 2), ("aegir", 3), ("oeuvre", 4), ("strauss", 5), ("STRAUẞ", 5),
                ("thor", 6), ("isik", 7), ("o'connor", 8), ("o‘connor", 8), ("jean-luc", 9), ("JEAN\u{2013}LUC", 9),
                ("ŁUKASZ", 0), ("đorđe", 2),
            ] {
                let path = "/contacts?query=" + RequestCoding.percentEncoded("\(query) \(word)")
                try expect(try await owner.ids(path), equals: [ids[index]])
            }
        },
        Scenario("A search looks at company and addresses of mail", clause: "§1 query") { world, owner in
            let word = world.freshWord()
            let john = try await owner.client.create(
                Monica.ContactDraft(firstName: "John", email: "\(word)+x@example.com"))
            try expect(try await owner.ids("/contacts?query=\(word)%2Bx@exa"), equals: [Int64(john.id)])
            try await owner.send(Monica.SetWork(id: john.id, job: nil, company: "\(word) & Sons"))
            try expect(try await owner.ids("/contacts?query=sons%20\(word)"), equals: [Int64(john.id)])
            try await owner.client.delete(Monica.Contact.self, id: john.id)
            try expect(try await owner.ids("/contacts?query=\(word)"), equals: [])
        },
        Scenario("A search follows what is written", clause: "§1 query") { world, owner in
            let (old, new) = (world.freshWord(), world.freshWord())
            let john = try await owner.contact("John", old)
            try await owner.send(Monica.SetWork(id: john.id, job: new, company: nil))
            try expect(try await owner.ids("/contacts?query=\(new)"), equals: [Int64(john.id)])
            _ = try await owner.client.update(
                john.id, Monica.ContactDraft(firstName: "John", lastName: "Doe", description: old + "y"))
            try expect(try await owner.ids("/contacts?query=\(old)y"), equals: [Int64(john.id)])
            try await owner.send(Monica.SetWork(id: john.id, job: nil, company: new))
            try expect(try await owner.ids("/contacts?query=\(new)"), equals: [Int64(john.id)])
            try await owner.send(Monica.SetWork(id: john.id, job: nil, company: nil))
            try expect(try await owner.ids("/contacts?query=\(new)"), equals: [])
        },
    ]
}
