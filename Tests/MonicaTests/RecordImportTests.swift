import Contract
import Database
import Foundation
import MonicaClient
import Testbed
import Testing

@testable import MonicaService

/// Exports of Monica 4 and of this server are imported, each record once.
@Suite(.timeLimit(.minutes(30))) struct MonicaRecordImportTests {
    private struct Interrupted: Error {}

    private static func importing(
        _ text: String, into host: MonicaHost, _ account: String = "alice", stoppingAfter limit: Int = .max
    ) async throws -> MonicaService.RecordReport {
        var records = try ExportRecords(ExportFile(Data(text.utf8)))
        var count = 0
        return try await host.service.importRecords(into: account) {
            count += 1
            if count > limit { throw Interrupted() }
            return try records.next()
        }
    }

    // MARK: Monica 4

    /// An export as Monica 4 writes it: types and journal beside the lists, and a contact's records within it.
    private static let monica4 = #"""
        {
          "version": "1.0-preview.1",
          "app_version": "4.0.0",
          "export_date": "2024-11-01T10:00:00.000000Z",
          "url": "https://monica.example",
          "exported_by": "00000000-0000-4000-8000-000000000001",
          "account": {
            "uuid": "00000000-0000-4000-8000-000000000002",
            "created_at": "2020-01-01T00:00:00.000000Z",
            "updated_at": null,
            "data": [
              {"count": 1, "type": "user", "values": [{"uuid": "00000000-0000-4000-8000-000000000001", "first_name": "A",
                "email": "a@example.com", "properties": {"locale": "en"}}]},
              {"count": 3, "type": "contact", "values": [
                {
                  "uuid": "11111111-0000-4000-8000-000000000001",
                  "created_at": "2020-01-02T03:04:05.000000Z",
                  "updated_at": "2021-01-02T03:04:05.000000Z",
                  "properties": {
                    "first_name": "John", "last_name": "Doe", "nickname": "Johnny", "description": "Tall",
                    "is_starred": 1, "is_partial": 0, "is_active": 1, "is_dead": 0, "job": "Baker",
                    "food_preferences": "No nuts", "number_of_views": 12,
                    "avatar": {"avatar_source": "default", "has_avatar": false, "default_avatar_color": "#fdb660"},
                    "tags": ["Family", "Friends"],
                    "gender": "22222222-0000-4000-8000-000000000009",
                    "birthdate": {"uuid": "22222222-0000-4000-8000-000000000001", "is_age_based": false,
                      "is_year_unknown": false, "date": "1980-10-10T00:00:00.000000Z"},
                    "first_met_date": {"uuid": "22222222-0000-4000-8000-000000000002", "is_age_based": false,
                      "is_year_unknown": true, "date": "2019-05-20T00:00:00.000000Z"},
                    "first_met_through": "11111111-0000-4000-8000-000000000002"
                  },
                  "data": [
                    {"count": 1, "type": "call", "values": [{"uuid": "33333333-0000-4000-8000-000000000001",
                      "created_at": "2021-02-02T00:00:00.000000Z", "updated_at": "2021-02-02T00:00:00.000000Z",
                      "properties": {"called_at": "2021-02-01 18:30:00", "content": "About tea", "contact_called": true,
                        "emotions": ["joy"]}}]},
                    {"count": 3, "type": "contact_field", "values": [
                      {"uuid": "33333333-0000-4000-8000-000000000002", "created_at": "2020-01-02T03:04:05.000000Z",
                        "updated_at": "2020-01-02T03:04:05.000000Z",
                        "properties": {"data": "john@example.com", "type": "44444444-0000-4000-8000-000000000001"}},
                      {"uuid": "33333333-0000-4000-8000-000000000003", "created_at": "2020-01-02T03:04:05.000000Z",
                        "updated_at": "2020-01-02T03:04:05.000000Z",
                        "properties": {"data": "@john", "type": "44444444-0000-4000-8000-000000000002"}},
                      {"uuid": "33333333-0000-4000-8000-000000000004", "created_at": "2020-01-02T03:04:05.000000Z",
                        "updated_at": "2020-01-02T03:04:05.000000Z",
                        "properties": {"data": "no address", "type": "44444444-0000-4000-8000-000000000001"}}]},
                    {"count": 1, "type": "debt", "values": [{"uuid": "33333333-0000-4000-8000-000000000005",
                      "created_at": "2021-02-02T00:00:00.000000Z", "updated_at": "2021-02-02T00:00:00.000000Z",
                      "properties": {"in_debt": true, "amount": "12.5", "currency": "EUR", "status": "inprogress"}}]},
                    {"count": 1, "type": "gift", "values": [{"uuid": "33333333-0000-4000-8000-000000000006",
                      "created_at": "2021-02-02T00:00:00.000000Z", "updated_at": "2021-02-02T00:00:00.000000Z",
                      "properties": {"name": "Teapot", "amount": 20, "status": "offered", "date": "2021-12-24T00:00:00Z",
                        "recipient": "11111111-0000-4000-8000-000000000002",
                        "photos": ["55555555-0000-4000-8000-000000000001"]}}]},
                    {"count": 1, "type": "note", "values": [{"uuid": "33333333-0000-4000-8000-000000000007",
                      "created_at": "2021-02-02T00:00:00.000000Z", "updated_at": "2021-02-03T00:00:00.000000Z",
                      "properties": {"body": "Likes tea", "favorited_at": "2021-02-04T00:00:00.000000Z"}}]},
                    {"count": 1, "type": "reminder", "values": [{"uuid": "33333333-0000-4000-8000-000000000008",
                      "created_at": "2021-02-02T00:00:00.000000Z", "updated_at": "2021-02-02T00:00:00.000000Z",
                      "properties": {"initial_date": "2021-03-04T00:00:00.000000Z", "title": "Call him",
                        "frequency_type": "month", "frequency_number": 2, "delible": true, "inactive": false}}]},
                    {"count": 1, "type": "task", "values": [{"uuid": "33333333-0000-4000-8000-000000000009",
                      "created_at": "2021-02-02T00:00:00.000000Z", "updated_at": "2021-02-02T00:00:00.000000Z",
                      "properties": {"title": "Send a card", "completed": true,
                        "completed_at": "2021-02-03T00:00:00.000000Z"}}]},
                    {"count": 1, "type": "address", "values": [{"uuid": "33333333-0000-4000-8000-000000000010",
                      "created_at": "2020-01-02T03:04:05.000000Z", "updated_at": "2020-01-02T03:04:05.000000Z",
                      "properties": {"name": "home", "street": "1 rue", "city": "Paris", "province": null,
                        "postal_code": "75001", "latitude": 48.8, "longitude": 2.3, "country": "FR"}}]},
                    {"count": 1, "type": "pet", "values": [{"uuid": "33333333-0000-4000-8000-000000000011",
                      "created_at": "2021-02-02T00:00:00.000000Z", "updated_at": "2021-02-02T00:00:00.000000Z",
                      "properties": {"name": "Tom", "category": "cat"}}]},
                    {"count": 1, "type": "conversation", "values": [{"uuid": "33333333-0000-4000-8000-000000000012",
                      "created_at": "2021-02-02T00:00:00.000000Z", "updated_at": "2021-02-02T00:00:00.000000Z",
                      "properties": {"happened_at": "2021-02-01T00:00:00.000000Z",
                        "contact_field_type": "44444444-0000-4000-8000-000000000001", "messages": [
                          {"uuid": "33333333-0000-4000-8000-000000000013", "created_at": "2021-02-02T00:00:00.000000Z",
                            "updated_at": "2021-02-02T00:00:00.000000Z", "properties": {"content": "Coming?",
                              "written_at": "2021-02-01T10:00:00.000000Z", "written_by_me": true}}]}}]},
                    {"count": 2, "type": "life_event", "values": [
                      {"uuid": "33333333-0000-4000-8000-000000000014", "created_at": "2021-02-02T00:00:00.000000Z",
                        "updated_at": "2021-02-02T00:00:00.000000Z", "properties": {"name": "To Lyon",
                          "happened_at": "2021-01-01T00:00:00.000000Z", "type": "66666666-0000-4000-8000-000000000001"}},
                      {"uuid": "33333333-0000-4000-8000-000000000015", "created_at": "2021-02-02T00:00:00.000000Z",
                        "updated_at": "2021-02-02T00:00:00.000000Z", "properties": {
                          "happened_at": "2021-01-01T00:00:00.000000Z", "type": "66666666-0000-4000-8000-000000000002"}}]},
                    {"count": 1, "type": "activity", "values": ["77777777-0000-4000-8000-000000000001"]},
                    {"count": 1, "type": "photo", "values": ["55555555-0000-4000-8000-000000000001"]}
                  ]
                },
                {
                  "uuid": "11111111-0000-4000-8000-000000000002",
                  "created_at": "2020-02-02T03:04:05.000000Z",
                  "updated_at": "2020-02-02T03:04:05.000000Z",
                  "properties": {"first_name": "Jane", "nickname": 7, "is_starred": 0, "is_partial": 0, "is_active": 1, "is_dead": 1,
                    "deceased_date": {"uuid": "22222222-0000-4000-8000-000000000003", "is_age_based": true,
                      "is_year_unknown": false, "date": "2010-01-01T00:00:00.000000Z"}, "vcard": "BEGIN:VCARD"},
                  "data": [{"count": 1, "type": "activity", "values": ["77777777-0000-4000-8000-000000000001"]}]
                },
                {
                  "uuid": "11111111-0000-4000-8000-000000000003",
                  "created_at": "2020-03-02T03:04:05.000000Z",
                  "updated_at": "2020-03-02T03:04:05.000000Z",
                  "properties": {"first_name": "Part", "is_partial": 1, "is_dead": 0},
                  "data": []
                }
              ]},
              {"count": 2, "type": "relationship", "values": [
                {"uuid": "88888888-0000-4000-8000-000000000001", "created_at": "2021-02-02T00:00:00.000000Z",
                  "updated_at": "2021-02-02T00:00:00.000000Z", "properties": {"type": "parent",
                    "contact_is": "11111111-0000-4000-8000-000000000001",
                    "of_contact": "11111111-0000-4000-8000-000000000003"}},
                {"uuid": "88888888-0000-4000-8000-000000000002", "created_at": "2021-02-02T00:00:00.000000Z",
                  "updated_at": "2021-02-02T00:00:00.000000Z", "properties": {"type": "child",
                    "contact_is": "11111111-0000-4000-8000-000000000003",
                    "of_contact": "11111111-0000-4000-8000-000000000001"}},
                {"uuid": "88888888-0000-4000-8000-000000000003", "created_at": "2021-02-02T00:00:00.000000Z",
                  "updated_at": "2021-02-02T00:00:00.000000Z", "properties": {"type": "neighbour",
                    "contact_is": "11111111-0000-4000-8000-000000000001",
                    "of_contact": "11111111-0000-4000-8000-000000000002"}}]},
              {"count": 1, "type": "photo", "values": [{"uuid": "55555555-0000-4000-8000-000000000001",
                "properties": {"original_filename": "a.jpg", "dataUrl": "data:image/jpeg;base64,AAAA"}}]},
              {"count": 1, "type": "activity", "values": [{"uuid": "77777777-0000-4000-8000-000000000001",
                "created_at": "2021-02-02T00:00:00.000000Z", "updated_at": "2021-02-02T00:00:00.000000Z",
                "properties": {"summary": "Dinner", "description": "At home", "happened_at": "2021-01-31T00:00:00.000000Z",
                  "type": "99999999-0000-4000-8000-000000000002"}}]}
            ],
            "properties": {
              "default_gender": "22222222-0000-4000-8000-000000000009",
              "journal_entries": [
                {"uuid": "99999999-0000-4000-8000-000000000005", "created_at": "2021-02-02T00:00:00.000000Z",
                  "updated_at": "2021-02-02T00:00:00.000000Z", "properties": {"type": "entry", "title": "A good day",
                    "post": "We met in the park", "date": "2021-02-01T00:00:00.000000Z"}},
                {"uuid": "99999999-0000-4000-8000-000000000006", "created_at": "2021-02-02T00:00:00.000000Z",
                  "updated_at": "2021-02-02T00:00:00.000000Z", "properties": {"type": "day", "rate": 3}}],
              "modules": [{"key": "x"}]
            },
            "instance": {
              "activity_types": [{"uuid": "99999999-0000-4000-8000-000000000002",
                "properties": {"translation_key": "ate_at_home", "category": "99999999-0000-4000-8000-000000000003"}}],
              "activity_type_categories": [{"uuid": "99999999-0000-4000-8000-000000000003",
                "properties": {"translation_key": "food"}}],
              "contact_field_types": [
                {"uuid": "44444444-0000-4000-8000-000000000001", "properties": {"name": "Email",
                  "fontawesome_icon": "fa fa-envelope-open-o", "protocol": "mailto:", "delible": false, "type": "email"}},
                {"uuid": "44444444-0000-4000-8000-000000000002", "properties": {"name": "Mastodon", "delible": true}}],
              "genders": [{"uuid": "22222222-0000-4000-8000-000000000009", "created_at": "2020-01-01T00:00:00.000000Z",
                "updated_at": "2020-01-01T00:00:00.000000Z", "properties": {"name": "Agender", "type": "O"}}],
              "life_event_types": [
                {"uuid": "66666666-0000-4000-8000-000000000001", "properties": {"name": "Moved", "translation_key": "moved"}},
                {"uuid": "66666666-0000-4000-8000-000000000002", "properties": {"name": "Own"}}],
              "life_event_categories": []
            }
          }
        }
        """#

    @Test(arguments: Stack.Engine.available)
    func anExportOfMonica4(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let report = try await Self.importing(Self.monica4, into: host)
            let text = RecordSummary(report: report).text
            for line in [
                "3 contacts imported", "2 contact fields imported", "1 address imported", "2 relationships imported",
                "1 introduction imported", "1 activity imported", "1 note imported", "1 task imported",
                "1 gift imported", "1 call imported", "1 conversation imported", "1 reminder imported",
                "1 debt imported", "1 pet imported", "1 life event imported", "1 journal entry imported",
                "1 gender imported", "1 contact field type imported, 1 there already",
                "0 activity types imported, 1 there already", "  call: emotions: 1", "  debt: currency: 1",
                "  address: latitude: 1", "  contact: number_of_views: 1", "  contact: vcard: 1",
                "  user: 1", "  modules: 1",
                "  journal entry: the rating of a day: 1",
                "  account.data[1].values[1].nickname: The nickname must be a string.",
                "  account.data[1].values[0].data[1].values[2]: The data must be a valid email address.",
                "  account.data[3].values[0]: the photo must be an image",
                "  account.data[2].values[2]: there is no type of relationships 'neighbour'",
                "  account.data[1].values[0].data[10].values[1]: there is no such type of life events",
            ] {
                #expect(text.split(separator: "\n").contains { $0 == line }, "\(line) in\n\(text)")
            }
            let client = try await host.client("alice")
            let contacts = try await client.listContacts(page: 1, limit: 50, query: nil).data
            #expect(contacts.map(\.completeName) == ["John Doe", "Jane"])
            let john = try #require(contacts.first)
            #expect(john.uuid == "11111111-0000-4000-8000-000000000001")
            #expect(john.createdAt == Monica.Timestamp("2020-01-02T03:04:05Z"))
            #expect(john.updatedAt == Monica.Timestamp("2021-01-02T03:04:05Z"))
            #expect(john.gender == "Agender" && john.isStarred)
            #expect(john.tags.map(\.name) == ["Family", "Friends"])
            #expect(john.information.dates.birthdate == .init(Day("1980-10-10")!))
            #expect(john.information.howYouMet.firstMetDate.isYearUnknown == true)
            #expect(john.information.howYouMet.firstMetThroughContact?.firstName == "Jane")
            #expect(john.information.career.job == "Baker" && john.information.foodPreferences == "No nuts")
            #expect(john.addresses.map(\.country?.name) == ["France"])
            #expect(john.information.relationships.family.contacts.map(\.contact.firstName) == ["Part"])
            let fields = try await client.send(Monica.ListOfContact<Monica.ContactField>(contact: john.id)).data
            #expect(fields.map(\.content) == ["john@example.com", "@john"])
            #expect(fields.map(\.contactFieldType.name) == ["Email", "Mastodon"])
            let found = try await client.listContacts(page: 1, limit: 50, query: "john@example")
            #expect(found.data.map(\.id) == [john.id])
            let note = try #require(try await client.listNotes(contactId: john.id, page: 1, limit: 10).data.first)
            #expect(note.favoritedAt == Monica.Timestamp("2021-02-04T00:00:00Z"))
            #expect(note.updatedAt == Monica.Timestamp("2021-02-03T00:00:00Z"))
            let task = try #require(try await client.listTasks(contactId: john.id, page: 1, limit: 10).data.first)
            #expect(task.completed && task.completedAt == Monica.Timestamp("2021-02-03T00:00:00Z"))
            let gift = try #require(try await client.listGifts(contactId: john.id, page: 1, limit: 10).data.first)
            #expect(gift.amount == "20.00" && gift.recipient?.firstName == "Jane" && gift.date == Day("2021-12-24"))
            let activity = try #require(
                try await client.listActivities(contactId: nil, page: 1, limit: 10).data.first)
            #expect(activity.contacts.map(\.firstName) == ["John", "Jane"])
            #expect(activity.activityType?.name == "ate at home" && activity.happenedAt == Day("2021-01-31"))
            let talk = try #require(try await client.send(Monica.List<Monica.Conversation>()).data.first)
            #expect(talk.messages.map(\.content) == ["Coming?"] && talk.messages[0].writtenByMe)
            let call = try #require(try await client.send(Monica.List<Monica.Call>()).data.first)
            #expect(call.calledAt == Monica.Timestamp("2021-02-01T18:30:00Z"))
            let reminder = try #require(try await client.send(Monica.List<Monica.Reminder>()).data.first)
            #expect(reminder.frequencyNumber == 2 && reminder.title == "Call him")
            let debt = try #require(try await client.send(Monica.List<Monica.Debt>()).data.first)
            #expect(debt.inDebt == .yes && debt.amount == "12.50")
            let events = try await client.send(Monica.List<Monica.LifeEvent>()).data
            #expect(events.map(\.lifeEventType.defaultLifeEventTypeKey) == [.moved])
            let journal = try await client.send(Monica.ListJournal()).data
            #expect(journal.map(\.title) == ["A good day"] && journal[0].day == Day("2021-02-01"))
        }
    }

    /// An import that was interrupted is started again, and a second one changes nothing.
    @Test(arguments: Stack.Engine.available)
    func nothingIsImportedTwice(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            await #expect(throws: Interrupted.self) {
                try await Self.importing(Self.monica4, into: host, stoppingAfter: 0)
            }
            _ = try await Self.importing(Self.monica4, into: host, "bob")
            // Everything but the last records is there, as if the server had been killed.
            _ = try await Self.importing(Self.monica4, into: host)
            try await host.database.write { db in
                for table: SQL in ["journal", "relationships", "activity_contacts", "activities", "notes"] {
                    try db.run("DELETE FROM \(table)")
                }
            }
            let again = try await Self.importing(Self.monica4, into: host)
            #expect(again.imported[.contact] == nil && again.known[.contact] == 3)
            #expect(again.imported[.note] == 1 && again.imported[.relationship] == 2)
            let whole = try await host.export(of: "alice")
            let client = try await host.client("alice")
            let john = try #require(whole.contacts.first).contact.id
            try await client.send(Monica.SetWork(id: john, job: "Cook", company: nil))
            host.clock.advance(by: .seconds(60))
            let third = try await Self.importing(Self.monica4, into: host)
            #expect(third.imported.isEmpty, "\(third.imported)")
            let after = try await host.export(of: "alice")
            #expect(after.contacts.count == 3 && after.notes == whole.notes && after.journal == whole.journal)
            #expect(after.lifeEvents?.count == 1 && after.tags.count == 2)
            #expect(after.contacts.first?.contact.information.career.job == "Cook")
            #expect(try await host.database.read { try $0.value("SELECT COUNT(*) FROM imports", as: Int.self) } == 0)
        }
    }

    // MARK: Our own export

    /// Returns an export without what is another account's own: ids, and what follows from them.
    private static func plain(_ value: JSONValue) -> JSONValue {
        switch value {
        case .list(let elements): return .list(elements.map(plain))
        case .object(var members):
            for name in [
                "id", "gender_id", "contact_id", "activity_type_id", "relationship_type_id", "url", "account",
                "default_avatar_color", "exported_at", "user",
            ] {
                members[name] = nil
            }
            // Both accounts began with types of their own.
            if let object = members["object"]?.text,
                ["contactfieldtype", "activityType", "activityTypeCategory", "gender", "tag"].contains(object)
                    || object.hasSuffix("type")
            {
                for name in ["uuid", "created_at", "updated_at"] { members[name] = nil }
            }
            if members["object"]?.text?.hasPrefix("relationshiptype") == true
                || members["object"]?.text?.hasPrefix("lifeevent") == true
            {
                for name in ["created_at", "updated_at"] where members["happened_at"] == nil { members[name] = nil }
            }
            return .object(members.mapValues(plain))
        default: return value
        }
    }

    private static func fill(_ host: MonicaHost, _ client: MonicaAPIClient) async throws {
        let gender = try await client.create(Monica.GenderDraft(name: "Agender", type: .other))
        let john = try await client.create(
            Monica.ContactDraft(
                firstName: "John", middleName: "Q", lastName: "Doe", nickname: "J", description: "Tall",
                genderID: gender.id, email: "john@example.com", birthdate: .dayOfYear(month: 2, day: 29),
                isStarred: true))
        host.clock.advance(by: .seconds(10))
        let jane = try await client.create(
            Monica.ContactDraft(
                firstName: "Jane", birthdate: .age(40), isDeceased: true, deceasedDate: .day(Day("2020-01-02")!)))
        let part = try await client.create(Monica.ContactDraft(firstName: "Part", isPartial: true))
        let ids = (john.id, jane.id)
        try await client.send(Monica.SetWork(id: ids.0, job: "Baker", company: "Bakery"))
        try await client.send(Monica.SetFood(id: ids.0, preferences: "No nuts"))
        try await client.send(
            Monica.SetIntroduction(
                id: ids.0, generalInformation: "At school", metThrough: ids.1, date: .day(Day("1999-09-09")!)))
        try await client.send(Monica.SetTags(id: ids.0, names: ["Family", "é"]))
        try await client.create(Monica.TagDraft(name: "Unused"))
        let type = try await client.create(Monica.ContactFieldTypeDraft(name: "Mastodon", protocol: "https:"))
        try await client.create(Monica.ContactFieldDraft(contactID: ids.1, typeID: type.id, content: "@jane"))
        try await client.create(Monica.AddressDraft(contactID: ids.1, name: "home", city: "Paris", country: "FR"))
        let category = try await client.create(Monica.ActivityTypeCategoryDraft(name: "Baking"))
        let bread = try await client.create(Monica.ActivityTypeDraft(name: "baked bread", categoryID: category.id))
        for type in [bread.id, nil] {
            try await client.create(
                Monica.ActivityDraft(
                    summary: "Sourdough", description: "x", happenedAt: Day("2024-10-20")!, contacts: [ids.0, ids.1],
                    activityTypeID: type))
        }
        host.clock.advance(by: .seconds(10))
        try await client.create(Monica.NoteDraft(contactID: ids.0, body: "Likes tea", isFavorited: true))
        for contact in [ids.0, nil] {
            let task = try await client.create(Monica.TaskDraft(title: "x", description: "y", contactID: contact))
            host.clock.advance(by: .seconds(10))
            var done = Monica.TaskDraft(task)
            done.completed = true
            try await client.update(task.id, done)
        }
        try await client.create(
            Monica.GiftDraft(
                contactID: ids.0, name: "Teapot", status: .received, comment: "c", url: "u", amount: "1.05",
                date: Day("2024-01-02")!, recipientID: ids.1))
        try await client.create(Monica.CallDraft(contactID: ids.0, calledAt: .init("2024-10-20T18:30:00Z")!))
        let talk = try await client.create(
            Monica.ConversationDraft(contactID: ids.0, happenedAt: .init("2024-10-20T00:00:00Z")!, typeID: type.id))
        try await client.send(
            Monica.CreateMessage(
                conversation: talk.id,
                Monica.MessageDraft(content: "Coming?", writtenAt: .init("2024-10-20T18:30:00Z")!, writtenByMe: true)))
        try await client.create(
            Monica.ReminderDraft(
                contactID: ids.0, title: "r", initialDate: Day("2024-10-20")!, frequencyType: .oneTime,
                description: "d"))
        try await client.create(Monica.DebtDraft(contactID: ids.0, inDebt: .no, amount: "3.10", reason: "Lunch"))
        try await client.create(Monica.PetDraft(contactID: ids.0, category: .smallAnimal, name: "Boo"))
        try await client.create(
            Monica.LifeEventDraft(
                contactID: ids.0, typeID: 18, happenedAt: .init("2024-10-01T00:00:00Z")!, name: "n", note: "m",
                hasReminder: true, isDayUnknown: true))
        try await client.create(Monica.JournalDraft(title: "A good day", post: "p", day: Day("2024-10-20")!))
        for (contact, other, type) in [(ids.0, ids.1, 8), (part.id, ids.0, 18)] {
            try await client.create(Monica.RelationshipDraft(contactIs: contact, typeID: type, ofContact: other))
        }
    }

    @Test(arguments: Stack.Engine.available)
    func anExportOfOurOwnComesBackWhole(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            try await Self.fill(host, host.client("alice"))
            let written = String(decoding: try await host.written(.json, of: "alice"), as: UTF8.self)
            host.clock.advance(by: .seconds(1000))
            let report = try await Self.importing(written, into: host, "bob")
            #expect(report.refused.isEmpty && report.leftOut.isEmpty, "\(RecordSummary(report: report).text)")
            let copy = String(decoding: try await host.written(.json, of: "bob"), as: UTF8.self)
            let (before, after) = try (
                Self.plain(JSONDecoder().decode(JSONValue.self, from: Data(written.utf8))),
                Self.plain(JSONDecoder().decode(JSONValue.self, from: Data(copy.utf8)))
            )
            for (name, value) in before.members {
                #expect(after[name] == value, "\(name): \(String(describing: after[name])) is not \(value)")
            }
            let again = try await Self.importing(written, into: host, "bob")
            #expect(again.imported.isEmpty, "\(again.imported)")
            #expect(try await host.client("bob").listContacts(page: 1, limit: 10, query: nil).meta?.total == 2)
        }
    }

    // MARK: Files that are none

    @Test(arguments: [
        ("{\"version\": 1,\n\"contacts\": [\n{\"a\": }]}", "line 3: this is no JSON"),
        ("{\"version\": 1,\n\"contacts\": [", "line 2: the file ends too early"),
        ("{\"a\": \"b\n\"}", "line 1: a text has a control character"),
        ("{} x", "line 1: there is something behind the end"),
        ("{\"a\" 1}", "line 1: ':' is missing"), ("{\"a\": \"\\x\"}", "line 1: a text has an escape that is none"),
        ("{\"a\": 01}", "line 1: '}' is missing"),
        ("{\"contacts\": []}", "it is neither an export of Monica 4 nor one of 'concord monica export'"),
    ])
    func aFileThatIsNoneIsRefused(_ text: String, _ reason: String) throws {
        #expect(ExportFile.isJSON(Data(text.utf8)))
        let refusal = #expect(throws: MonicaService.ImportRefused.self) { try ExportFile(Data(text.utf8)) }
        #expect(refusal?.description == reason)
    }

    @Test func aCardIsNoJSON() { #expect(!ExportFile.isJSON(Data("BEGIN:VCARD\r\n".utf8))) }
}
