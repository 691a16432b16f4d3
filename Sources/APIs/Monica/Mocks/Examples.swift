import Contract
import ContractMocks
import MonicaAPI

extension Monica.Contact {
    /// The contract's example: John Doe.
    public static let example: Self = contractExample(
        """
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
        """)
}

extension Monica.Activity {
    /// The example: an activity with ``Monica/Contact/example``.
    public static let example = Self(
        id: 1, summary: "Had dinner", happenedAt: Day("2024-10-20")!, contacts: [.init(.example)],
        createdAt: Monica.Contact.example.updatedAt, updatedAt: Monica.Contact.example.updatedAt)
}

extension Monica.Note {
    /// The example: a note about ``Monica/Contact/example``.
    public static let example = Self(
        id: 1, contactID: 1, body: "Likes tea", contact: .init(.example), createdAt: Monica.Contact.example.updatedAt,
        updatedAt: Monica.Contact.example.updatedAt)
}

extension Monica.Task {
    /// The example: a task for ``Monica/Contact/example``.
    public static let example = Self(
        id: 1, contactID: 1, title: "Send a card", contact: .init(.example),
        createdAt: Monica.Contact.example.updatedAt, updatedAt: Monica.Contact.example.updatedAt)
}

extension Monica.Gift {
    /// The example: a gift for ``Monica/Contact/example``.
    public static let example = Self(
        id: 1, contactID: 1, name: "Teapot", cents: 1250, status: .idea, contact: .init(.example),
        createdAt: Monica.Contact.example.updatedAt, updatedAt: Monica.Contact.example.updatedAt)
}

extension Monica.Tag {
    /// The example: the tag "Family".
    public static let example = Self(
        id: 1, name: "Family", nameSlug: "family", createdAt: Monica.Contact.example.createdAt,
        updatedAt: Monica.Contact.example.createdAt)
}

extension Monica.User {
    /// The example: the owner of the account.
    public static let example = Self(
        id: 1, uuid: "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071", firstName: "Regis", lastName: "Freyd",
        email: "regis@example.com", createdAt: Monica.Contact.example.createdAt,
        updatedAt: Monica.Contact.example.createdAt)
}

extension Monica.Gender {
    /// The example: a gender.
    public static let example = Self(
        id: 1, name: "Man", type: "M", account: 1, createdAt: Monica.Contact.example.createdAt,
        updatedAt: Monica.Contact.example.createdAt)
}

extension Monica.ActivityType {
    /// The example: a type of activities.
    public static let example = Self(
        id: 1, uuid: "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6072", name: "ate at home", locationType: "my_place",
        category: .init(
            id: 1, uuid: "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6073", name: "Food", account: 1,
            createdAt: Monica.Contact.example.createdAt, updatedAt: Monica.Contact.example.createdAt),
        account: 1, createdAt: Monica.Contact.example.createdAt, updatedAt: Monica.Contact.example.createdAt)
}
