extension MonicaExamples {
    private static let noDate = #"{ "is_age_based": null, "is_year_unknown": null, "date": null }"#
    private static let someDate = """
        { "is_age_based": false, "is_year_unknown": false, "date": "1980-10-10T00:00:00Z" }
        """
    private static let avatar = """
        { "url": null | "https://monica.example/a.png", "source": "default" | "photo" | "gravatar" | "adorable", "default_avatar_color": "#fdb660" }
        """
    /// The relationships of one kind, as a contact shows them.
    private static func related(_ name: String) -> String {
        """
        { "total": 0, "contacts": [] | [{
          "relationship": { "id": #1, "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6080", "name": "\(name)" },
          "contact": \(otherContact)
        }] }
        """
    }

    /// A contact as other resources have it.
    static let shortContact = short(1, first: "John", nickname: "Johnny", gender: "Man", #""M" | "F" | "O" | null"#)
    /// Another one.
    static let otherContact = short(2, first: "Jane", nickname: "Janie", gender: "Woman", #""F" | "M" | "O" | null"#)

    private static func short(
        _ id: Int, first: String, nickname: String, gender: String, _ genderType: String
    ) -> String {
        """
        {
          "id": #\(id),
          "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f607\(id)",
          "object": = "contact",
          "hash_id": "h:6f1a2b3c4d5e4f608a",
          "first_name": "\(first)",
          "last_name": "Doe" | null,
          "nickname": "\(nickname)" | null,
          "complete_name": "\(first) Doe",
          "initials": "JD",
          "gender_id": #\(id) | null,
          "gender": "\(gender)" | null,
          "gender_type": \(genderType),
          "is_starred": false,
          "is_partial": false,
          "is_active": = true,
          "is_dead": false,
          "is_me": = false,
          "information": { "birthdate": \(noDate) | \(someDate), "deceased_date": \(noDate) | \(someDate), "avatar": \(avatar) },
          "url": "https://monica.example/api/contacts/\(id)",
          "account": \(owner)
        }
        """
    }

    package static let contact = """
        {
          "id": #1,
          + "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071",
          + "object": = "contact",
          + "hash_id": "h:6f1a2b3c4d5e4f608a",
          "first_name": "John",
          + "middle_name": null | "Quincy",
          "last_name": "Doe" | null,
          "nickname": "Johnny" | null,
          + "complete_name": "John Doe",
          + "initials": "JD",
          + "description": null | "Likes tea",
          "gender_id": #1 | null,
          + "gender": "Man" | null,
          + "gender_type": "M" | "F" | "O" | null,
          + "is_starred": false,
          "is_partial": false,
          + "is_active": = true,
          "is_dead": false,
          + "is_me": = false,
          + "last_called": null | "2024-10-20T18:30:00Z",
          + "last_activity_together": null | "2024-10-20T00:00:00Z",
          + "stay_in_touch_frequency": null,
          + "stay_in_touch_trigger_date": null,
          + "information": {
            "relationships": {
              "love": \(related("partner")),
              "family": \(related("parent")),
              "friend": \(related("friend")),
              "work": \(related("colleague"))
            },
            "dates": { "birthdate": \(someDate) | \(noDate), "deceased_date": \(noDate) | \(someDate) },
            "career": { "job": null | "Baker", "company": null | "Bakery" },
            "avatar": \(avatar),
            "food_preferences": null | "No nuts",
            "how_you_met": {
              "general_information": null | "At school",
              "first_met_date": \(noDate) | \(someDate),
              "first_met_through_contact": null | \(shortContact)
            }
          },
          + "addresses": [] | [\(address(country: #""France""#))],
          + "tags": [] | [\(tag)],
          + "statistics": {
            "number_of_calls": 1,
            "number_of_notes": 1,
            "number_of_activities": 1,
            "number_of_reminders": 1,
            "number_of_tasks": 1,
            "number_of_gifts": 1,
            "number_of_debts": 1
          },
          +? "contactFields": [\(contactField)],
          +? "notes": [\(note)],
          + "url": "https://monica.example/api/contacts/1",
          + "account": \(owner),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-10-26T14:22:00Z"
        }
        """

    static let contacts = #"""
        GET /contacts limited +sort +with: Returns a page of contacts, or of those that match a search; partial contacts are left out.
        >
        > /contacts?query=john&page=2&limit=50
        > /contacts?query=50%25%20%26%20a%2Bb%3Dc%3F%2F%23%C3%A9&page=2&limit=50&sort=-updated_at&with=contactfields
        < 200 \#(page(contact, "/contacts", limit: 50, more: #", +? "query": "john""#))

        GET /contacts/{id} limited +with: Returns a contact.
        > /contacts/1
        > /contacts/1?with=contactfields
        < 200 \#(one(contact))
        ! 404 The requested contact was not found.

        POST /contacts key limited addition: Creates a contact.
        > {
          "first_name": "John",
          "middle_name": null,
          "last_name": "Doe",
          "nickname": null,
          "description": "Likes tea",
          "gender_id": null,
          "is_birthdate_known": false,
          "is_deceased": false,
          "is_deceased_date_known": false,
          "is_partial": false
        }
        > {
          "first_name": "Jöhn \"x\"",
          "middle_name": "M",
          "last_name": "D",
          "nickname": "N",
          "description": "\n",
          "gender_id": 1,
          "email": "a+b@example.com",
          "is_birthdate_known": true,
          "birthdate_year": 1980,
          "birthdate_month": 10,
          "birthdate_day": 10,
          "is_deceased": true,
          "is_deceased_date_known": true,
          "deceased_date_is_age_based": true,
          "deceased_date_age": 3,
          "is_partial": true,
          "is_starred": true
        }
        < 201 \#(one(contact))
        ! 422 The selected gender id is invalid.
        ! 422 The birthdate day field is required. The birthdate month field is required.
        ! 422 The birthdate is not a valid date.
        ! 422 The deceased date day field is required. The deceased date month field is required.
        ! 422 The deceased date is not a valid date.
        ! 422 The deceased date age field is required.

        PUT|PATCH /contacts/{id} limited addition: Changes a contact.
        > /contacts/1 {
          "first_name": "J",
          "middle_name": null | "M",
          "last_name": null | "D",
          "nickname": null | "N",
          "description": null | "Likes tea",
          "gender_id": null | 1,
          "is_partial": false,
          "is_birthdate_known": true,
          "birthdate_month": 2,
          "birthdate_day": 29,
          "is_deceased": false,
          "is_deceased_date_known": false
        }
        < 200 \#(one(contact))
        ! 404 The requested contact was not found.
        ! 422 The selected gender id is invalid.
        ! 422 The birthdate day field is required. The birthdate month field is required.
        ! 422 The birthdate is not a valid date.
        ! 422 The deceased date day field is required. The deceased date month field is required.
        ! 422 The deceased date is not a valid date.
        ! 422 The deceased date age field is required.

        DELETE /contacts/{id} limited addition: Deletes a contact.
        > /contacts/1
        < 200 { "deleted": = true, "id": #1 }
        ! 404 The requested contact was not found.

        PUT|PATCH /contacts/{id}/work limited addition: Sets the job.
        > /contacts/1/work { "job": "Baker", "company": null | "Bakery" }
        < 200 \#(one(contact))
        ! 422 The contact can't be a partial contact

        PUT|PATCH /contacts/{id}/food limited addition: Sets the food preferences.
        > /contacts/1/food { "food_preferences": "No nuts" }
        < 200 \#(one(contact))
        ! 422 The contact can't be a partial contact

        PUT|PATCH /contacts/{id}/introduction limited addition: Sets how the owner met the contact.
        > /contacts/1/introduction {
          "general_information": "x",
          "met_through_contact_id": 8,
          "is_date_known": true,
          "year": 2020,
          "month": 1,
          "day": 2
        }
        < 200 \#(one(contact))
        ! 404 The requested contact was not found.
        ! 422 The contact can't be a partial contact
        ! 422 The date is not a valid date.
        ! 422 The day field is required. The month field is required.

        POST /contacts/{id}/setTags limited addition: Adds tags by name, and creates missing ones.
        > /contacts/1/setTags { "tags": ["a", "é"] }
        < 200 \#(one(contact))
        ! 422 The tags field is required.

        POST /contacts/{id}/unsetTag limited addition: Removes tags by id.
        > /contacts/1/unsetTag { "tags": [1, 2] }
        < 200 \#(one(contact))
        ! 404 The requested tag was not found.
        ! 422 The tags field is required.

        POST /contacts/{id}/unsetTags limited addition: Removes all tags.
        > /contacts/1/unsetTags {}
        < 200 \#(one(contact))
        """#
}
