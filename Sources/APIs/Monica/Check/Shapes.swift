import ContractCheck

/// The names and types on the wire, written by hand. Another server's contacts may have more or fewer members.
enum MonicaShapes {
    static let all = WireShapes(
        operations: operations,
        failure: .object([
            "error": .object(["message": .text, "code": .integer], additions: ["error_code": .integer])
        ]),
        frames: [:])

    private static let operations: [WireShapes.Operation] =
        [
            .init("GET", "/contacts", [200: page(.anyOf([contact, detailedContact]), query: true)]),
            .init("GET", "/contacts/{id}", [200: one(.anyOf([contact, detailedContact]))]),
            .init("POST", "/contacts", [201: one(contact)]),
            .init("PUT", "/contacts/{id}", [200: one(contact)]),
            .init("PATCH", "/contacts/{id}", [200: one(contact)]),
            .init("DELETE", "/contacts/{id}", [200: deletion]),
            .init("PUT", "/contacts/{id}/work", [200: one(contact)]),
            .init("PUT", "/contacts/{id}/food", [200: one(contact)]),
            .init("PUT", "/contacts/{id}/introduction", [200: one(contact)]),
            .init("POST", "/contacts/{id}/setTags", [200: one(contact)]),
            .init("POST", "/contacts/{id}/unsetTag", [200: one(contact)]),
            .init("POST", "/contacts/{id}/unsetTags", [200: one(contact)]),
            .init(
                "GET", "/tags",
                [200: .object(["data": .list(of: tag)], additions: ["meta": meta(query: false), "links": links])]),
            .init("GET", "/tags/{id}", [200: one(tag)]),
            .init("GET", "/tags/{id}/contacts", [200: page(contact)]),
            .init("POST", "/tags", [201: one(tag)]),
            .init("PUT", "/tags/{id}", [200: one(tag)]),
            .init("DELETE", "/tags/{id}", [200: deletion]),
            .init("GET", "/me", [200: one(user)]),
            .init("GET", "/genders", [200: .object(["data": .list(of: gender)])]),
            .init("GET", "/activitytypes", [200: .object(["data": .list(of: activityType)])]),
        ]
        + resource("activities", activity) + resource("notes", note) + resource("tasks", task, created: 200)
        + resource("gifts", gift)

    private static func resource(_ plural: String, _ shape: Shape, created: Int = 201) -> [WireShapes.Operation] {
        [
            .init("GET", "/\(plural)", [200: page(shape)]),
            .init("GET", "/contacts/{id}/\(plural)", [200: page(shape)]),
            .init("GET", "/\(plural)/{id}", [200: one(shape)]),
            .init("POST", "/\(plural)", [created: one(shape)]),
            .init("PUT", "/\(plural)/{id}", [200: one(shape)]),
            .init("PATCH", "/\(plural)/{id}", [200: one(shape)]),
            .init("DELETE", "/\(plural)/{id}", [200: deletion]),
        ]
    }

    private static func one(_ shape: Shape) -> Shape { .object(["data": shape]) }

    /// Returns the shape of a page: the members of the published document, and those that this project's server adds.
    private static func page(_ shape: Shape, query: Bool = false) -> Shape {
        .object(["data": .list(of: shape), "meta": meta(query: query), "links": links])
    }

    private static func meta(query: Bool) -> Shape {
        let published: [String: Shape] = ["total": .integer, "current_page": .id, "per_page": .id]
        let more: [String: Shape] = ["last_page": .id, "from": .nullable(.id), "to": .nullable(.id)]
        let plain = Shape.object(published, additions: more)
        let searched = Shape.object(published, additions: more.merging(["query": .text]) { $1 })
        return query ? .anyOf([plain, searched]) : plain
    }

    private static let links: Shape = .object([
        "first": .text, "last": .text, "prev": .nullable(.text), "next": .nullable(.text),
    ])

    /// Returns a shape that the published document does not describe: other servers only need an id.
    private static func unpublished(_ members: [String: Shape]) -> Shape {
        .object(["id": .id], additions: members.filter { $0.key != "id" })
    }

    private static let deletion: Shape = .object(["deleted": .exactly(true), "id": .id])
    private static let truth: Shape = .oneOf([true, false])
    private static let accountOf: Shape = .object(["id": .id])

    private static let date: Shape = .anyOf([
        .object(["is_age_based": .exactly(.null), "is_year_unknown": .exactly(.null), "date": .exactly(.null)]),
        .object(["is_age_based": truth, "is_year_unknown": truth, "date": .timestamp]),
    ])

    private static let avatar: Shape = .object([
        "url": .nullable(.text), "source": "default", "default_avatar_color": .text,
    ])

    private static let head: [String: Shape] = [
        "id": .id, "uuid": .uuid, "object": "contact", "hash_id": .text, "first_name": .text,
        "last_name": .nullable(.text), "nickname": .nullable(.text), "complete_name": .text, "initials": .text,
        "gender_id": .nullable(.id), "gender": .nullable(.text),
        "gender_type": .nullable(.oneOf(["M", "F", "O"])), "is_starred": truth, "is_partial": truth,
        "is_active": .exactly(true), "is_dead": truth, "is_me": .exactly(false), "url": .text, "account": accountOf,
    ]

    private static let shortContact: Shape = .object(
        head.merging([
            "information": .object(["birthdate": date, "deceased_date": date, "avatar": avatar])
        ]) { $1 })

    private static let relations: Shape = .object(["total": .integer, "contacts": .list(of: shortContact)])

    private static let contactMembers: [String: Shape] = head.merging([
        "middle_name": .nullable(.text), "description": .nullable(.text), "last_called": .exactly(.null),
        "last_activity_together": .nullable(.timestamp),
        "stay_in_touch_frequency": .exactly(.null), "stay_in_touch_trigger_date": .exactly(.null),
        "information": .object([
            "relationships": .object([
                "love": relations, "family": relations, "friend": relations, "work": relations,
            ]),
            "dates": .object(["birthdate": date, "deceased_date": date]),
            "career": .object(["job": .nullable(.text), "company": .nullable(.text)]),
            "avatar": avatar, "food_preferences": .nullable(.text),
            "how_you_met": .object([
                "general_information": .nullable(.text), "first_met_date": date,
                "first_met_through_contact": .nullable(shortContact),
            ]),
        ]),
        "addresses": .list(of: address), "tags": .list(of: tag),
        "statistics": .object([
            "number_of_calls": 0, "number_of_notes": .integer, "number_of_activities": .integer,
            "number_of_reminders": 0, "number_of_tasks": .integer, "number_of_gifts": .integer, "number_of_debts": 0,
        ]),
        "created_at": .timestamp, "updated_at": .timestamp,
    ]) { $1 }

    private static let contact: Shape = contact(with: [:])
    private static let detailedContact: Shape = contact(
        with: ["contactFields": .list(of: contactField), "notes": .list(of: note)])

    private static func contact(with more: [String: Shape]) -> Shape {
        let published: Set<String> = [
            "id", "first_name", "last_name", "nickname", "gender_id", "is_partial", "is_dead", "created_at",
            "updated_at",
        ]
        let members = contactMembers.merging(more) { $1 }
        return .object(
            members.filter { published.contains($0.key) }, additions: members.filter { !published.contains($0.key) })
    }

    private static let address: Shape = .object([
        "id": .id, "uuid": .uuid, "object": "address", "name": .nullable(.text), "street": .nullable(.text),
        "city": .nullable(.text), "province": .nullable(.text), "postal_code": .nullable(.text),
        "country": .nullable(.text), "account": accountOf,
        "created_at": .timestamp, "updated_at": .timestamp,
    ])

    private static let contactField: Shape = .object([
        "id": .id, "uuid": .uuid, "object": "contactfield", "content": .text,
        "contact_field_type": .object([
            "id": .id, "uuid": .uuid, "object": "contactfieldtype", "name": .oneOf(["Email", "Phone", "Website"]),
            "fontawesome_icon": .nullable(.text), "protocol": .oneOf(["mailto:", "tel:", nil]),
            "delible": .exactly(false), "type": .oneOf(["email", "phone", "website"]),
            "account": accountOf, "created_at": .timestamp, "updated_at": .timestamp,
        ]),
        "labels": .list(of: .text), "account": accountOf, "contact": shortContact, "created_at": .timestamp,
        "updated_at": .timestamp,
    ])

    private static let activityType: Shape = .object([
        "id": .id, "uuid": .uuid, "object": "activityType", "name": .text, "location_type": .nullable(.text),
        "activity_type_category": .object([
            "id": .id, "uuid": .uuid, "object": "activityTypeCategory", "name": .text, "account": accountOf,
            "created_at": .timestamp, "updated_at": .timestamp,
        ]),
        "account": accountOf, "created_at": .timestamp, "updated_at": .timestamp,
    ])

    private static let activity: Shape = unpublished([
        "id": .id, "uuid": .uuid, "object": "activity", "activity_type_id": .nullable(.id), "summary": .text,
        "description": .nullable(.text), "happened_at": .day, "activity_type": .nullable(activityType),
        "attendees": .object(["total": .integer, "contacts": .list(of: shortContact)]),
        "contacts": .list(of: shortContact), "emotions": .list(of: .text), "url": .text, "account": accountOf,
        "created_at": .timestamp, "updated_at": .timestamp,
    ])

    private static let note: Shape = unpublished([
        "id": .id, "uuid": .uuid, "object": "note", "contact_id": .id, "body": .text, "is_favorited": truth,
        "favorited_at": .nullable(.timestamp), "url": .text, "account": accountOf, "contact": shortContact,
        "created_at": .timestamp, "updated_at": .timestamp,
    ])

    private static let task: Shape = unpublished([
        "id": .id, "uuid": .uuid, "object": "task", "contact_id": .nullable(.id), "title": .text,
        "description": .nullable(.text), "completed": truth, "completed_at": .nullable(.timestamp),
        "account": accountOf, "contact": .nullable(shortContact), "created_at": .timestamp, "updated_at": .timestamp,
    ])

    private static let gift: Shape = unpublished([
        "id": .id, "uuid": .uuid, "object": "gift", "contact_id": .id, "name": .text, "comment": .nullable(.text),
        "url": .nullable(.text), "amount": .nullable(.text), "value": .nullable(.number),
        "amount_with_currency": .text, "status": .oneOf(["idea", "offered", "received"]), "is_an_idea": truth,
        "has_been_offered": truth, "date": .nullable(.day), "recipient": .nullable(shortContact),
        "photos": .list(of: .text), "contact": shortContact, "account": accountOf, "created_at": .timestamp,
        "updated_at": .timestamp,
    ])

    private static let tag: Shape = unpublished([
        "id": .id, "object": "tag", "name": .text, "name_slug": .text, "account": accountOf,
        "created_at": .timestamp, "updated_at": .timestamp,
    ])

    private static let gender: Shape = .object([
        "id": .id, "object": "gender", "name": .text, "type": .oneOf(["M", "F", "O"]), "account": accountOf,
        "created_at": .timestamp, "updated_at": .timestamp,
    ])

    private static let user: Shape = .object([
        "id": .id, "uuid": .uuid, "object": "user", "first_name": .text, "last_name": .text, "name": .text,
        "email": .text, "me_contact": .exactly(.null), "timezone": .text,
        "currency": .object(["id": .id, "object": "currency", "iso": .text, "name": .text, "symbol": .text]),
        "locale": "en", "is_policy_compliant": .exactly(true), "account": accountOf, "created_at": .timestamp,
        "updated_at": .timestamp,
    ])
}
