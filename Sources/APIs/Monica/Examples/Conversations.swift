extension MonicaExamples {
    package static let conversation = """
        {
          "id": #1,
          "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6081",
          "object": = "conversation",
          "happened_at": "2024-10-20T00:00:00Z",
          "messages": [
            {
              "id": #1,
              "object": = "message",
              "content": "Are you coming?",
              "written_at": "2024-10-20T18:30:00Z",
              "written_by_me": true,
              "account": \(owner),
              "contact": \(shortContact),
              "conversation": { "id": #1 },
              "created_at": "2024-01-15T10:30:00Z",
              "updated_at": "2024-10-26T14:22:00Z"
            }
          ],
          "contact_field_type": \(contactFieldType),
          "url": "https://monica.example/api/conversations/1",
          "account": \(owner),
          "contact": \(shortContact),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-10-26T14:22:00Z"
        }
        """

    private static let messageRefusals = """
        ! 422 The content field is required.
        ! 422 The messages may not be greater than 100000 characters.
        """

    static let conversations =
        resource(
            "conversations", "a conversation", conversation, lists: "?contact_id=5&page=1&limit=10&sort=-happened_at",
            requests: (
                new: #"{ "contact_id": 5, "happened_at": "2024-10-20T00:00:00Z", "contact_field_type_id": 2 }"#,
                changed: #"{ "contact_id": 5, "happened_at": "2024-10-21T00:00:00Z", "contact_field_type_id": 1 }"#
            ), required: "The selected contact field type id is invalid.", names: ("conversation", "conversations"))
            + """


            POST /conversations/{id}/messages key limited addition: Adds a message to a conversation.
            > /conversations/1/messages
              { "content": "Are you coming?", "written_at": "2024-10-20T18:30:00Z", "written_by_me": true }
            < 200 \(one(conversation))
            ! 404 \(missing("conversation"))
            ! 422 The messages may not have more than 100 items.
            \(messageRefusals)

            PUT|PATCH /conversations/{id}/messages/{message} limited addition: Replaces every field of a message.
            > /conversations/1/messages/1
              { "content": "I am late", "written_at": "2024-10-20T18:31:00Z", "written_by_me": false }
            < 200 \(one(conversation))
            ! 404 \(missing("conversation"))
            ! 404 \(missing("message"))
            \(messageRefusals)

            DELETE /conversations/{id}/messages/{message} limited addition: Deletes a message.
            > /conversations/1/messages/1
            < 200 { "deleted": = true, "id": #1 }
            ! 404 \(missing("conversation"))
            ! 404 \(missing("message"))
            """
}
