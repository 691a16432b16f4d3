@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DunbarClient
import Foundation
import HTTPTypes

extension DunbarScenarios {
    static let users: [Scenario<DunbarWorld>] = [
        Scenario("A profile is open to everybody and shows no address", clause: "GET /users/:id") { world, john, jane in
            let path = "/users/\(john.id)"
            for answer in [try await world.raw.send(.get, path), try await jane.get(path), try await john.get(path)] {
                let body = try answer.succeeded(200)
                try expect(body["user"]?["username"], equals: .string(john.name))
                try expect(body["isFollowing"], equals: false)
                try expect(body["isPending"], equals: false)
                try expect(!answer.text.contains("@example.com"), "it shows an address: \(answer.text)")
            }
        },
        Scenario("Unknown and impossible users", clause: "§1 GET /users/:id") { world, john in
            try await world.raw.send(.get, "/users/999999999999").refused(404, "User not found")
            for id in ["0", "-1", "x", "1.0", "1x", "%20", "%00", "null"] {
                try await world.raw.send(.get, "/users/\(id)").refused(400, "Invalid user ID", id)
                try await world.raw.send(.patch, "/users/\(id)", body: "{}").refused(401, "Unauthorized", id)
                try await john.raw(.patch, "/users/\(id)", body: "{}").refused(400, "Invalid user ID", id)
            }
            try await world.raw.send(.get, "/users/99999999999999999999999").refused(404, "User not found")
        },
        Scenario("A profile is changed field by field", clause: "PATCH /users/:id", level: .contract) { _, john in
            func patch(_ body: JSONValue) async throws -> JSONValue {
                try await john.raw(.patch, "/users/\(john.id)", body: body.description).succeeded(200)
            }
            var user = try await patch(["displayName": " New Name ", "bio": " Hello "])
            try expect(user["displayName"], equals: "New Name")
            try expect(user["bio"], equals: "Hello")
            try expect(user["isPrivate"], equals: true)
            try expect(user["email"], equals: .string("\(john.name)@example.com"))
            user = try await patch(["isPrivate": false])
            try expect(user["isPrivate"], equals: false)
            try expect(user["bio"], equals: "Hello")
            user = try await patch(["isPrivate": false])
            try expect(user["isPrivate"], equals: false)
            for empty in ["", "  ", .null] as [JSONValue] {
                _ = try await patch(["bio": "Hello"])
                try expect(try await patch(["bio": empty])["bio"], equals: .null)
            }
            try expect(try await patch(["name": "By alias"])["displayName"], equals: "By alias")
            try expect(try await patch(["name": "a", "displayName": "b"])["displayName"], equals: "b")
            let found = try await john.send(Dunbar.GetUser(id: john.id)).user
            try expect([found.displayName, found.bio ?? "none"], equals: ["b", "none"])
        },
        Scenario("What cannot be changed is refused, the first thing first", clause: "§1 PATCH, example 8") {
            world, john, jane in
            let path = "/users/\(john.id)"
            try await world.raw.send(.patch, path, body: "{").refused(401, "Unauthorized")
            try await jane.raw(.patch, path, body: "{").refused(400, "Malformed JSON")
            try await jane.raw(.patch, "/users/999999999999", body: "{}").refused(404, "User not found")
            try await jane.raw(.patch, path, body: "{}").refused(403, "Not authorized to update this profile")
            let long = String(repeating: "x", count: 501)
            let table: [(String, String)] = [
                ("", "No changes detected"), ("{}", "No changes detected"),
                (#"{"isAdmin":true}"#, "No changes detected"),
                (#"{"username":"x","email":"y","id":2,"emailVerified":true}"#, "No changes detected"),
                (#"{"displayName":5}"#, "No changes detected"), (#"{"bio":5}"#, "No changes detected"),
                (#"{"displayName":" ","bio":"\#(long)","isPrivate":1}"#, "Name is required"),
                (#"{"name":"\#(long)"}"#, "Name must be at most 100 characters"),
                (#"{"bio":"\#(long)","isPrivate":1}"#, "Bio must be at most 500 characters"),
                (#"{"isPrivate":1}"#, "isPrivate must be true or false"),
                (#"{"isPrivate":"true"}"#, "isPrivate must be true or false"),
                (#"{"isPrivate":null}"#, "isPrivate must be true or false"),
                (#"{"bio":"a\u0000"}"#, "Text must not contain NUL characters"),
            ]
            for (body, text) in table { try await john.raw(.patch, path, body: body).refused(400, text, body) }
            let changed = try await john.raw(.patch, path, body: #"{"bio":"","isAdmin":true,"username":"x"}"#)
                .succeeded(200)
            try expect(changed["isAdmin"], equals: false)
            try expect(changed["username"], equals: .string(john.name))
            try expect(changed["bio"], equals: .null)
        },
    ]

    static let search: [Scenario<DunbarWorld>] = [
        Scenario("Users are found by a part of either name, in any case", clause: "GET /users/search", level: .contract)
        { world in
            let word = world.freshName("w")
            let first = try await world.person("a" + word)
            let second = try await world.person("b" + world.freshName(), named: "The \(word.uppercased()) one")
            let seeker = try await world.person()
            for text in [word, word.uppercased(), "%20\(word)%20"] {
                let found = try await seeker.get("/users/search?q=\(text)").succeeded(200).elements
                try expect(found.map { $0["id"] ?? .null }, equals: [first.id.json, second.id.json])
            }
            // The caller is found, too.
            try expect(try await first.send(Dunbar.SearchUsers("a" + word)).map(\.id), equals: [first.id])
        },
        Scenario("A blank search finds no one, and wildcards are plain characters", clause: "§2 search, example 5") {
            world in
            let word = world.freshName("w")
            let john = try await world.person(named: "\(word)100%_\\")
            try await world.person(named: "\(word)100")
            for query in ["", "?q=", "?q=%20", "?q=%09", "?x=1", "?q=\(String(repeating: "x", count: 2000))"] {
                try expect(try await john.get("/users/search\(query)").succeeded(200), equals: [])
            }
            for (text, count) in [
                ("\(word)100%", 1), ("\(word)100%_", 1), ("\(word)100%_\\", 1), ("\(word)1_0", 0), ("\(word)%", 0),
            ] {
                let found = try await john.send(Dunbar.SearchUsers(text))
                try expect(found.count == count, "\(text): \(found.count)")
            }
            try await world.raw.send(.get, "/users/search?q=a").refused(401, "Unauthorized")
            try expect(try await john.send(Dunbar.SearchUsers("'; DROP TABLE users; --")), equals: [])
        },
        Scenario("A search shows 20 at most, by username", clause: "§2 search") { world in
            let word = world.freshName("w")
            let people = try await together(22, width: 8) { index in
                try await world.person("\(word)\(String(format: "%02d", 21 - index))")
            }
            let found = try await people[0].send(Dunbar.SearchUsers(word))
            try expect(found.map(\.username), equals: (0..<20).map { "\(word)\(String(format: "%02d", $0))" })
        },
    ]

    static let health: [Scenario<DunbarWorld>] = [
        Scenario("The health check answers anybody", clause: "GET /storage/health", level: .contract) { world in
            let answer = try await world.raw.send(.get, "/storage/health")
            try expect(try answer.succeeded(200)["status"], equals: "healthy")
            try expect(answer.headers[.setCookie], equals: nil)
            let client = DunbarClient(
                baseURL: world.baseURL, transport: world.transport, retry: .never, patience: DunbarWorld.patience)
            try expect(try await client.wakeUp(), "it did not wake up")
        }
    ]
}
