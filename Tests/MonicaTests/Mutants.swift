import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import Testbed

extension Mutant {
    private static let contacts = "GET /contacts"
    private static let contact = "GET /contacts/{id}"
    private static let create = "POST /contacts"
    private static let update = "PUT /contacts/{id}"
    private static let delete = "DELETE /contacts/{id}"
    private static let setTags = "POST /contacts/{id}/setTags"
    private static let notes = "GET /notes"
    private static let tasks = "GET /tasks"
    private static let activities = "GET /activities"
    private static let gifts = "GET /gifts"
    private static let tags = "GET /tags"
    private static let tag = "POST /tags"
    private static let upcoming = "GET /reminders/upcoming/{month}"

    /// The mutants that do not follow from the examples: whose data it is, how a search matches, order, limits, texts as
    /// they are kept.
    static let monica: [Mutant] = [
        .init("Errors", "reads a compressed body", .anyCoding(tag)),
        .init("Errors", "takes a key twice", .keysTwice(tag)),
        .leaking(contact), .leaking("GET /notes/{id}"), .leaking("GET /tasks/{id}"), .leaking("GET /gifts/{id}"),
        .leaking("GET /activities/{id}"), .leaking("GET /tags/{id}"), .leaking(delete), .leaking(update),
        .leaking("DELETE /notes/{id}"), .leaking("DELETE /tasks/{id}"), .leaking("DELETE /gifts/{id}"),
        .leaking("DELETE /activities/{id}"), .leaking("DELETE /tags/{id}"), .leaking("GET /contacts/{id}/notes"),
        .leaking("GET /contacts/{id}/tasks"), .leaking("GET /contacts/{id}/gifts"),
        .leaking("GET /contacts/{id}/activities"), .leaking("GET /tags/{id}/contacts"), .leaking("POST /notes"),
        .leaking("POST /tasks"), .leaking("GET /contactfields/{id}"), .leaking("PUT /contactfields/{id}"),
        .leaking("DELETE /contactfields/{id}"), .leaking("GET /contacts/{id}/contactfields"),
        .leaking("GET /addresses/{id}"), .leaking("PUT /addresses/{id}"), .leaking("DELETE /addresses/{id}"),
        .leaking("GET /contacts/{id}/addresses"), .leaking("POST /addresses"),
        .leaking("GET /contactfieldtypes/{id}"), .leaking("PUT /contactfieldtypes/{id}"),
        .leaking("DELETE /contactfieldtypes/{id}"), .leaking("GET /calls/{id}"), .leaking("PUT /calls/{id}"),
        .leaking("DELETE /calls/{id}"), .leaking("GET /contacts/{id}/calls"), .leaking("POST /calls"),
        .leaking("GET /conversations/{id}"), .leaking("PUT /conversations/{id}"),
        .leaking("DELETE /conversations/{id}"), .leaking("GET /contacts/{id}/conversations"),
        .leaking("POST /conversations") { [404, 422].contains($0.status.code) },
        .leaking("POST /conversations/{id}/messages"),
        .leaking("PUT /conversations/{id}/messages/{message}"),
        .leaking("DELETE /conversations/{id}/messages/{message}"),
        .leaking("GET /reminders/{id}"), .leaking("PUT /reminders/{id}"), .leaking("DELETE /reminders/{id}"),
        .leaking("GET /contacts/{id}/reminders"), .leaking("POST /reminders"),
        .leaking("GET /debts/{id}"), .leaking("PUT /debts/{id}"), .leaking("DELETE /debts/{id}"),
        .leaking("GET /contacts/{id}/debts"), .leaking("POST /debts"),
        .leaking("GET /journal/{id}"), .leaking("PUT /journal/{id}"), .leaking("DELETE /journal/{id}"),
        .leaking("GET /pets/{id}"), .leaking("PUT /pets/{id}"), .leaking("DELETE /pets/{id}"),
        .leaking("GET /contacts/{id}/pets"), .leaking("POST /pets"),
        .leaking("GET /lifeevents/{id}"), .leaking("PUT /lifeevents/{id}"), .leaking("DELETE /lifeevents/{id}"),
        .leaking("POST /lifeevents"), .leaking("GET /lifeevents") { $0.value["data"] == [] },
        .leaking("GET /photos/{id}"), .leaking("DELETE /photos/{id}"), .leaking("GET /contacts/{id}/photos"),
        .leaking("POST /photos"), .leaking("GET /documents/{id}"), .leaking("DELETE /documents/{id}"),
        .leaking("GET /contacts/{id}/documents"), .leaking("POST /documents"),
        .leaking("PUT /contacts/{id}/avatar"), .leaking("PUT /gifts/{gift}/photo/{photo}"),
        .leaking("GET /genders/{id}"), .leaking("PUT /genders/{id}"), .leaking("DELETE /genders/{id}"),
        .leaking("GET /activitytypes/{id}"),
        .leaking("PUT /activitytypes/{id}") { [404, 422].contains($0.status.code) },
        .leaking("DELETE /activitytypes/{id}"), .leaking("GET /activitytypecategories/{id}"),
        .leaking("PUT /activitytypecategories/{id}"), .leaking("DELETE /activitytypecategories/{id}"),
        .leaking("GET /relationships/{id}"), .leaking("PUT /relationships/{id}"),
        .leaking("DELETE /relationships/{id}"), .leaking("GET /contacts/{id}/relationships"),
        .leaking("POST /relationships"),
        .leaking("POST /contacts/{id}/merge"), .leaking("GET /contacts/{id}/merges"),
        .leaking("POST /merges/{id}/undo"),
        .leaking(upcoming) { $0.value["data"] == [] }, .leaking("POST /gifts"), .leaking("POST /activities"),
        .leaking(contacts) { $0.value["data"] == [] }, .leaking(notes) { $0.value["data"] == [] },
        .leaking(tasks) { $0.value["data"] == [] }, .leaking(gifts) { $0.value["data"] == [] },
        .leaking(activities) { $0.value["data"] == [] },
        .init(contacts, "looks at case", .query(contacts, "query=JOHN", "query=johnx")),
        .init(contacts, "takes % for anything", .query(contacts, "%25", "")),
        .init(contacts, "takes _ for anything", .query(contacts, "query=5_", "query=50")),
        .init(contacts, "looks at the first word alone", .query(contacts, "(query=[^&%]*)%20[^&]*", "$1")),
        .init(
            contacts, "looks at the first name alone",
            .rows(contacts) { row, query in
                guard case .string(let name)? = row["first_name"], !query.isEmpty else { return true }
                return query.lowercased().split(separator: " ").allSatisfy(name.lowercased().contains)
            }),
        .init(
            contacts, "does not look at nicknames",
            .rows(contacts) { row, query in
                guard case .string(let name)? = row["nickname"], !query.isEmpty else { return true }
                return !query.lowercased().split(separator: " ").contains(where: name.lowercased().contains)
            }),
        .init(contacts, "does not tell the search", .body(contacts, #","query":"[^"]*""#, "")),
        .init(contacts, "leaves the other parameters out of links", .body(contacts, #"\?query=[^&"]*&"#, "?")),
        .init(contacts, "has absolute links", .body(contacts, #""first":""#, #""first":"http://example.com"#)),
        .init(contacts, "counts one page more", .body(contacts, #""last_page":1"#, #""last_page":2"#)),
        .init(notes, "has pages of fifty at most", .query(notes, "limit=100", "limit=101")),
        .init(
            "GET /", "welcomes those with a token alone",
            .exchange("GET /") { request, forward in
                request.headers[.authorization] == nil
                    ? .json(401, #"{"error":{"message":"Unauthenticated.","code":401,"error_code":42}}"#)
                    : try await forward(request)
            }),
        .init(contacts, "cuts a limit that is too big", .accepting(contacts, "The limit parameter is too big", "{}")),
        .init(gifts, "ignores ?contact_id", .query(gifts, "contact_id=", "x=")),
        .init(notes, "ignores ?sort", .query(notes, "sort=", "x=")),
        .init(create, "keeps the spaces", .body(create, #""first_name":""#, #""first_name":" "#)),
        .init(
            create, "forgets the middle name", .body(create, #""complete_name":"(\w+) \w+ "#, #""complete_name":"$1 "#)),
        .init(create, "keeps an address of mail to itself", .request(create, #""email":"[^"]*","#, "")),
        .init(create, "needs no first name", .accepting(create, "The first name field is required.", "{}")),
        .init(create, "says the first mistake alone", .firstMistake(create)),
        .init(create, "takes impossible dates", .request(create, #""birthdate_day":31"#, #""birthdate_day":28"#)),
        .init(setTags, "keeps blank names", .request(setTags, #""tags":\[""#, #""tags":["blank",""#)),
        .init(tag, "makes another slug", .body(tag, #""name_slug":"([^"]*)-"#, #""name_slug":"$1_"#)),
        .init(tag, "has no slug for emoji", .body(tag, #""name_slug":"1f[^"]*""#, #""name_slug":"""#)),
        .init(tag, "takes a name twice", .accepting(tag, "The name has already been taken.", "{}")),
        .init(
            "PUT /tasks/{id}", "keeps the time of completion",
            .body(
                "PUT /tasks/{id}", #""completed_at":null"#, #""completed_at":"2024-01-01T00:00:00Z""#)),
        .init(
            "PUT /notes/{id}", "keeps the time of favouring",
            .body(
                "PUT /notes/{id}", #""favorited_at":null"#, #""favorited_at":"2024-01-01T00:00:00Z""#)),
        .init("POST /gifts", "writes amounts without a fraction", .body("POST /gifts", #"(\$\d+)\.\d\d"#, "$1")),
        .init(
            "POST /activities", "counts a contact twice",
            .body(
                "POST /activities", #""total":2"#, #""total":3"#)),
        .init(
            "POST /contactfields", "takes any address of mail",
            .accepting("POST /contactfields", "The data must be a valid email address.", "{}")),
        .init(
            "POST /contactfields", "is not searched",
            .request("POST /contactfields", #""data":"\+1 \([^"]*"#, #""data":"+1"#)),
        .init(
            "POST /calls", "takes any time",
            .accepting("POST /calls", "The called at is not a valid date.", "{}")),
        .init("POST /calls", "leaves the zone out", .request("POST /calls", #"\+02:00""#, #"Z""#)),
        .init(upcoming, "has this month alone", .query(upcoming, "upcoming/[0-9]+$", "upcoming/0")),
        .init(
            upcoming, "has a day that its month lacks",
            .body(upcoming, #""planned_date":"(\d+)-02-2[89]T"#, #""planned_date":"$1-03-01T"#)),
        .init(
            upcoming, "leaves the 31st for good",
            .body(upcoming, #""planned_date":"([-\d]+)-(3[01]|2[89])T"#, #""planned_date":"$1-27T"#)),
        .init(
            "POST /reminders", "takes days that there are not",
            .accepting("POST /reminders", "The initial date is not a valid date.", "{}")),
        .init("GET /countries", "lacks a country", .body("GET /countries", #"\{"id":"DE"[^}]*\},"#, "")),
        .init(
            "GET /export/vcard", "leaves out social networks", .body("GET /export/vcard", "SOCIALPROFILE", "X-UNKNOWN")),
        .init(delete, "keeps the notes") { Mutant.lingering("GET /notes/{id}").make() },
        .init(delete, "keeps the tasks") { Mutant.lingering("GET /tasks/{id}").make() },
        .init(delete, "keeps the debts") { Mutant.lingering("GET /debts/{id}").make() },
        .init(delete, "keeps the photos") { Mutant.lingering("GET /photos/{id}").make() },
        .init(delete, "keeps the documents") { Mutant.lingering("GET /documents/{id}").make() },
        .init(
            "POST /photos", "takes what is no photo",
            .accepting("POST /photos", "The photo must be an image.", "{}")),
        .init(
            "PUT /contacts/{id}/avatar", "takes photos of other contacts",
            .accepting("PUT /contacts/{id}/avatar", "The requested photo was not found.", "{}")),
        .init(
            "PUT /gifts/{gift}/photo/{photo}", "takes any number of photos",
            .accepting(
                "PUT /gifts/{gift}/photo/{photo}", "The photos may not have more than 10 items.", "{}")),
        .init(
            "GET /documents/{id}", "believes the sender's type",
            .body("GET /documents/{id}", #""mime_type":"application/pdf""#, #""mime_type":"text/html""#)),
        .init(delete, "keeps the pets") { Mutant.lingering("GET /pets/{id}").make() },
        .init(delete, "keeps the life events") { Mutant.lingering("GET /lifeevents/{id}").make() },
        .init(
            "POST /lifeevents", "makes no reminder",
            .request("POST /lifeevents", #""has_reminder":true"#, #""has_reminder":false"#)),
        .init("DELETE /activitytypecategories/{id}", "keeps the types of a category") {
            Mutant.lingering("GET /activitytypes/{id}").make()
        },
        .init(
            "POST /contacts/{id}/merge", "takes a contact twice",
            .accepting("POST /contacts/{id}/merge", "The selected contact id is invalid.", "{}")),
        .init(
            "POST /contacts/{id}/merge", "takes partial contacts",
            .accepting("POST /contacts/{id}/merge", "The contact can't be a partial contact", "{}")),
        .init("POST /contacts/{id}/merge", "keeps the merged contact") {
            Mutant.lingering("GET /contacts/{id}").make()
        },
        .init(
            "POST /merges/{id}/undo", "undoes merges in any order",
            .accepting("POST /merges/{id}/undo", "A later merge of the contact must be undone first.", "{}")),
        .init(delete, "keeps the relationships") { Mutant.lingering("GET /relationships/{id}").make() },
        .init(
            "GET /relationships/{id}", "keeps the other contact's type",
            .body("GET /relationships/{id}", #""name":"godson""#, #""name":"child""#)),
        .init(delete, "keeps the calls") { Mutant.lingering("GET /calls/{id}").make() },
        .init(delete, "keeps the conversations") { Mutant.lingering("GET /conversations/{id}").make() },
        .init(
            "POST /conversations/{id}/messages", "has no limit of characters",
            .accepting(
                "POST /conversations/{id}/messages", "The messages may not be greater than 100000 characters.", "{}")),
        .init(
            "DELETE /contactfieldtypes/{id}", "forgets the conversations of a type",
            .accepting(
                "DELETE /contactfieldtypes/{id}", "The contact field type is in use.", #"{"deleted":true,"id":1}"#)),
        .init(delete, "keeps the reminders") { Mutant.lingering("GET /reminders/{id}").make() },
        .init(
            contact, "does not say how much of a limit is left",
            .header(
                contact, .init("X-RateLimit-Remaining")!, nil)),
        .init(
            "GET /me", "wants Bearer with a capital",
            .exchange("GET /me") { request, forward in
                request.headers[.authorization]?.hasPrefix("Bearer ") == false
                    ? .json(401, #"{"error":{"message":"Unauthenticated.","code":401,"error_code":42}}"#)
                    : try await forward(request)
            }),
        .init("GET /export/vcard", "exports partial contacts", .partialCards),
        .init("GET /export/vcard", "may be kept by any cache", .header("GET /export/vcard", .cacheControl, nil)),
        .init("GET /export/vcard", "writes lines without CR", .body("GET /export/vcard", "\r\n", "\n")),
        .init(
            "GET /export/json", "leaves out partial contacts",
            .body(
                "GET /export/json", #""is_partial":true"#, #""is_partial":false"#)),
    ]
}

extension Defect {
    /// Adds a card of each partial contact to an export.
    fileprivate static let partialCards = exchange("GET /export/vcard") { request, forward in
        var (response, everything) = (try await forward(request), request)
        everything.url = request.url.deletingLastPathComponent().appending(path: "json")
        for contact in try await forward(everything).json["contacts"]?.elements ?? []
        where contact["is_partial"] == true {
            let name = contact["complete_name"]?.string ?? ""
            response.text += "BEGIN:VCARD\r\nVERSION:4.0\r\nFN:\(name)\r\nEND:VCARD\r\n"
        }
        return response
    }

    /// Leaves out all sentences of a refusal but the first.
    fileprivate static func firstMistake(_ operation: String) -> Defect {
        exchange(operation) { request, forward in
            var response = try await forward(request)
            if response.status.code == 422 {
                response.text = response.text.replacing(#/("message":"[^".]*\.) [^"]*"/#) { "\($0.1)\"" }
            }
            return response
        }
    }

    /// Leaves rows out of a page's data.
    fileprivate static func rows(
        _ operation: String, _ isKept: @escaping @Sendable (_ row: JSONValue, _ query: String) -> Bool
    ) -> Defect {
        exchange(operation) { request, forward in
            var response = try await forward(request)
            guard response.status == .ok, case .object(var body) = response.value, case .list(let rows)? = body["data"]
            else { return response }
            let query = (request.query("query") ?? "").removingPercentEncoding ?? ""
            let kept = rows.filter { isKept($0, query) }
            guard kept.count < rows.count else { return response }
            body["data"] = .list(kept)
            response.text = JSONValue.object(body).description
            return response
        }
    }
}
