import Contract
import ContractServer
import Foundation
import MonicaAPI
import NIOCore
import Testbed
import Testing

/// The contract's literal JSON, and what this server writes.
@Suite(.timeLimit(.minutes(30))) struct MonicaContractWireTests {
    private static let created = Monica.Timestamp("2024-01-15T10:30:00Z")!
    private static let updated = Monica.Timestamp("2024-10-26T14:22:00Z")!

    static let john = """
        {
          "id": 1,
          "first_name": "John",
          "last_name": "Doe",
          "nickname": "Johnny",
          "gender_id": 1,
          "is_partial": false,
          "is_dead": false,
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-10-26T14:22:00Z"
        }
        """

    @Test func theContractsListIsRead() throws {
        let response = try read(
            APIResponse<[Monica.Contact]>.self,
            """
            {
              "data": [\(Self.john)],
              "meta": { "total": 1247, "current_page": 1, "per_page": 50 },
              "links": {
                "first": "/contacts?page=1&limit=50",
                "last": "/contacts?page=25&limit=50",
                "prev": null,
                "next": "/contacts?page=2&limit=50"
              }
            }
            """)
        let contact = try #require(response.data.first)
        #expect(contact.id == 1)
        #expect(contact.firstName == "John")
        #expect(contact.lastName == "Doe")
        #expect(contact.nickname == "Johnny")
        #expect(contact.genderID == 1)
        #expect(!contact.isPartial && !contact.isDead && contact.isActive)
        #expect(contact.createdAt == Self.created)
        #expect(contact.updatedAt == Self.updated)
        #expect(contact.completeName == "John Doe")
        #expect(contact.initials == "JD")
        #expect(response.meta == PaginationMeta(total: 1247, current_page: 1, per_page: 50))
        #expect(response.links?.next == "/contacts?page=2&limit=50")
        #expect(response.links?.prev == nil)
    }

    @Test func theContractsContactIsRead() throws {
        let response = try read(APIResponse<Monica.Contact>.self, #"{ "data": \#(Self.john) }"#)
        #expect(response.data.id == 1)
        #expect(response.meta == nil)
    }

    @Test func theContractsErrorIsRead() throws {
        let failure = try read(
            Monica.Failure.self,
            #"{ "error": { "message": "The requested contact was not found.", "code": 404 } }"#)
        #expect(failure == .init(message: "The requested contact was not found.", code: 404, errorCode: nil))
    }

    @Test(arguments: [
        (
            try! Example(Monica.ListContacts(query: "john", page: 2, limit: 50)),
            "/contacts?query=john&page=2&limit=50"
        ),
        (try! Example(Monica.ListContacts(limit: 1)), "/contacts?limit=1"),
        (try! Example(Monica.List<Monica.Note>(contact: 5, page: 1, limit: 10)), "/notes?contact_id=5&page=1&limit=10"),
        (try! Example(Monica.List<Monica.Activity>()), "/activities"),
        (try! Example(Monica.Get<Monica.Activity>(id: 3)), "/activities/3"),
        (try! Example(Monica.ListTags()), "/tags"),
        (try! Example(Monica.ListContacts(query: "a&b=c#d+e%")), "/contacts?query=a%26b%3Dc%23d%2Be%25"),
    ])
    func requestsAreWhatTheContractShows(_ example: Example, _ path: String) {
        #expect(example.path == path)
    }

    @Test func aContactIsWrittenWithEveryKeyInOrder() throws {
        var contact = Monica.Contact(
            id: 1, uuid: "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071", firstName: "John", lastName: "Doe",
            createdAt: Self.created, updatedAt: Self.updated)
        contact.hashID = "h:6f1a2b3c4d5e4f608a"
        contact.url = "https://monica.example/api/contacts/1"
        contact.information.dates.birthdate = .init(Day("1980-10-10")!)
        let unknown = #"{"is_age_based":null,"is_year_unknown":null,"date":null}"#
        let none = #"{"total":0,"contacts":[]}"#
        let written = """
            {"id":1,"uuid":"6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071","object":"contact","hash_id":"h:6f1a2b3c4d5e4f608a",
             "first_name":"John","middle_name":null,"last_name":"Doe","nickname":null,"complete_name":"John Doe",
             "initials":"JD",
             "description":null,"gender_id":null,"gender":null,"gender_type":null,"is_starred":false,
             "is_partial":false,"is_active":true,"is_dead":false,"is_me":false,"last_called":null,
             "last_activity_together":null,"stay_in_touch_frequency":null,"stay_in_touch_trigger_date":null,
             "information":{"relationships":{"love":\(none),"family":\(none),"friend":\(none),"work":\(none)},
              "dates":{"birthdate":{"is_age_based":false,"is_year_unknown":false,"date":"1980-10-10T00:00:00Z"},
               "deceased_date":\(unknown)},
              "career":{"job":null,"company":null},
              "avatar":{"url":null,"source":"default","default_avatar_color":"#fdb660"},"food_preferences":null,
              "how_you_met":{"general_information":null,"first_met_date":\(unknown),"first_met_through_contact":null}},
             "addresses":[],"tags":[],
             "statistics":{"number_of_calls":0,"number_of_notes":0,"number_of_activities":0,"number_of_reminders":0,
              "number_of_tasks":0,"number_of_gifts":0,"number_of_debts":0},
             "url":"https://monica.example/api/contacts/1","account":{"id":1},"created_at":"2024-01-15T10:30:00Z",
             "updated_at":"2024-10-26T14:22:00Z"}
            """
        #expect(String(buffer: try JSONBody.encode(contact)) == minified(written))
        #expect(try read(Monica.Contact.self, written) == contact)
    }

    @Test func theOthersAreWrittenWithEveryKeyInOrder() throws {
        let note = Monica.Note(
            id: 2, uuid: "u", contactID: 1, body: "x", url: "n", createdAt: Self.created, updatedAt: Self.updated)
        #expect(
            String(buffer: try JSONBody.encode(note))
                == minified(
                    """
                    {"id":2,"uuid":"u","object":"note","contact_id":1,"body":"x","is_favorited":false,
                     "favorited_at":null,"url":"n","account":{"id":1},"contact":null,
                     "created_at":"2024-01-15T10:30:00Z","updated_at":"2024-10-26T14:22:00Z"}
                    """))
        let task = Monica.Task(
            id: 2, uuid: "u", title: "x", completedAt: Self.updated, createdAt: Self.created, updatedAt: Self.updated)
        #expect(
            String(buffer: try JSONBody.encode(task))
                == minified(
                    """
                    {"id":2,"uuid":"u","object":"task","contact_id":null,"title":"x","description":null,
                     "completed":true,"completed_at":"2024-10-26T14:22:00Z","account":{"id":1},"contact":null,
                     "created_at":"2024-01-15T10:30:00Z","updated_at":"2024-10-26T14:22:00Z"}
                    """))
        let gift = Monica.Gift(
            id: 2, uuid: "u", contactID: 1, name: "x", cents: 1250, status: .offered, date: Day("2024-10-20")!,
            createdAt: Self.created, updatedAt: Self.updated)
        #expect(
            String(buffer: try JSONBody.encode(gift))
                == minified(
                    """
                    {"id":2,"uuid":"u","object":"gift","contact_id":1,"name":"x","comment":null,"url":null,
                     "amount":"12.50","value":12.5,"amount_with_currency":"$12.50","status":"offered",
                     "is_an_idea":false,"has_been_offered":true,"date":"2024-10-20","recipient":null,"photos":[],
                     "contact":null,"account":{"id":1},"created_at":"2024-01-15T10:30:00Z",
                     "updated_at":"2024-10-26T14:22:00Z"}
                    """))
        let activity = Monica.Activity(
            id: 2, uuid: "u", summary: "x", happenedAt: Day("2024-10-20")!, url: "a", createdAt: Self.created,
            updatedAt: Self.updated)
        #expect(
            String(buffer: try JSONBody.encode(activity))
                == minified(
                    """
                    {"id":2,"uuid":"u","object":"activity","activity_type_id":null,"summary":"x","description":null,
                     "happened_at":"2024-10-20","activity_type":null,"attendees":{"total":0,"contacts":[]},
                     "contacts":[],"emotions":[],"url":"a","account":{"id":1},"created_at":"2024-01-15T10:30:00Z",
                     "updated_at":"2024-10-26T14:22:00Z"}
                    """))
        let tag = Monica.Tag(id: 2, name: "x", nameSlug: "x", createdAt: Self.created, updatedAt: Self.updated)
        #expect(
            String(buffer: try JSONBody.encode(tag))
                == minified(
                    """
                    {"id":2,"object":"tag","name":"x","name_slug":"x","account":{"id":1},
                     "created_at":"2024-01-15T10:30:00Z","updated_at":"2024-10-26T14:22:00Z"}
                    """))
        let address = Monica.Address(
            id: 2, uuid: "u", name: "home", street: "x", city: nil, province: nil, postalCode: nil, country: "France",
            account: 1, createdAt: Self.created, updatedAt: Self.updated)
        #expect(
            String(buffer: try JSONBody.encode(address))
                == minified(
                    """
                    {"id":2,"uuid":"u","object":"address","name":"home","street":"x","city":null,"province":null,
                     "postal_code":null,"country":"France","account":{"id":1},
                     "created_at":"2024-01-15T10:30:00Z","updated_at":"2024-10-26T14:22:00Z"}
                    """))
        let page = APIResponse(
            data: [Int](), meta: PaginationMeta(total: 0, page: 1, limit: 50, rows: 0),
            links: PaginationLinks(path: "/contacts", filters: [], page: 1, limit: 50, last: 1))
        #expect(
            String(buffer: try JSONBody.encode(page))
                == minified(
                    """
                    {"data":[],"meta":{"total":0,"current_page":1,"per_page":50,"last_page":1,"from":null,"to":null},
                     "links":{"first":"/contacts?page=1&limit=50","last":"/contacts?page=1&limit=50","prev":null,
                      "next":null}}
                    """))
    }
}
