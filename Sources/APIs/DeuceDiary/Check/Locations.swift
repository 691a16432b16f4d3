@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DeuceDiaryClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    static let locations: [Scenario<DeuceDiaryWorld>] = [
        Scenario("The list begins with the default locations by name, for anybody", clause: "GET /api/locations") {
            world in
            let seeds = [
                "Airport", "Friend's House", "Gym", "Home", "Hotel", "Office", "Public Restroom", "Restaurant",
            ]
            for headers in [[:], [.authorization: "Bearer nonsense"], [.authorization: "x"]] as [HTTPFields] {
                let list = try await world.raw.send(.get, "/api/locations", headers: headers).succeeded().elements
                try expect(list.prefix(8).map { $0["name"] }, equals: seeds.map { .string($0) })
                for (index, location) in list.enumerated() {
                    try expect(location["isDefault"], equals: .bool(index < 8))
                    // The creator of one of the others may have deleted their account since.
                    if index < 8 { try expect(location["createdBy"], equals: .null) }
                }
            }
        },
        Scenario("A custom location is in everybody's list from then on", clause: "POST /api/locations") {
            world, john, jane in
            let stem = world.freshName()
            let made = try await john.post("/api/locations", ["name": .string("  \(stem) Grandma's ")]).succeeded()
            try expect(made["name"], equals: .string("\(stem) Grandma's"))
            try expect(made["isDefault"], equals: false)
            try expect(made["createdBy"], equals: john.id.json)
            for name in ["\(stem) é", "\(stem.uppercased()) B", "\(stem) a"] {
                try await jane.send(DeuceDiary.CreateLocation(name: name))
            }
            let names = try await jane.client.locations().map(\.name).filter { $0.lowercased().hasPrefix(stem) }
            try expect(
                names, equals: ["\(stem) a", "\(stem.uppercased()) B", "\(stem) Grandma's", "\(stem) é"])
        },
        Scenario("A location's name has 1 to 100 characters and looks like no other", clause: "POST /api/locations") {
            world, john, jane in
            let stem = world.freshName()
            for name in ["", " ", "\n\t", "\u{200B}\u{2800}\u{FE0F}"] {
                try await john.post("/api/locations", ["name": .string(name)])
                    .refused(400, "Location name is required", name.debugDescription)
            }
            try await john.post("/api/locations").refused(400, "Location name is required")
            try await john.post("/api/locations", ["name": .string(String(repeating: "x", count: 101))])
                .refused(400, "Location name must be 100 characters or less")
            let full = stem.padding(toLength: 100, withPad: "é", startingAt: 0)
            try await john.post("/api/locations", ["name": .string(" \(full) ")]).succeeded()
            for name in ["Ho\u{200B}me", "\u{202E}emoH", "Ho\u{7}me", "Home\u{3164}"] {
                try await john.post("/api/locations", ["name": .string(name)])
                    .refused(400, "Location name contains invalid characters", name.debugDescription)
            }
            for name in ["Home", "hOME", " home ", "Ｈome", "Ho\u{34F}me", full, full.uppercased()] {
                try await jane.post("/api/locations", ["name": .string(name)])
                    .refused(400, "Location already exists", name)
            }
            let answers = try await together(20) { index in
                try await (index.isMultiple(of: 2) ? john : jane).post("/api/locations", ["name": .string(stem)])
            }
            try expect(answers.filter { $0.status == 200 }.count, equals: 1)
            for answer in answers where answer.status != 200 { try answer.refused(400, "Location already exists") }
        },
        Scenario("A user adds a hundred locations and no more", clause: "POST /api/locations") { world, john, jane in
            let stem = world.freshName()
            let answers = try await together(110) { index in
                try await john.post("/api/locations", ["name": .string("\(stem) \(index)")])
            }
            try expect(answers.filter { $0.status == 200 }.count, equals: 100)
            for answer in answers where answer.status != 200 { try answer.refused(400, "Location limit reached") }
            try await john.post("/api/locations", ["name": "Home"]).refused(400, "Location already exists")
            try await jane.send(DeuceDiary.CreateLocation(name: "\(stem) Jane"))
        },
        Scenario("Locations are read in pages", clause: "GET /api/locations") { world in
            let all = try await world.raw.send(.get, "/api/locations").succeeded().elements
            let first = try await world.raw.send(.get, "/api/locations?limit=3").succeeded().elements
            let second = try await world.raw.send(.get, "/api/locations?limit=3&page=2").succeeded().elements
            try expect(first + second, equals: Array(all.prefix(6)))
            try expect(
                try await world.raw.send(.get, "/api/locations?limit=1000&page=99").succeeded(), equals: [])
            for query in ["limit=0", "limit=x", "limit=-1", "page=0", "page=x", "page=-3"] {
                try await world.raw.send(.get, "/api/locations?\(query)").refused(400, "Invalid limit", query)
            }
        },
        Scenario("Logging at a new place adds it to the list first", clause: "POST /api/locations") { world, john in
            let group = try await john.group()
            let place = "\(world.freshName()) Grandma's House"
            for _ in 0..<2 {
                let logged = try await john.client.log(.init(groups: [group], location: " \(place)", thoughts: ""))
                try expect(logged.entries[0].location, equals: place)
            }
            let list = try await john.client.locations(refresh: true)
            try expect(list.filter { $0.name == place }.map(\.createdBy), equals: [john.id])
        },
    ]
}
