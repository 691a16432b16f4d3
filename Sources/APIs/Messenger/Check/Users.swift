@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import Foundation
import HTTPTypes
import MessengerClient

extension MessengerScenarios {
    static let users: [Scenario<MessengerWorld>] = [
        Scenario("Anybody signed in sees a user's profile, without the address", clause: "GET /users/{id}") {
            _, alice, bob in
            for caller in [alice, bob] {
                try expect(
                    try await caller.get("/users/\(bob.id)").succeeded(200),
                    equals: [
                        "id": bob.id.json, "username": .string(bob.name), "display_name": .string(bob.name),
                        "bio": nil, "avatar_file_id": nil,
                    ])
            }
            for id in ["0", "9223372036854775807", "99999999999999999999"] {
                try await alice.get("/users/\(id)").refused(404, "User not found", id)
            }
        },
        Scenario(
            "A search finds parts of username and display name in any case, oneself too", clause: "GET /users/search"
        ) { world in
            let stem = world.freshName(of: 6)
            let searcher = try await world.person()
            let byName = try await world.register("x\(stem)Éva", displayName: "Somebody")
            let byDisplayName = try await world.register(world.freshName("zz"), displayName: "The \(stem)éVA")
            let rows = try await searcher.search(stem + "ÉVA")
            try expect(rows.map { $0["id"] }, equals: [byName.id.json, byDisplayName.id.json])
            try expect(
                rows.first,
                equals: ["id": byName.id.json, "username": .string(byName.username), "display_name": "Somebody"])
            // The query is trimmed, and does not match e-mail addresses.
            for query in [stem, "  \(stem)\n", "\(stem)e\u{301}va"] {
                try expect(try await searcher.search(query).count, equals: 2)
            }
            try expect(try await searcher.search("\(searcher.name)@").count, equals: 0)
            try expect(try await searcher.search(searcher.name).map { $0["id"] }, equals: [searcher.id.json])
            try expect(try await searcher.search(String(repeating: stem, count: 100)).count, equals: 0)
        },
        Scenario("A search needs a query, and is no user's id", clause: "GET /users/search") { _, alice in
            for query in ["", "?", "?q", "?q=", "?q=%20%0A", "?q=+", "?Q=a", "?query=a"] {
                try await alice.get("/users/search\(query)").refused(400, "q parameter required", query)
            }
        },
        Scenario("%, _ and \\ are literal in a search", clause: "GET /users/search") { world, alice in
            let stem = world.freshName(of: 5)
            for middle in ["%", "_", "\\", "x", "%_", "\\_", "'\""] { try await world.register("\(stem)\(middle)z") }
            let table = [
                ("%", 2), ("_", 1), ("\\", 2), ("%z", 1), ("_z", 1), ("\\z", 1), ("%_", 1), ("\\_z", 1), ("'\"", 1),
                ("__", 0), ("", 7),
            ]
            for (middle, count) in table {
                let found = try await alice.search(stem + middle)
                try expect(found.count == count, "\(middle): expected \(count), found \(found)")
            }
        },
        Scenario("A search shows 20 users, by lower-cased username", clause: "GET /users/search") { world, alice in
            let stem = world.freshName(of: 5)
            let names = (0..<22).map { index in
                let letter = Character(Unicode.Scalar(UInt8(ascii: "a") + UInt8(index)))
                return stem + (index.isMultiple(of: 2) ? letter.uppercased() : letter.lowercased())
            }
            _ = try await together(22) { try await world.register(names.reversed()[$0]) }
            try expect(
                try await alice.search(stem).map { $0["username"] }, equals: names.prefix(20).map { .string($0) })
        },
        Scenario("A search goes by code point, as no language orders its words", clause: "GET /users/search") {
            world, alice in
            let stem = world.freshName(of: 5)
            let names = ["-b", ".a", "1", "10", "2", "A-B", "a_a", "Ab", "aé", "b", "z", "É", "ö", "я", "日", "ｘ", "😀"]
                .map { stem + $0 }
            _ = try await together(names.count) { try await world.register(names.reversed()[$0]) }
            try expect(try await alice.search(stem).map { $0["username"] }, equals: names.map { .string($0) })
        },
    ]
}

extension MessengerWorld {
    @discardableResult
    fileprivate func register(_ name: String, displayName: String? = nil) async throws -> Messenger.Registered {
        try await client().send(
            Messenger.Register(
                username: name, email: "\(freshName())@example.com", password: "12345678", displayName: displayName))
    }
}

extension Person {
    fileprivate func search(_ query: String) async throws -> [JSONValue] {
        try await get("/users/search?q=\(RequestCoding.percentEncoded(query))").succeeded(200, query).elements
    }
}
