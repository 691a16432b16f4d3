@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import Foundation
import HTTPTypes
import MessengerClient

/// Scenarios of devices. No request shows that they are notified.
extension MessengerScenarios {
    private static let notFound = "Device not found"

    static let devices: [Scenario<MessengerWorld>] = [
        Scenario("A device is registered with its token, and removed", clause: "POST /devices") { world, alice, bob in
            for environment in ["production", "sandbox"] as [JSONValue] {
                let token = world.freshDeviceToken()
                let body: JSONValue = ["token": .string(token.uppercased()), "environment": environment, "id": 7]
                let device = try await alice.post("/devices", body).succeeded(201)
                guard case .object(let members) = device, let id = members["id"]?.integer else {
                    throw CheckFailure("no id")
                }
                try expect(Set(members.keys), equals: ["id", "token", "environment"])
                try expect(members["token"], equals: .string(token))
                try expect(members["environment"], equals: environment)
                // Other users cannot remove the device, and do not learn that it exists.
                try await bob.raw(.delete, "/devices/\(id)").refused(404, notFound)
                try await world.raw.send(.delete, "/devices/\(id)").refused(401, "Missing Authorization header")
                try await alice.removeDevice(device).removed()
                try await alice.raw(.delete, "/devices/\(id)").refused(404, notFound)
            }
            for id in ["0", "9223372036854775807"] {
                try await alice.raw(.delete, "/devices/\(id)").refused(404, notFound, id)
            }
            try await alice.raw(.delete, "/devices/x").refused(404, "Not found")
        },
        Scenario("A known token is answered with 200, and moves to the caller", clause: "POST /devices") {
            world, alice, bob in
            let token = world.freshDeviceToken()
            let first = try await alice.register(token).succeeded(201)
            try expect(try await alice.register(token.uppercased()).succeeded(200), equals: first)
            let sandbox = try await alice.register(token, "sandbox").succeeded(200)
            try expect(sandbox["id"], equals: first["id"])
            try expect(sandbox["environment"], equals: "sandbox")
            let moved = try await bob.register(token).succeeded(200)
            try expect(moved["token"], equals: .string(token))
            for id in Set([first["id"]?.integer, moved["id"]?.integer].compactMap(\.self)) {
                try await alice.raw(.delete, "/devices/\(id)").refused(404, notFound)
            }
            try await bob.removeDevice(moved).removed()
            // The device is unknown from now on.
            try await alice.register(token).succeeded(201)
        },
        Scenario("Many registrations of a token at once are one device", clause: "POST /devices") { world, alice, bob in
            let token = world.freshDeviceToken()
            let answers = try await together(20, width: 20) { index in
                try await (index.isMultiple(of: 2) ? alice : bob).register(token)
            }
            try expect(answers.filter { $0.status == 201 }.count, equals: 1)
            try expect(answers.filter { $0.status == 200 }.count, equals: 19)
            let ids = Set(try answers.map { try $0.json()["id"] })
            try expect(ids.count == 1, "ids \(ids)")
            guard let device = try answers.first?.json() else { throw CheckFailure("no answer") }
            let removals = [
                try await alice.removeDevice(device).status, try await bob.removeDevice(device).status,
            ]
            try expect(Set(removals), equals: [204, 404])
        },
        Scenario("A device goes with its session, and another session's stays", clause: "POST /devices") {
            world, alice in
            let other = try await world.signedIn(alice.name, alice.password)
            let gone = try await alice.register(world.freshDeviceToken()).succeeded(201)
            let moved = world.freshDeviceToken()
            try await alice.register(moved).succeeded(201)
            let kept = try await other.register(moved).succeeded(200)
            try await alice.client.signOut()
            try await other.removeDevice(gone).refused(404, notFound)
            try await other.removeDevice(kept).removed()
        },
        Scenario("A device goes with its account", clause: "POST /devices") { world, alice, bob in
            let token = world.freshDeviceToken()
            try await alice.register(token).succeeded(201)
            try await alice.client.deleteAccount(password: alice.password)
            try await bob.register(token).succeeded(201)
        },
        Scenario("The one that was registered first goes when there are more than twenty", clause: "POST /devices") {
            world, alice, bob in
            let others = try await bob.register(world.freshDeviceToken()).succeeded(201)
            let first = world.freshDeviceToken()
            var kept = [try await alice.register(first).succeeded(201)]
            let oldest = try await alice.register(world.freshDeviceToken()).succeeded(201)
            for _ in 2..<20 { kept.append(try await alice.register(world.freshDeviceToken()).succeeded(201)) }
            // The first is registered again, so the second is the oldest now.
            try await alice.register(first).succeeded(200)
            kept.append(try await alice.register(world.freshDeviceToken()).succeeded(201))
            try await alice.removeDevice(oldest).refused(404, notFound)
            for (index, device) in kept.enumerated() {
                try await alice.removeDevice(device).removed("device \(index)")
            }
            try await bob.removeDevice(others).removed()
        },
        Scenario("A device has a token and an environment", clause: "POST /devices") { world, alice in
            let (token, environment) = (
                "token must be 2 to 200 hexadecimal digits", "environment must be 'production' or 'sandbox'"
            )
            func digits(_ count: Int) -> JSONValue {
                let fresh = world.freshDeviceToken()
                return .string(String(String(repeating: fresh, count: 4).prefix(count)))
            }
            let table: [(body: JSONValue, text: String)] = [
                ([:], token), (["environment": "sandbox"], token), (["token": nil, "environment": "sandbox"], token),
                (["token": 12, "environment": "sandbox"], token), (["token": "", "environment": "sandbox"], token),
                (["token": "abc", "environment": "sandbox"], token),
                (["token": "xy", "environment": "sandbox"], token), (["token": " ab ", "environment": ""], token),
                (["token": "é0", "environment": "sandbox"], token),
                (["token": digits(202), "environment": "sandbox"], token), (["token": digits(2)], environment),
                (["token": digits(64), "environment": nil], environment),
                (["token": digits(64), "environment": "Production"], environment),
                (["token": digits(64), "environment": 5], environment),
            ]
            for (body, text) in table { try await alice.post("/devices", body).refused(400, text, "\(body)") }
            try await alice.raw(.post, "/devices", body: "[]").refused(400, "Invalid JSON")
            try await world.post("/devices", [:]).refused(401, "Missing Authorization header")
            let longest = try await alice.post("/devices", ["token": digits(200), "environment": "sandbox"])
                .succeeded(201)
            try await alice.removeDevice(longest).removed()
        },
    ]
}

extension Person {
    /// Registers a device.
    fileprivate func register(_ token: String, _ environment: String = "production") async throws -> RawAnswer {
        try await post("/devices", ["token": .string(token), "environment": .string(environment)])
    }

    /// Removes a device that a registration has answered.
    fileprivate func removeDevice(_ device: JSONValue) async throws -> RawAnswer {
        try await raw(.delete, "/devices/\(device["id"]?.integer ?? 0)")
    }
}

extension RawAnswer {
    /// Fails unless this is the answer to a removal.
    fileprivate func removed(_ what: String = "") throws {
        guard status == 204, body.isEmpty else { throw CheckFailure("\(what) \(status) \(text)") }
    }
}
