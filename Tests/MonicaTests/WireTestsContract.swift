import Contract
import Foundation
import MonicaAPI
import Testbed
import Testing

/// The contract's literal JSON is decoded, and this server writes the same.
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
}
