import ContractExamples

/// The contract's requests and answers, as text: see `ExampleParser` for the marks.
///
/// It is one world: John Doe, contact 1, and one of everything else that is his. The published document shows a contact's
/// first members alone, and of other resources nothing but that they have an id.
package enum MonicaExamples {
    package static let all = Examples(
        contacts, merges, relationships, contactFields, addresses, activities, notes, tasks, gifts, phoneCalls,
        conversations,
        reminders, debts, pets, lifeEvents, journal, tags, genders, activityTypes, currencies, account,
        archive,
        calls: calls, failure: #"{ "error": { "message": "Unauthenticated.", "code": 401, + "error_code": 42 } }"#)

    static let times = #""created_at": "2024-01-15T10:30:00Z", + "updated_at": "2024-10-26T14:22:00Z""#
    static let owner = #"{ "id": #1 }"#

    static func one(_ resource: String) -> String { #"{ "data": \#(resource) }"# }

    /// A page of a list.
    ///
    /// - Parameters:
    ///   - path: With the query's filters, such as `/contacts?`.
    ///   - more: Members of `meta` behind the others.
    static func page(_ resource: String, _ path: String, limit: Int, more: String = "") -> String {
        """
        {
          "data": [\(resource)],
          "meta": {
            "total": 1,
            "current_page": #1,
            "per_page": #\(limit),
            + "last_page": #1,
            + "from": #1 | null,
            + "to": #1 | null\(more)
          },
          "links": \(links("\(path)?page=1&limit=\(limit)"))
        }
        """
    }

    /// A list that is on one page, however long it is.
    ///
    /// - Parameter isPart: Whether its path has an id, and it may be empty.
    static func whole(_ resource: String, _ path: String, isPart: Bool = false) -> String {
        let (first, last, link) = isPart ? ("#1 | null", "#1 | null", "") : ("= 1", "#1", "= ")
        return """
            {
              "data": [\(resource)],
              "meta": {
                "total": 1,
                "current_page": = 1,
                "per_page": #1,
                "last_page": = 1,
                "from": \(first),
                "to": \(last)
              },
              "links": {
                "first": \(link)"\(path)",
                "last": \(link)"\(path)",
                "prev": null,
                "next": null
              }
            }
            """
    }

    static func links(_ path: String) -> String {
        """
        {
          "first": "\(path)",
          "last": "\(path)",
          "prev": null | "\(path)",
          "next": null | "\(path)"
        }
        """
    }

    /// The refusal of a request for a thing that does not exist.
    static func missing(_ singular: some StringProtocol) -> String { "The requested \(singular) was not found." }

    /// The operations of a resource of which each contact has a list.
    ///
    /// - Parameters:
    ///   - thing: One of them in sentences: `a note`.
    ///   - requests: A new one's body, and a changed one's.
    ///   - required: The refusal of a change without any fields.
    ///   - new: The refusal of a creation without any fields; by default that of a change.
    ///   - created: The status of a creation.
    ///   - isShown: Whether the published contract has the operation that returns a single one.
    ///   - names: One of them in refusals and several in sentences, of resources of which the contract has nothing.
    ///   - isNested: Whether there is a list under the contact's path.
    static func resource(
        _ plural: String, _ thing: String, _ resource: String, lists: String, requests: (new: String, changed: String),
        required: String, new: String? = nil, created: Int = 201, isShown: Bool = false,
        names: (one: String, many: String)? = nil, isNested: Bool = true
    ) -> String {
        let ofContact = """
            GET /contacts/{id}/\(plural) limited addition: Returns a page of the \(names?.many ?? plural) of one contact.
            > /contacts/1/\(plural)?page=2&limit=50
            < 200 \(page(resource, "/contacts/1/\(plural)", limit: 10))
            ! 404 \(missing("contact"))
            """
        let singular = names?.one ?? thing.split(separator: " ").last.map(String.init) ?? ""
        return """
            GET /\(plural) limited \(names == nil ? "+sort" : "addition"): Returns a page of the \(names?.many ?? plural) of all contacts, or of one.
            > /\(plural)\(lists)
            < 200 \(page(resource, "/\(plural)", limit: 10))

            \(isNested ? ofContact : "")

            GET /\(plural)/{id} limited\(isShown ? "" : " addition"): Returns \(thing).
            > /\(plural)/1
            < 200 \(one(resource))
            ! 404 \(missing(singular))

            POST /\(plural) key limited addition: Creates \(thing).
            > \(requests.new)
            < \(created) \(one(resource))
            ! 404 \(missing("contact"))
            ! 422 \(new ?? required)

            PUT|PATCH /\(plural)/{id} limited addition: Replaces every field of \(thing).
            > /\(plural)/1 \(requests.changed)
            < 200 \(one(resource))
            ! 404 \(missing(singular))
            ! 404 \(missing("contact"))
            ! 422 \(required)

            DELETE /\(plural)/{id} limited addition: Deletes \(thing).
            > /\(plural)/1
            < 200 { "deleted": = true, "id": #1 }
            ! 404 \(missing(singular))
            """
    }

    /// The operations of a type of which an account has a list.
    ///
    /// - Parameters:
    ///   - thing: One of them in sentences: `a gender`.
    ///   - name: One of them in refusals.
    ///   - list: What the list returns in a sentence, and its answer.
    ///   - refusal: The refusal of a write with a wrong field.
    static func type(
        _ plural: String, _ thing: String, _ resource: String, name: String, list: (summary: String, answer: String),
        requests: (new: String, changed: String), refusal: String
    ) -> String {
        """
        GET /\(plural) limited addition: \(list.summary)
        < 200 \(list.answer)

        GET /\(plural)/{id} limited addition: Returns \(thing).
        > /\(plural)/1
        < 200 \(one(resource))
        ! 404 \(missing(name))

        POST /\(plural) key limited addition: Creates \(thing).
        > \(requests.new)
        < 201 \(one(resource))
        ! 422 \(refusal)

        PUT|PATCH /\(plural)/{id} limited addition: Replaces every field of \(thing).
        > /\(plural)/1 \(requests.changed)
        < 200 \(one(resource))
        ! 404 \(missing(name))
        ! 422 \(refusal)

        DELETE /\(plural)/{id} limited addition: Deletes \(thing).
        > /\(plural)/1
        < 200 { "deleted": = true, "id": #1 }
        ! 404 \(missing(name))
        """
    }
}
