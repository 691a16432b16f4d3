@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DeuceDiaryClient
import Foundation
import HTTPTypes

/// Scenarios of rules for every request: the order of checks, credentials, bodies and fields.
extension DeuceDiaryScenarios {
    static let errors: [Scenario<DeuceDiaryWorld>] = [
        Scenario("An unknown path is 404, whatever else is wrong", clause: "Errors") { world in
            // Not `/`, where a server may have a page for people.
            let paths = [
                "/api", "/api//", "/api/nothing", "/API/groups", "/groups", "/auth/user", "/api/auth",
                "/api/auth/user//", "/api/auth/user/picture", "/api/groups//", "/api/groups/x/y",
                "/api/groups/x/invite//", "/api/join", "/api/join//", "/join", "/join//", "/join/x/y",
                "/api/deuces//", "/api/entries/x", "/api/entries//reactions", "/api/analytics", "/uploads", "/ws/x",
            ]
            for path in paths {
                try await world.raw.send(.get, path).refused(404, "Not found", path)
                try await world.raw.send(.post, path, body: "{").refused(404, "Not found", path)
            }
        },
        Scenario("Another method is 405 with Allow, before credentials and ids", clause: "Errors") {
            world in
            let table: [(path: String, allowed: Set<String>)] = [
                ("/api/auth/user", ["GET", "PUT", "DELETE"]), ("/api/auth/user/profile-picture", ["POST"]),
                ("/api/auth/user/export", ["GET"]), ("/api/groups/x/leave", ["POST"]),
                ("/api/groups/x/members/y", ["DELETE"]), ("/api/groups/preview/x", ["GET"]),
                ("/api/deuces/x", ["DELETE"]), ("/api/groups/x/invites", ["GET"]), ("/api/invites/x", ["DELETE"]),
                ("/api/groups", ["GET", "POST"]), ("/api/groups/x", ["GET"]), ("/api/groups/x/invite", ["POST"]),
                ("/api/join/x", ["POST"]), ("/join/x", ["GET"]), ("/api/deuces", ["GET", "POST"]),
                ("/api/entries/x/reactions", ["GET", "POST", "DELETE"]), ("/api/locations", ["GET", "POST"]),
                ("/api/analytics/most-deuces", ["GET"]),
            ]
            for (path, allowed) in table {
                let answer = try await world.raw.send(.patch, path, body: "{")
                try answer.refused(405, "Method not allowed", path)
                let listed = Set((answer.headers[.allow] ?? "").components(separatedBy: ", "))
                try expect(listed.isSuperset(of: allowed) && !listed.contains("PATCH"), "\(path) allows \(listed)")
            }
        },
        Scenario("Credentials come before sizes, bodies, keys and ids", clause: "Authentication") { world in
            let john = try await world.person()
            let table: [(header: String?, text: String)] = [
                (nil, "Unauthorized"), ("", "Unauthorized"), ("Basic YTpi", "Unauthorized"),
                (john.token, "Unauthorized"), ("Token \(john.token)", "Unauthorized"),
                ("Bearer", "Invalid token"), ("Bearer ", "Invalid token"), ("bearer nothing", "Invalid token"),
                ("Bearer \(john.token)x", "Invalid token"), ("Bearer \(john.token.dropLast(4))", "Invalid token"),
                ("Bearer \(john.token), Bearer \(john.token)", "Invalid token"),
            ]
            for (header, text) in table {
                for (method, path) in closed {
                    var headers: HTTPFields = [.idempotencyKey: "é"]
                    if let header { headers[.authorization] = header }
                    try await world.raw.send(method, path, headers: headers, body: method == .get ? nil : "{")
                        .refused(401, text, "\(method) \(path) with \(header ?? "nothing")")
                }
            }
            let large = String(repeating: " ", count: 1_048_577)
            try await world.raw.send(.post, "/api/groups", body: large).refused(401, "Unauthorized")
        },
        Scenario("The scheme's name may be in any case", clause: "Authentication") { world in
            let john = try await world.person()
            for header in ["Bearer \(john.token)", "bearer \(john.token)", "BEARER  \(john.token)"] {
                let answer = try await world.raw.send(
                    .get, "/api/auth/user", headers: [.authorization: header])
                try expect(try answer.succeeded(header)["id"], equals: john.id.json)
            }
        },
        Scenario("A body is one JSON object of at most 1 MiB and 64 levels", clause: "Request bodies") { world in
            let john = try await world.person()
            func create(_ body: [UInt8]) async throws -> RawAnswer {
                try await world.raw.send(.post, "/api/groups", token: john.token, bytes: body)
            }
            func nested(_ levels: Int) -> String {
                #"{"x":"# + String(repeating: "[", count: levels - 1) + String(repeating: "]", count: levels - 1) + "}"
            }
            let malformed = [
                "[]", "\"text\"", "1", "null", "{", "}", "{}{}", "{} x", #"{"a":}"#, "{'a':1}", #"{"a":1,}"#,
                "name=Throne", nested(65),
            ]
            for body in malformed { try await create(Array(body.utf8)).refused(400, "Malformed JSON", body) }
            try await create(Array(#"{"a":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)).refused(400, "Malformed JSON")
            let absent = "Invalid group data: name is required (max 100 chars)"
            let padding = String(repeating: "a", count: 1_048_576 - #"{"x":""}"#.utf8.count)
            for body in ["", "{}", " {\n} ", nested(64), #"{"x":"\#(padding)"}"#] {
                try await create(Array(body.utf8)).refused(400, absent, "\(body.prefix(20))")
            }
            try await create(Array(#"{"x":"\#(padding)a"}"#.utf8)).refused(413, "Request body too large")
        },
        Scenario("A compressed body is refused, and so is JSON with a key twice", clause: "Request bodies") { world in
            let john = try await world.person()
            for coding in ["gzip", "br", "deflate, identity"] {
                let answer = try await john.raw(
                    .post, "/api/groups", headers: [.contentEncoding: coding], body: #"{"name":"N"}"#)
                try answer.refused(415, "Content-Encoding is not supported", coding)
                try expect(answer.headers[.acceptEncoding], equals: "identity")
            }
            try await john.raw(.post, "/api/groups", headers: [.contentEncoding: "identity"], body: #"{"name":"N"}"#)
                .succeeded()
            for more in [#""name":"M""#, #""n\u0061me":"M""#, #""x":[{"y":1,"y":1}]"#] {
                try await john.raw(.post, "/api/groups", body: #"{"name":"N",\#(more)}"#)
                    .refused(400, "Malformed JSON", more)
            }
        },
        Scenario("The content type of a JSON body does not matter, and there need be no body", clause: "Request bodies")
        {
            world in
            let john = try await world.person()
            for type in ["text/plain", "application/json", "application/x-www-form-urlencoded"] {
                try await john.raw(.post, "/api/groups", headers: [.contentType: type], body: #"{"name":"N"}"#)
                    .succeeded(type)
                let solo = try await john.solo()
                try await john.raw(.post, "/api/groups/\(solo)/invite", headers: [.contentType: type]).succeeded(type)
            }
        },
        Scenario("Unknown keys are ignored and never stored", clause: "Request bodies") { world in
            let (john, jane) = try await world.pair()
            let id = world.unknownID()
            let group = try await john.post(
                "/api/groups", ["name": "N", "id": .string(id), "createdBy": jane.id.json, "memberCount": 9]
            ).succeeded()
            try expect(group["id"] != .string(id), "an id was taken from the body")
            try expect(group["createdBy"], equals: john.id.json)
            let time: JSONValue = "2001-01-01T00:00:00.000Z"
            let logged = try await john.post(
                "/api/deuces",
                [
                    "groupIds": [group["id"] ?? nil], "location": "Home", "thoughts": "", "id": .string(id),
                    "userId": jane.id.json, "createdAt": time, "deuceCount": 99, "x": "\u{0}",
                ]
            ).succeeded()
            let entry = logged["entries"]?[0]
            try expect(entry?["id"] != .string(id) && entry?["createdAt"] != time, "taken from the body: \(logged)")
            try expect(entry?["userId"], equals: john.id.json)
            let renamed = try await john.raw(
                .put, "/api/auth/user",
                body: #"{"username":"\#(world.freshName())","deuceCount":99,"email":"x","id":"x"}"#
            ).succeeded()
            try expect(renamed["deuceCount"], equals: 1)
            try expect(renamed["id"], equals: john.id.json)
            let place = try await john.post(
                "/api/locations", ["name": .string(world.freshName()), "isDefault": true, "createdBy": jane.id.json]
            ).succeeded()
            try expect(place["isDefault"], equals: false)
            try expect(place["createdBy"], equals: john.id.json)
        },
        Scenario("A null or mistyped value counts as missing", clause: "Request bodies") { world in
            let john = try await world.person()
            let group = try await john.group()
            let entry = try await john.log(in: group)[0].id
            let nameless = "Invalid group data: name is required (max 100 chars)"
            let table: [(HTTPRequest.Method, path: String, body: String, text: String)] = [
                (.put, "/api/auth/user", #"{"username":null}"#, "Username is required"),
                (.put, "/api/auth/user", #"{"username":["abc"]}"#, "Username is required"),
                (.post, "/api/groups", #"{"name":5}"#, nameless), (.post, "/api/groups", #"{"name":null}"#, nameless),
                (
                    .post, "/api/deuces", #"{"groupIds":["\#(group)"],"location":true,"thoughts":""}"#,
                    "Location is required"
                ),
                (
                    .post, "/api/deuces", #"{"groupIds":["\#(group)"],"location":"x","thoughts":null}"#,
                    "Thoughts are required"
                ),
                (.post, "/api/entries/\(entry)/reactions", #"{"emoji":1}"#, "Emoji is required"),
                (.delete, "/api/entries/\(entry)/reactions", #"{"emoji":null}"#, "Emoji is required"),
                (.post, "/api/locations", #"{"name":{}}"#, "Location name is required"),
            ]
            for (method, path, body, text) in table {
                try await john.raw(method, path, body: body).refused(400, text, body)
            }
            // An invalid time means now; an invalid description is refused.
            for time in ["null", "5", "false", #""""#] {
                let body = #"{"groupIds":["\#(group)"],"location":"x","thoughts":"","loggedAt":\#(time)}"#
                let logged = try await john.raw(.post, "/api/deuces", body: body).succeeded(body)
                let entry = logged["entries"]?[0]
                try expect(entry?["loggedAt"] != nil, "\(logged)")
            }
        },
        Scenario("Text must not contain NUL characters", clause: "Request bodies") { world in
            let john = try await world.person()
            let group = try await john.group()
            let entry = try await john.log(in: group)[0].id
            let table: [(HTTPRequest.Method, path: String, body: JSONValue)] = [
                (.put, "/api/auth/user", ["username": "ab\u{0}c"]), (.post, "/api/groups", ["name": "a\u{0}"]),
                (.post, "/api/groups", ["name": "a", "description": "\u{0}"]),
                (.post, "/api/deuces", ["groupIds": [group.json], "location": "a\u{0}", "thoughts": ""]),
                (.post, "/api/deuces", ["groupIds": [group.json], "location": "a", "thoughts": "\u{0}"]),
                (.post, "/api/deuces", ["groupIds": [group.json, "\u{0}"], "location": "a", "thoughts": "a"]),
                (.post, "/api/entries/\(entry)/reactions", ["emoji": "\u{0}"]),
                (.post, "/api/locations", ["name": "a\u{0}"]),
            ]
            for (method, path, body) in table {
                try await john.raw(method, path, body: body.description)
                    .refused(400, "Text must not contain NUL characters", "\(path) \(body)")
            }
        },
        Scenario("Bad input is never a 5xx", clause: "Errors") { world in
            let john = try await world.person()
            let group = try await john.group()
            let entry = try await john.log(in: group)[0].id
            let long = String(repeating: "9", count: 400)
            let paths = [
                "/api/groups/\(long)", "/api/groups/%00", "/api/groups/%ff%fe", "/api/groups/..%2f..%2fetc",
                "/api/groups/'%20OR%201=1", "/api/groups/%F0%9F%92%A9", "/api/groups?limit=\(long)",
                "/api/groups?before=%00", "/api/groups?before=\(long)", "/api/groups/\(group)?limit=\(long)",
                "/api/groups/\(group)?before=x", "/api/entries/\(entry)/reactions?after=\(long)",
                "/api/entries/%00/reactions", "/api/locations?limit=\(long)&page=\(long)",
                "/api/locations?limit=1000&page=9223372036854775807", "/join/%00", "/join/\(long)",
                "/api/deuces?limit=\(long)", "/api/deuces?before=%00", "/api/deuces?groupId=\(long)",
                "/api/groups/preview/%00", "/api/groups/preview/\(long)",
                "/uploads/..%2f..%2fetc%2fpasswd", "/uploads/../../etc/passwd", "/uploads/\(long).jpg",
            ]
            for path in paths {
                let answer = try await john.get(path)
                try expect(answer.status < 500, "\(path): \(answer.status) \(answer.text)")
                _ = try answer.json()
            }
            let values = [
                #""\ud800""#, "1e999", "-0", "[[[]]]", #"{"a":{}}"#, #""\u202e\ufeff""#, "true", #"[null,1,"x"]"#,
            ]
            for value in values {
                for (method, path, body) in [
                    (.put, "/api/auth/user", #"{"username":\#(value)}"#),
                    (.post, "/api/groups", #"{"name":\#(value),"description":\#(value)}"#),
                    (
                        .post, "/api/deuces",
                        #"{"groupIds":\#(value),"location":\#(value),"thoughts":\#(value),"loggedAt":\#(value)}"#
                    ),
                    (.post, "/api/entries/\(entry)/reactions", #"{"emoji":\#(value)}"#),
                    (.delete, "/api/entries/\(entry)/reactions", #"{"emoji":\#(value)}"#),
                    (.post, "/api/locations", #"{"name":\#(value)}"#),
                ] as [(HTTPRequest.Method, String, String)] {
                    let answer = try await john.raw(method, path, body: body)
                    try expect(answer.status < 500, "\(path) \(body): \(answer.status) \(answer.text)")
                }
            }
        },
    ]

    /// Every operation that needs a caller, with ids and queries that would be refused if they were checked.
    static let closed: [(HTTPRequest.Method, String)] = [
        (.get, "/api/auth/user"), (.put, "/api/auth/user"), (.post, "/api/auth/user/profile-picture"),
        (.post, "/api/groups"), (.get, "/api/groups?limit=x"), (.get, "/api/groups/x"), (.post, "/api/groups/x/invite"),
        (.post, "/api/join/x"), (.post, "/api/deuces"), (.post, "/api/entries/x/reactions"),
        (.delete, "/api/entries/x/reactions"), (.get, "/api/entries/x/reactions"), (.post, "/api/locations"),
        (.get, "/api/analytics/most-deuces"), (.delete, "/api/auth/user"), (.get, "/api/auth/user/export"),
        (.post, "/api/groups/x/leave"), (.delete, "/api/groups/x/members/y"), (.get, "/api/deuces?limit=x"),
        (.delete, "/api/deuces/x"), (.get, "/api/groups/x/invites?limit=x"), (.delete, "/api/invites/x"),
    ]
}
