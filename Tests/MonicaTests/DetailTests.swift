import Contract
import ContractCheck
import Foundation
import HTTPTypes
import MonicaClient
import MonicaService
import Testbed
import Testing

/// The server follows the decisions field by field, through the real client.
@Suite(.timeLimit(.minutes(30))) struct MonicaDetailTests {
    @Test(arguments: Stack.Engine.available)
    func checksRunInTheDocumentedOrder(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            let token = try await host.token()
            let note = try await host.client().create(
                Monica.NoteDraft(contactID: try await host.contact("John").id, body: "x"))
            let expected: [(HTTPRequest.Method, String, String?, Int, Int)] = [
                // Sort, limit and page are checked before the path's id.
                (.get, "/contacts/x/notes?sort=x&limit=0", nil, 400, 39),
                (.get, "/contacts/x/notes?limit=101", nil, 400, 30),
                (.get, "/tags/0/contacts?limit=101&page=0", nil, 400, 30),
                (.get, "/tags/0/contacts?page=0", nil, 400, 41),
                (.get, "/tags/0/contacts", nil, 404, 31),
                // The JSON is checked first, then the id, then the fields, then the resources that they name.
                (.put, "/notes/0", "{", 400, 37), (.put, "/notes/0", "{}", 404, 31),
                (.put, "/notes/\(note.id)", "{}", 422, 32),
                (.put, "/notes/\(note.id)", #"{"body":"x","contact_id":0}"#, 404, 31),
                (.post, "/gifts", #"{"name":"x","status":"y","contact_id":0}"#, 422, 32),
                (.post, "/gifts", #"{"name":"x","status":"idea","contact_id":0}"#, 404, 31),
                // NUL is refused in texts and searches.
                (.get, "/contacts?query=%00", nil, 400, 41), (.post, "/tags", #"{"name":"a\u0000b"}"#, 422, 32),
                (.get, "/contacts?limit=%2B5", nil, 400, 30), (.get, "/contacts?limit=5&limit=5", nil, 200, 0),
            ]
            for (method, path, body, status, code) in expected {
                let answer = try await raw.send(method, path, token: token, body: body)
                #expect(answer.status == status, "\(method) \(path) \(answer.text)")
                if code > 0 { #expect(try answer.json()["error"]?["error_code"]?.integer == Int64(code), "\(path)") }
            }
        }
    }

    @Test(arguments: [
        (Problem(.serviceUnavailable, "Service temporarily unavailable"), 0), (Problem(.contentTooLarge, "x"), 0),
        (Problem(.internalServerError, "Internal server error"), 0), (Problem(.unauthorized, "x"), 42),
        (Problem(.tooManyRequests, "x"), 34), (Problem(.notFound, "x"), 31), (Problem(.unprocessableContent, "x"), 32),
    ])
    func refusalsHaveTheirNumbers(_ problem: Problem, _ code: Int) {
        let failure = Monica.Failure(problem, requestID: "r")
        #expect(failure.errorCode == code)
        #expect(failure.code == problem.status.code)
    }

    @Test(arguments: Stack.Engine.available)
    func contactsAreFoundByEachOfTheirTexts(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            let made = try await client.create(
                Monica.ContactDraft(
                    firstName: "Firsty", middleName: "Middly", lastName: "Lasty", nickname: "Nicky",
                    description: "Descry"))
            for query in ["firsty", "middly", "lasty", "nicky", "descry"] {
                let found = try await client.listContacts(page: 1, limit: 10, query: query)
                #expect(found.data.count == 1, "\(query)")
            }
            // The indexed text is written again.
            try await client.send(Monica.SetWork(id: made.id, job: "Jobby", company: "Compy"))
            _ = try await client.create(Monica.ContactDraft(firstName: "Other"))
            for (query, count) in [
                ("firsty", 1), ("middly", 1), ("lasty", 1), ("nicky", 1), ("descry", 1), ("jobby", 1), ("compy", 1),
                ("firsty jobby NICKY", 1), ("firsty other", 0), ("firstymiddly", 0), ("y", 1), (String(made.id), 0),
            ] {
                let found = try await client.listContacts(page: 1, limit: 10, query: query)
                #expect(found.data.count == count, "\(query)")
                #expect(found.meta?.total == count)
                #expect(found.meta?.query == query)
            }
        }
    }

    /// The search index keeps the texts of many contacts together.
    @Test(arguments: Stack.Engine.available)
    func aContactIsFoundAfterChangesToOthersOfItsBlock(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            var contacts: [Monica.Contact] = []
            for index in 0..<12 { contacts.append(try await host.contact("Name\(index)x")) }
            let partial = try await client.create(Monica.ContactDraft(firstName: "Partial", isPartial: true))
            // This contact's id is a prefix of another's.
            let first = try #require(contacts.first { contact in contacts.contains { $0.id == contact.id * 10 } })
            _ = try await client.update(first.id, Monica.ContactDraft(firstName: "Renamed"))
            for contact in contacts where contact.id != first.id {
                let found = try await client.listContacts(page: 1, limit: 10, query: contact.firstName)
                #expect(found.data.map(\.id) == [contact.id])
            }
            let renamed = try await client.listContacts(page: 1, limit: 10, query: "renamed")
            #expect(renamed.data.map(\.id) == [first.id])
            try await client.delete(Monica.Contact.self, id: first.id)
            let all = try await client.listContacts(page: 1, limit: 50, query: "x")
            #expect(all.data.map(\.id) == contacts.map(\.id).filter { $0 != first.id })
            // A partial contact is in no list, with or without a search.
            let listed = try await client.listContacts(page: 1)
            #expect(listed.data.map(\.id) == all.data.map(\.id))
            #expect(listed.meta?.total == 11)
            _ = try await client.update(partial.id, Monica.ContactDraft(firstName: "Whole"))
            let more = try await client.listContacts(page: 1)
            #expect(more.data.last?.id == partial.id)
            #expect(more.meta?.total == 12)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func listsRepeatTheirParameters(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess), clock: TestClock(step: 1000)) { host in
            let client = try await host.client()
            var ids: [Int] = []
            for name in ["A", "B", "C"] { ids.append(try await host.contact(name).id) }
            try await client.send(Monica.SetFood(id: ids[0], preferences: "x"))
            let sorts: [(Monica.Sort<Monica.ContactOrder>?, [Int])] = [
                (nil, [0, 1, 2]), (.ascending(.createdAt), [0, 1, 2]), (.descending(.createdAt), [2, 1, 0]),
                (.ascending(.updatedAt), [1, 2, 0]), (.descending(.updatedAt), [0, 2, 1]),
            ]
            for (sort, order) in sorts {
                let page = try await client.send(Monica.ListContacts(sort: sort))
                #expect(page.data.map(\.id) == order.map { ids[$0] }, "\(sort?.rawValue ?? "")")
            }
            let found = try await client.send(
                Monica.ListContacts(
                    query: "a b", page: 1, limit: 1, sort: .descending(.updatedAt), with: .contactFields))
            #expect(found.links?.first == "/contacts?query=a%20b&sort=-updated_at&with=contactfields&page=1&limit=1")
            let notes = try await client.send(Monica.List<Monica.Note>(contact: ids[0], sort: .ascending(.updatedAt)))
            #expect(notes.links?.last == "/notes?contact_id=\(ids[0])&sort=updated_at&page=1&limit=10")
            let tags = try await client.listTags()
            #expect(tags.meta?.per_page == 1)
            #expect(tags.meta?.total == 0)
            for name in ["b", "C", "a"] { _ = try await client.create(Monica.TagDraft(name: name)) }
            let named = try await client.send(Monica.ListTags())
            #expect(named.data.map(\.name) == ["a", "b", "C"])
            #expect(named.meta?.per_page == 3)
            let made = try await client.send(Monica.ListTags(sort: .descending(.createdAt)))
            #expect(made.data.map(\.name) == ["a", "C", "b"])
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aSearchIsSortedByItsChange(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess), clock: TestClock(step: 1000)) { host in
            let client = try await host.client()
            var ids: [Int] = []
            for name in ["Ann", "Anna", "Hannah", "Bert"] { ids.append(try await host.contact(name).id) }
            try await client.send(Monica.SetFood(id: ids[0], preferences: "x"))
            for (sort, order) in [
                (Monica.Sort<Monica.ContactOrder>.ascending(.updatedAt), [1, 2, 0]),
                (.descending(.updatedAt), [0, 2, 1]),
                (.descending(.createdAt), [2, 1, 0]),
            ] {
                let page = try await client.send(Monica.ListContacts(query: "ann", sort: sort))
                #expect(page.data.map(\.id) == order.map { ids[$0] })
                let second = try await client.send(Monica.ListContacts(query: "ann", page: 2, limit: 1, sort: sort))
                #expect(second.data.map(\.id) == [ids[order[1]]])
            }
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aContactSaysWhenItChanged(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            let john = try await host.contact("John")
            var last = john.updatedAt
            func changes(_ what: String, _ change: () async throws -> Void) async throws {
                host.clock.advance(by: .seconds(10))
                try await change()
                let now = try await client.getContact(id: john.id).data.updatedAt
                #expect(now > last, "\(what)")
                last = now
            }
            let tag = try await client.create(Monica.TagDraft(name: "x"))
            try await changes("setTags") { try await client.send(Monica.SetTags(id: john.id, names: ["x", "y"])) }
            try await changes("unsetTag") { try await client.send(Monica.UnsetTag(id: john.id, tags: [tag.id])) }
            try await changes("unsetTags") { try await client.send(Monica.UnsetTags(id: john.id)) }
            try await changes("work") { try await client.send(Monica.SetWork(id: john.id, job: "x", company: nil)) }
            try await changes("a deleted tag") {
                try await client.send(Monica.SetTags(id: john.id, names: ["x"]))
                host.clock.advance(by: .seconds(10))
                last = try await client.getContact(id: john.id).data.updatedAt
                try await client.delete(Monica.Tag.self, id: tag.id)
            }
            // A request without changes does not change the order, and a note is not part of the contact's own row.
            host.clock.advance(by: .seconds(10))
            try await client.send(Monica.UnsetTags(id: john.id))
            _ = try await client.create(Monica.NoteDraft(contactID: john.id, body: "x"))
            let unchanged = try await client.getContact(id: john.id).data
            #expect(unchanged.updatedAt == last)
            #expect(unchanged.createdAt == john.createdAt)
            #expect(unchanged.hashID == john.hashID)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func membersMissingFromAPutAreClearedOrStay(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            let (client, token) = (try await host.client(), try await host.token())
            let john = try await client.create(
                Monica.ContactDraft(
                    firstName: "John", middleName: "M", lastName: "Doe", nickname: "J", description: "D",
                    birthdate: .age(30), isDeceased: true, deceasedDate: .age(1), isStarred: true))
            try await client.send(Monica.SetWork(id: john.id, job: "Baker", company: "ACME"))
            let answer = try await raw.send(
                .put, "/contacts/\(john.id)", token: token,
                body:
                    #"{"first_name":"Jack","is_birthdate_known":"0","is_deceased_date_known":1,"deceased_date_day":1,"#
                    + #""deceased_date_month":2,"account_id":77,"id":78,"uuid":"x","is_me":true,"created_at":"2001-01-01"}"#
            )
            #expect(answer.status == 200, "\(answer.text)")
            let jack = try await client.getContact(id: john.id).data
            #expect(jack.completeName == "Jack")
            #expect(jack.nickname == nil && jack.description == nil)
            #expect(jack.isStarred && !jack.isDead && !jack.isMe)
            // The date is hidden while the contact is alive.
            #expect(jack.information.dates == .init())
            #expect(jack.information.career == .init(job: "Baker", company: "ACME"))
            #expect(jack.uuid == john.uuid && jack.createdAt == john.createdAt && jack.account == john.account)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func contactsIncludeTheirNewestNotes(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess), clock: TestClock(step: 1000)) { host in
            let client = try await host.client()
            let john = try await host.contact("John")
            for body in ["1", "2", "3", "4"] {
                _ = try await client.create(Monica.NoteDraft(contactID: john.id, body: body))
            }
            let detailed = try await client.send(Monica.GetContact(id: john.id, with: .contactFields)).data
            #expect(detailed.notes?.map(\.body) == ["4", "3", "2"])
            #expect(detailed.statistics.numberOfNotes == 4)
            let list = try await client.send(Monica.ListContacts(with: .contactFields)).data
            #expect(list.first?.notes?.map(\.body) == ["4", "3", "2"])
            let plain = try await client.getContact(id: john.id).data
            #expect(plain.notes == nil && plain.contactFields == nil)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func colorsGoByTheId(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let colors = [
                "#fdb660", "#93521e", "#bd5067", "#b3d5fe", "#ff9807", "#709512", "#5f479a", "#e5e5cd",
            ]
            for index in 0..<9 {
                let contact = try await host.contact("N\(index)")
                #expect(contact.information.avatar.defaultAvatarColor == colors[contact.id % 8])
                #expect(contact.url == "\(host.baseURL.absoluteString)/contacts/\(contact.id)")
            }
        }
    }

    @Test(arguments: [
        ("John Michael Doe", "JMD"), ("(Jo) 'd Artagnan 3rd —", "JDA3"), ("élan 山田", "É山"), ("👩‍👩‍👧 🎉", ""),
    ])
    func initialsAreLettersAndDigits(_ name: String, _ initials: String) async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let contact = try await host.contact(name)
            #expect(contact.initials == initials)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func anAccountHasAThousandTags(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            let john = try await host.contact("John")
            for start in [0, 500] {
                try await client.send(Monica.SetTags(id: john.id, names: (start..<start + 500).map { "t\($0)" }))
            }
            let text = "The tags may not have more than 1000 items."
            let error = try await #require(throws: MonicaAPIError.self) {
                try await client.create(Monica.TagDraft(name: "one more"))
            }
            #expect(error.errorDescription == text)
            let set = try await #require(throws: MonicaAPIError.self) {
                try await client.send(Monica.SetTags(id: john.id, names: ["t5", "one more"]))
            }
            #expect(set.errorDescription == text)
            // Existing tags can still be set.
            try await client.send(Monica.SetTags(id: john.id, names: ["T5"]))
            let tags = try await client.listTags()
            #expect(tags.data.count == 1000)
        }
    }

    /// A body of a mebibyte is handled as fast as any other, because the writes of all accounts wait for each other.
    @Test(arguments: Stack.Engine.available)
    func longListsAreReadOnce(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            let (john, token) = (try await host.contact("John"), try await host.token())
            let names = Array(repeating: #""same""#, count: 120_000).joined(separator: ",")
            let tagged = try await raw.send(
                .post, "/contacts/\(john.id)/setTags", token: token, body: #"{"tags":[\#(names)]}"#)
            #expect(try tagged.json()["data"]?["tags"]?.elements.count == 1)
            let ids = (0..<130_000).map { String($0 % 65_000 + 1_000_000) }.joined(separator: ",")
            let answer = try await raw.send(
                .post, "/activities", token: token,
                body: #"{"summary":"x","happened_at":"2024-01-01","contacts":[\#(ids)]}"#)
            #expect(answer.status == 404, "\(answer.text.prefix(200))")
        }
    }

    @Test(arguments: Stack.Engine.available)
    func completionKeepsItsFirstTime(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            let john = try await host.contact("John")
            let task = try await client.create(Monica.TaskDraft(title: "x"))
            let note = try await client.create(Monica.NoteDraft(contactID: john.id, body: "x"))
            var (doneAt, starAt): ([Monica.Timestamp?], [Monica.Timestamp?]) = ([], [])
            for isSet in [true, true, false, true] {
                host.clock.advance(by: .seconds(60))
                let done = try await client.update(task.id, Monica.TaskDraft(title: "x", completed: isSet))
                let star = try await client.update(
                    note.id, Monica.NoteDraft(contactID: john.id, body: "x", isFavorited: isSet))
                #expect(done.completed == isSet && star.isFavorited == isSet)
                doneAt.append(done.completedAt)
                starAt.append(star.favoritedAt)
            }
            for times in [doneAt, starAt] {
                #expect(times[0] != nil && times[0] == times[1])
                #expect(times[2] == nil)
                #expect(times[3]?.milliseconds == times[0].map { $0.milliseconds + 180_000 })
            }
        }
    }

    /// Not even the totals include another account's data.
    @Test(arguments: Stack.Engine.available)
    func nothingOfAnotherAccountIsCounted(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let (client, stranger) = (try await host.client(), try await host.client("second"))
            let john = try await host.contact("John")
            _ = try await client.create(Monica.NoteDraft(contactID: john.id, body: "x"))
            _ = try await client.create(Monica.TaskDraft(title: "x"))
            _ = try await client.create(Monica.GiftDraft(contactID: john.id, name: "x"))
            _ = try await client.create(
                Monica.ActivityDraft(summary: "x", happenedAt: Day("2024-10-20")!, contacts: [john.id]))
            _ = try await client.create(Monica.TagDraft(name: "x"))
            for (reader, count) in [(client, 1), (stranger, 0)] {
                let totals = [
                    try await reader.listContacts(page: 1).meta?.total,
                    try await reader.listContacts(page: 1, query: "john").meta?.total,
                    try await reader.listNotes(contactId: nil, page: 1, limit: 10).meta?.total,
                    try await reader.listTasks(contactId: nil, page: 1, limit: 10).meta?.total,
                    try await reader.listGifts(contactId: nil, page: 1, limit: 10).meta?.total,
                    try await reader.listActivities(contactId: nil, page: 1, limit: 10).meta?.total,
                    try await reader.listTags().meta?.total,
                ]
                #expect(totals == Array(repeating: count, count: 7))
            }
        }
    }

    @Test(arguments: Stack.Engine.available)
    func deletionsIncludeDetails(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let card = "BEGIN:VCARD\nFN:John\nTEL:1\nADR:;;Street;;;;\nNOTE:x\nCATEGORIES:y\nEND:VCARD\n"
            _ = try await host.service.importVCards(Array(card.utf8), into: "first")
            let client = try await host.client()
            let john = try #require(try await client.listContacts(page: 1).data.first)
            #expect(john.addresses.map(\.street) == ["Street"])
            try await client.delete(Monica.Contact.self, id: john.id)
            let left = try await host.database.read { db in
                [
                    try db.value("SELECT COUNT(*) FROM contacts", as: Int.self),
                    try db.value("SELECT COUNT(*) FROM contact_fields", as: Int.self),
                    try db.value("SELECT COUNT(*) FROM addresses", as: Int.self),
                    try db.value("SELECT COUNT(*) FROM notes", as: Int.self),
                    try db.value("SELECT COUNT(*) FROM contact_tags", as: Int.self),
                ]
            }
            #expect(left == [0, 0, 0, 0, 0])
            let empty = try await client.listContacts(page: 1)
            #expect(empty.meta?.total == 0)
        }
    }
}

extension MonicaHost {
    /// Creates a contact of the first account.
    func contact(_ name: String) async throws -> Monica.Contact {
        try await client().create(Monica.ContactDraft(firstName: name))
    }
}
