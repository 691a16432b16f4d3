extension MonicaExamples {
    package static let merge = """
        {
          "id": #1,
          "object": = "merge",
          "contact": \(shortContact),
          "merged_contact_id": #2,
          "merged_contact_name": "Jane Doe",
          "account": \(owner),
          "created_at": "2024-01-15T10:30:00Z",
          "expires_at": "2024-02-14T10:30:00Z"
        }
        """

    static let merges = """
        POST /contacts/{id}/merge key limited addition: Merges another contact into this one, which it returns.
        > /contacts/1/merge { "contact_id": 2 }
        < 200 \(one(contact))
        ! 404 \(missing("contact"))
        ! 422 The selected contact id is invalid.
        ! 422 The contact can't be a partial contact
        ! 422 The addresses may not have more than 100 items.

        GET /contacts/{id}/merges limited addition: Returns the merges into a contact that can be undone, the oldest first.
        > /contacts/1/merges
        < 200 \(whole(merge, "/contacts/1/merges", isPart: true))
        ! 404 \(missing("contact"))

        POST /merges/{id}/undo key limited addition: Undoes a merge, and returns the contact that comes back, with its former id.
        > /merges/1/undo {}
        < 200 \(one(contact))
        ! 404 \(missing("merge"))
        ! 422 A later merge of the contact must be undone first.
        """
}
