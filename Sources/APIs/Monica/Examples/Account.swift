extension MonicaExamples {
    package static let user = """
        {
          "id": #1,
          "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071",
          "object": = "user",
          "first_name": "Regis",
          "last_name": "Freyd",
          "name": "Regis Freyd",
          "email": "regis@example.com",
          "me_contact": null,
          "timezone": "UTC",
          "currency": \(currency),
          "locale": = "en",
          "is_policy_compliant": = true,
          "account": \(owner),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-01-15T10:30:00Z"
        }
        """

    static let about = """
        {
          "name": "Example Club" | null,
          "contact": "help@example.com" | null,
          "terms": "https://example.com/terms" | null,
          "privacy": "https://example.com/privacy" | null,
          "version": "2026-11" | null
        }
        """

    static let account = """
        GET / open addition: Returns a greeting, by which a client recognises a server of this API.
        < 200 { "success": { "message": = "Welcome to Monica" } }

        GET /me limited addition: Returns the user to whom the token belongs.
        < 200 \(one(user))

        DELETE /me limited addition: Deletes the account to which the token belongs, with all tokens and records.
        < 200 { "deleted": = true, "id": #1 }

        GET /export/json limited addition: Returns everything in the account, as an attachment.
        < 200 {
          "version": = 1,
          "exported_at": "2024-10-26T14:22:00Z",
          "user": \(user),
          "genders": [\(gender)],
          "activity_types": [\(activityType)],
          "activity_type_categories": [\(activityTypeCategory)],
          "contact_field_types": [\(contactFieldType)],
          "tags": [\(tag)],
          "contacts": [\(contact)],
          "relationships": [\(relationship)],
          "activities": [\(activity)],
          "notes": [\(note)],
          "tasks": [\(task)],
          "gifts": [\(gift)],
          "calls": [\(call)],
          "conversations": [\(conversation)],
          "reminders": [\(reminder)],
          "debts": [\(debt)],
          "pets": [\(pet)],
          "life_events": [\(lifeEvent)],
          "photos": [\(photo)],
          "documents": [\(document)],
          "journal": [\(journalEntry)]
        }

        GET /export/vcard limited addition: Returns every contact that is not partial, as vCard 4.0 (RFC 6350).
        < 200 text/vcard

        GET /about open addition: Returns who runs the server, and on which terms.
        < 200 \(one(about))
        """
}
