@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DeuceDiaryClient
import Foundation
import HTTPTypes

/// Scenarios of rules for every request: the order of checks, credentials, bodies and fields.
extension DeuceDiaryScenarios {
    typealias Rules = RequestRules<DeuceDiaryWorld>

    private static let rules = Rules(
        unknownPaths: ["/groups", "/auth/user", "/api/auth/user/picture", "/uploads", "/ws/x"],
        noCredentials: "Unauthorized",
        badCredentials: { world in
            let token = try await world.person().token
            return [
                "Unauthorized": ["", "Basic YTpi", token, "Token \(token)"],
                "Invalid token": [
                    "Bearer", "Bearer ", "bearer nothing", "Bearer \(token)x", "Bearer \(token.dropLast(4))",
                    "Bearer \(token), Bearer \(token)",
                ],
            ]
        },
        empty: .init("/api/groups") {
            try $0.refused(400, "Invalid group data: name is required (max 100 chars)", $1)
        },
        whole: .init("/api/groups", #"{"name":"N"}"#) { try $0.succeeded($1) })

    static let errors: [Scenario<DeuceDiaryWorld>] = [
        rules.unknownPaths(clause: "Errors"), rules.otherMethods(clause: "Errors"),
        rules.credentials(clause: "Authentication"),
        Scenario("The scheme's name may be in any case", clause: "Authentication") { world, john in
            for header in ["Bearer \(john.token)", "bearer \(john.token)", "BEARER  \(john.token)"] {
                let answer = try await world.raw.send(
                    .get, "/api/auth/user", headers: [.authorization: header])
                try expect(try answer.succeeded(header)["id"], equals: john.id.json)
            }
        },
        rules.bodies(clause: "Request bodies"), rules.plainBodies(clause: "Request bodies"),
        Scenario("The content type of a JSON body does not matter, and there need be no body", clause: "Request bodies")
        { _, john in
            for type in ["text/plain", "application/json", "application/x-www-form-urlencoded"] {
                try await john.raw(.post, "/api/groups", headers: [.contentType: type], body: #"{"name":"N"}"#)
                    .succeeded(type)
                let solo = try await john.solo()
                try await john.raw(.post, "/api/groups/\(solo)/invite", headers: [.contentType: type]).succeeded(type)
            }
        },
        Scenario("Unknown keys are ignored and never stored", clause: "Request bodies") { world, john, jane in
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
        Scenario("A null or mistyped value counts as missing", clause: "Request bodies") { _, john in
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
        Scenario("Text must not contain NUL characters", clause: "Request bodies") { _, john in
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
        rules.oddInput(clause: "Errors") { world in
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
            return (
                john.raw, paths,
                [
                    (.put, "/api/auth/user", #"{"username":?}"#),
                    (.post, "/api/groups", #"{"name":?,"description":?}"#),
                    (.post, "/api/deuces", #"{"groupIds":?,"location":?,"thoughts":?,"loggedAt":?}"#),
                    (.post, "/api/entries/\(entry)/reactions", #"{"emoji":?}"#),
                    (.delete, "/api/entries/\(entry)/reactions", #"{"emoji":?}"#),
                    (.post, "/api/locations", #"{"name":?}"#),
                ]
            )
        },
    ]
}
