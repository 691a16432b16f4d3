@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import Foundation
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static let rules = RequestRules<MonicaWorld>(
        unknownPaths: ["//"], noCredentials: "Unauthenticated.",
        empty: .init("/contacts/0", method: .put) { try $0.refused(404, "The requested contact was not found.", $1) },
        whole: .init("/tags", #"{"name":"\#(UUID())"}"#) { try $0.succeeded(201, $1) })

    static let errors: [Scenario<MonicaWorld>] = [
        Scenario("Without a good token everything is 401", clause: "Authentication", level: .contract) { world in
            let paths = ["/contacts", "/contacts/1", "/activities", "/notes", "/tasks", "/gifts", "/tags"]
            for path in paths { try expect(try await world.raw.send(.get, path).status, equals: 401) }
            try expect(try await world.raw.send(.get, "/contacts", token: world.freshWord()).status, equals: 401)
        },
        Scenario("What is unknown is 404, another method 405, in the API's shape", clause: "§1 Order of checks") {
            world, owner in
            try await rules.refuseUnknownPaths(of: owner.raw)
            try await rules.refuseOtherMethods(of: world.raw)
            try await world.raw.send(.get, "/contacts/abc").refused(401, 42, "Unauthenticated.")
            try await world.raw.send(.get, "/contacts", headers: [.authorization: "Basic YTpi"])
                .refused(401, 42, "Unauthenticated.")
            let answer = try await world.raw.send(
                .get, "/me", headers: [.authorization: "bearer \(owner.token)", .accept: "text/html"])
            try answer.succeeded(200)
        },
        rules.plainBodies(clause: "Errors"),
        Scenario("One slash at the end of a path is ignored", clause: "§1 Order of checks") { _, owner in
            let john = try await owner.contact("John")
            for path in ["/contacts", "/contacts/\(john.id)", "/contacts/\(john.id)/notes", "/tags", "/me"] {
                let (plain, slashed) = (try await owner.get(path), try await owner.get(path + "/?limit=10"))
                try expect(try slashed.succeeded(200)["data"], equals: plain.succeeded(200)["data"])
                try await owner.get(path + "//").refused(404, 31, "The requested resource was not found.", path)
            }
        },
        Scenario("An id without a contact is 404, and so is a malformed id", clause: "GET /contacts/{id}") { _, owner in
            for id in ["abc", "0", "-1", "1.5", "9999999999999999", "99999999999999999999999", "%20", "1e3"] {
                for (plural, singular) in [
                    ("contacts", "contact"), ("activities", "activity"), ("notes", "note"), ("tasks", "task"),
                    ("gifts", "gift"), ("tags", "tag"), ("contactfields", "contact field"),
                    ("contactfieldtypes", "contact field type"), ("addresses", "address"), ("calls", "call"),
                    ("conversations", "conversation"),
                    ("reminders", "reminder"), ("debts", "debt"), ("pets", "pet"), ("lifeevents", "life event"),
                    ("journal", "journal entry"),
                    ("relationships", "relationship"), ("genders", "gender"), ("activitytypes", "activity type"),
                    ("activitytypecategories", "activity type category"),
                ] {
                    let text = "The requested \(singular) was not found."
                    try await owner.get("/\(plural)/\(id)").refused(404, 31, text, id)
                    try await owner.raw(.delete, "/\(plural)/\(id)").refused(404, 31, text, id)
                    try await owner.raw(.put, "/\(plural)/\(id)", [:]).refused(404, 31, text, id)
                }
                for kind in ["photo", "document"] {
                    let text = "The requested \(kind) was not found."
                    try await owner.get("/\(kind)s/\(id)").refused(404, 31, text, id)
                    try await owner.raw(.delete, "/\(kind)s/\(id)").refused(404, 31, text, id)
                }
            }
        },
        Scenario("Limits, pages and orders are judged in this order", clause: "§1 Parameters, example 3") { _, owner in
            let (tooBig, limit) = ("The limit parameter is too big", "The limit parameter must be a positive integer")
            let (sort, page) = ("The sorting criteria is invalid", "The page parameter must be a positive integer")
            let contact = "The contact_id parameter must be a positive integer"
            let refusals: [(path: String, code: Int, text: String)] = [
                ("/contacts?limit=101", 30, tooBig), ("/notes?limit=101", 30, tooBig), ("/tasks?limit=101", 30, tooBig),
                ("/gifts?limit=101", 30, tooBig), ("/activities?limit=101", 30, tooBig),
                ("/activities?limit=999999999999999999999", 30, tooBig), ("/contacts?limit=abc", 30, limit),
                ("/contacts?limit=0", 30, limit), ("/gifts?limit=-1", 30, limit), ("/contacts?limit=1.5", 30, limit),
                ("/contacts?sort=name", 39, sort), ("/contacts?sort=--created_at", 39, sort),
                ("/tags?sort=happened_at", 39, sort), ("/contacts?sort=x&limit=0&page=0", 39, sort),
                ("/contacts?limit=0&page=0", 30, limit), ("/contacts?page=0", 41, page), ("/notes?page=x", 41, page),
                ("/notes?contact_id=x", 41, contact), ("/notes?contact_id=0&page=0", 41, page),
                ("/contacts?query=" + String(repeating: "a", count: 256), 41, "The query parameter is too long"),
            ]
            for (path, code, text) in refusals { try await owner.get(path).refused(400, code, text, path) }
            for path in [
                "/contacts?limit=100", "/contacts?limit=&page=&sort=&query=", "/notes?contact_id=&limit=100",
                "/activities?limit=100", "/tasks?limit=100", "/gifts?limit=100", "/tags?limit=100",
                "/contacts?unknown=1", "/contacts?query=" + String(repeating: "a", count: 255),
                "/notes?page=9999999999999",
            ] {
                try await owner.get(path).succeeded(200, path)
            }
        },
        rules.bodies(
            "A body is one JSON object of at most 1 MiB, judged before the path's id", clause: "§1 Order of checks"),
        Scenario("Every answer says how many requests are left", clause: "§1 Rate limits") { _, owner in
            for path in ["/contacts?limit=1", "/contacts/0", "/me", "/notes?limit=0"] {
                let headers = try await owner.get(path).headers
                for name in ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] {
                    let value = HTTPField.Name(name).flatMap { headers[$0] }.flatMap { Int($0) }
                    try expect(value != nil, "\(path) has no \(name)")
                }
            }
        },
        Scenario("Every request counts against the limit", clause: "§1 Rate limits") { _, owner in
            func left(_ path: String) async throws -> (requests: Int, until: Int) {
                let headers = try await owner.get(path).headers
                func number(_ name: String) -> Int? {
                    HTTPField.Name("X-RateLimit-" + name).flatMap { headers[$0] }.flatMap { Int($0) }
                }
                guard let requests = number("Remaining"), let until = number("Reset") else {
                    throw CheckFailure("\(path) does not tell the limit")
                }
                return (requests, until)
            }
            for path in ["/me", "/genders", "/activitytypes", "/tags", "/export/vcard"] {
                let (first, second) = (try await left(path), try await left(path))
                // The minute may have ended between the two.
                try expect(
                    second.requests < first.requests || second.until > first.until,
                    "\(path): of \(first.requests) requests \(second.requests) are left after another one")
            }
        },
    ]
}
