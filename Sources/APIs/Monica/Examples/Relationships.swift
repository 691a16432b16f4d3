extension MonicaExamples {
    package static let relationshipType = """
        {
          "id": #8,
          "object": = "relationshiptype",
          "name": "parent",
          "name_reverse_relationship": "child",
          "relationship_type_group_id": #2,
          "delible": = false,
          "account": \(owner),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-01-15T10:30:00Z"
        }
        """

    package static let relationshipTypeGroup = """
        {
          "id": #2,
          "object": = "relationshiptypegroup",
          "name": "family",
          "delible": = false,
          "account": \(owner),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-01-15T10:30:00Z"
        }
        """

    package static let relationship = """
        {
          "id": #1,
          "uuid": "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6080",
          "object": = "relationship",
          "contact_is": \(shortContact),
          "relationship_type": \(relationshipType),
          "of_contact": \(otherContact),
          "account": \(owner),
          "created_at": "2024-01-15T10:30:00Z",
          "updated_at": "2024-10-26T14:22:00Z"
        }
        """

    private static let refusals = """
        ! 404 \(missing("contact"))
        ! 422 The selected relationship type id is invalid.
        ! 422 The of contact and contact is must be different.
        ! 422 The relationship already exists.
        """

    static let relationships = """
        GET /contacts/{id}/relationships limited addition: Returns all relationships of a contact to others, the oldest first.
        > /contacts/1/relationships
        < 200 \(whole(relationship, "/contacts/1/relationships", isPart: true))
        ! 404 \(missing("contact"))

        GET /relationships/{id} limited addition: Returns a relationship.
        > /relationships/1
        < 200 \(one(relationship))
        ! 404 \(missing("relationship"))

        POST /relationships key limited addition: Creates a relationship, and the reverse one of the other contact.
        > { "contact_is": 1, "relationship_type_id": 8, "of_contact": 2 }
        < 201 \(one(relationship))
        \(refusals)

        PUT|PATCH /relationships/{id} limited addition: Changes the type of a relationship, and that of the reverse one.
        > /relationships/1 { "contact_is": 1, "relationship_type_id": 25, "of_contact": 2 }
        < 200 \(one(relationship))
        ! 404 \(missing("relationship"))
        \(refusals)

        DELETE /relationships/{id} limited addition: Deletes a relationship, and the reverse one.
        > /relationships/1
        < 200 { "deleted": = true, "id": #1 }
        ! 404 \(missing("relationship"))

        GET /relationshiptypes limited addition: Returns all types of relationships, by their ids.
        < 200 \(whole(relationshipType, "/relationshiptypes"))

        GET /relationshiptypes/{id} limited addition: Returns a type of relationships.
        > /relationshiptypes/8
        < 200 \(one(relationshipType))
        ! 404 \(missing("relationship type"))

        GET /relationshiptypegroups limited addition: Returns all groups of types of relationships, by their ids.
        < 200 \(whole(relationshipTypeGroup, "/relationshiptypegroups"))

        GET /relationshiptypegroups/{id} limited addition: Returns a group of types of relationships.
        > /relationshiptypegroups/2
        < 200 \(one(relationshipTypeGroup))
        ! 404 \(missing("relationship type group"))
        """
}
