import Contract
import Foundation
import MonicaAPI
import Testbed
import Testing

/// The client decodes JSON of Monica 4 installations, with its variations.
@Suite(.timeLimit(.minutes(30))) struct MonicaFourWireTests {
    @Test func aCompleteContactIsDecoded() throws {
        let contact = try read(
            APIResponse<Monica.Contact>.self,
            """
            {"data": {
              "id": 1, "uuid": "1a2b3c4d-0000-4000-8000-000000000001", "object": "contact", "hash_id": "h:Y5LOkAdWNDqgVomKPv",
              "first_name": "Henri", "last_name": "Troyat", "nickname": "Rambo", "complete_name": "Henri Troyat (Rambo)",
              "initials": "HT", "description": "Author", "gender": "Man", "gender_type": "M", "is_starred": false,
              "is_partial": false, "is_active": true, "is_dead": true, "is_me": false, "last_called": null,
              "last_activity_together": "2018-03-01T00:00:00.000000Z", "stay_in_touch_frequency": 5,
              "stay_in_touch_trigger_date": "2018-04-20T00:00:00.000000Z",
              "information": {
                "relationships": {
                  "love": {"total": 1, "contacts": [{"relationship": {"id": 1, "uuid": "x", "name": "partner"},
                    "contact": {"id": 2, "first_name": "Jane", "is_partial": true}}]},
                  "family": {"total": 0, "contacts": null}, "friend": null, "work": {"total": "0"}
                },
                "dates": {
                  "birthdate": {"is_age_based": false, "is_year_unknown": false, "date": "1986-02-01T00:00:00.123456Z"},
                  "deceased_date": {"is_age_based": null, "is_year_unknown": null, "date": null}
                },
                "career": {"job": "Writer", "company": null},
                "avatar": {"url": "https://monica.test/a.png", "source": "gravatar", "default_avatar_color": "#fdb660"},
                "food_preferences": null,
                "how_you_met": {"general_information": null,
                  "first_met_date": {"is_age_based": null, "is_year_unknown": null, "date": null},
                  "first_met_through_contact": null}
              },
              "addresses": [
                {"id": 1, "object": "address", "name": "home", "street": "1 rue", "city": "Paris", "province": null,
                 "postal_code": 75001, "country": {"id": "FRA", "object": "country", "name": "France", "iso": "FRA"}},
                {"id": "2", "country": "France"}
              ],
              "tags": [{"id": "3", "object": "tag", "name": "Family", "name_slug": "family", "account": {"id": "1"},
                "created_at": "2018-05-13T14:48:34Z", "updated_at": "2018-05-13T14:48:34Z"}],
              "statistics": {"number_of_calls": "2", "number_of_notes": 3, "number_of_debts": 1},
              "contactFields": [{"id": 9, "object": "contactfield", "content": "henri@example.com",
                "contact_field_type": {"id": 1, "name": "Email", "protocol": "mailto:", "delible": false, "type": "email"},
                "labels": [], "account": {"id": 1}, "contact": {"id": 1, "first_name": "Henri"}}],
              "notes": [],
              "url": "https://monica.test/api/contacts/1", "account": {"id": 1},
              "created_at": "2018-03-14T20:19:21.000000Z", "updated_at": "2018-04-20T12:36:23.999999Z"
            }}
            """
        ).data
        #expect(contact.genderID == nil)
        #expect(contact.gender == "Man")
        #expect(contact.completeName == "Henri Troyat (Rambo)")
        #expect(contact.lastActivityTogether?.description == "2018-03-01T00:00:00Z")
        #expect(contact.stayInTouchFrequency == 5)
        #expect(contact.information.relationships.love.contacts.map(\.contact.firstName) == ["Jane"])
        #expect(contact.information.relationships.love.contacts.first?.relationship.name == "partner")
        #expect(contact.information.relationships.friend == .init())
        #expect(contact.information.dates.birthdate.date?.description == "1986-02-01T00:00:00Z")
        #expect(contact.information.career.job == "Writer")
        #expect(contact.information.avatar.source == "gravatar")
        #expect(contact.addresses.map(\.country?.name) == ["France", "France"])
        #expect(contact.addresses[0].postalCode == "75001")
        #expect(contact.tags.map(\.id) == [3])
        #expect(contact.statistics.numberOfCalls == 2)
        #expect(contact.contactFields?.first?.contactFieldType.protocol == "mailto:")
        #expect(contact.createdAt.description == "2018-03-14T20:19:21Z")
    }

    @Test func aPartialContactIsRead() throws {
        let contact = try read(
            Monica.Contact.self,
            """
            {"id": "7", "object": "contact", "first_name": "Jane", "is_partial": 1, "information": [],
             "account": {"id": 1}}
            """)
        #expect(contact.id == 7)
        #expect(contact.isPartial)
        #expect(contact.information == .init())
        #expect(contact.statistics == .init())
    }

    @Test func metadataIsReadInAllForms() throws {
        let strings = try read(
            APIResponse<[Monica.Tag]>.self,
            """
            {"data": [], "links": {"first": "https://monica.test/api/contacts?page=1", "last": null, "prev": null,
             "next": null},
             "meta": {"current_page": 1, "from": 1, "last_page": "5", "path": "https://monica.test/api/contacts",
              "per_page": "15", "to": 15, "total": "70"}}
            """)
        #expect(strings.meta?.per_page == 15)
        #expect(strings.meta?.last_page == 5)
        #expect(strings.meta?.total == 70)
        let absent = try read(APIResponse<[Monica.Tag]>.self, #"{"data": []}"#)
        #expect(absent.meta == nil)
        #expect(absent.links == nil)
        let null = try read(APIResponse<[Monica.Tag]>.self, #"{"data": [], "meta": null, "links": []}"#)
        #expect(null.meta == nil)
    }

    @Test func anActivityIsReadByItsAttendees() throws {
        let activity = try read(
            Monica.Activity.self,
            """
            {"id": 1, "uuid": "x", "object": "activity", "summary": "Lunch", "description": null,
             "happened_at": "2018-02-02T00:00:00.000000Z",
             "activity_type": {"id": 1, "object": "activityType", "name": "ate at home", "location_type": null,
              "activity_type_category": {"id": 1, "object": "activityTypeCategory", "name": "Food"}},
             "attendees": {"total": "1", "contacts": [{"id": 1, "first_name": "Henri", "last_name": "Troyat"}]},
             "emotions": [], "url": "", "account": {"id": 1}, "created_at": "2018-03-14T20:19:21Z",
             "updated_at": "2018-03-14T20:19:21Z"}
            """)
        #expect(activity.happenedAt == Day("2018-02-02"))
        #expect(activity.contacts.map(\.id) == [1])
        #expect(activity.attendees.total == 1)
        #expect(activity.activityTypeID == 1)
        #expect(activity.activityType?.activityTypeCategory?.name == "Food")
        let flat = try read(
            Monica.Activity.self,
            #"{"id": 1, "summary": "x", "happened_at": "2018-02-02", "contacts": [{"id": 4, "first_name": "A"}]}"#)
        #expect(flat.attendees.contacts.map(\.id) == [4])
    }

    @Test func aContactMayBeNestedOrAnId() throws {
        let nested = #""contact": {"id": 3, "first_name": "A", "information": {"birthdate": null, "avatar": []}}"#
        let note = try read(
            Monica.Note.self,
            #"{"id": 1, "body": "x", "is_favorited": 1, "favorited_at": "2018-02-02T00:00:00.000000Z", \#(nested)}"#)
        #expect(note.contactID == 3)
        #expect(note.isFavorited)
        let task = try read(
            Monica.Task.self, #"{"id": 1, "title": "x", "completed": "0", "completed_at": null, \#(nested)}"#)
        #expect(task.contactID == 3)
        #expect(!task.completed)
        let alone = try read(Monica.Task.self, #"{"id": 1, "title": "x", "completed": false, "contact": null}"#)
        #expect(alone.contactID == nil)
        #expect(alone.contact == nil)
    }

    @Test(arguments: [
        (#""value": "12.50", "amount": "12.50""#, 12.5 as Double?), (#""value": 12.5"#, 12.5), (#""value": """#, nil),
        (#""amount": 7"#, 7), (#""value": null, "amount": null"#, nil), (#""amount": """#, nil),
    ])
    func aGiftsValueIsReadInAllForms(_ fields: String, _ value: Double?) throws {
        let gift = try read(
            Monica.Gift.self,
            #"{"id": 1, "name": "x", "is_an_idea": false, "has_been_offered": true, "contact": {"id": 3}, \#(fields)}"#)
        #expect(gift.value == value)
        #expect(gift.status == .offered)
        #expect(gift.contactID == 3)
    }

    @Test(arguments: [
        (#"{"error": {"message": "x", "error_code": 31}}"#, "x", nil as Int?, 31 as Int?),
        (#"{"error": {"message": ["a", "b"], "error_code": "32"}}"#, "a b", nil, 32),
        (#"{"message": "Unauthenticated."}"#, "Unauthenticated.", nil, nil),
        (#"{"error": "flat"}"#, "flat", nil, nil),
    ])
    func refusalsAreReadInAllForms(
        _ json: String, _ message: String, _ code: Int?, _ errorCode: Int?
    ) throws {
        #expect(try read(Monica.Failure.self, json) == .init(message: message, code: code, errorCode: errorCode))
    }

    @Test(arguments: [#"{"deleted": true, "id": 7}"#, #"{"deleted": true, "id": "7"}"#])
    func aDeletionIsReadInAllForms(_ json: String) throws {
        #expect(try read(Monica.Deletion.self, json) == .init(id: 7))
    }

    @Test(arguments: [#"{}"#, #"{"id": null}"#, #"{"id": "x"}"#, #"{"id": [1]}"#])
    func objectsWithoutAnIdAreRefused(_ json: String) {
        #expect(throws: DecodingError.self) { try read(Monica.Contact.self, json) }
    }
}
