import Contract
import Database
import Foundation
import MessengerCheck
import MessengerClient
import MessengerService
import MessengerTestHost
import Testbed
import Testing

// What the tests of notifications share.

extension APNsStandIn.Push {
    /// The notification as an app receives it.
    var userInfo: [AnyHashable: Any] {
        get throws {
            let object = try JSONSerialization.jsonObject(with: Data(payload.description.utf8))
            return try #require(object as? [String: Any])
        }
    }
}

extension Person {
    /// Registers a new device by the SDK.
    func register() async throws -> Messenger.Device {
        let token = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
        let device = try await client.registerDevice(token: token, environment: .sandbox)
        #expect(device.token == token.map { String(format: "%02x", $0) }.joined())
        return device
    }
}

extension MessengerHost {
    /// The number of jobs in the queue.
    var jobs: Int {
        get async throws { try await database.read { try $0.value("SELECT COUNT(*) FROM outbox") ?? -1 } }
    }

    /// Returns when every notification has been sent or given up.
    func drain() async throws {
        try await until { try await jobs == 0 }
    }

    /// Returns when as many jobs wait for their next attempt.
    func untilJobsWait(_ count: Int = 1) async throws {
        let now = clock.source.milliseconds()
        // A job that is being delivered is due again when its node's reservation ends.
        try await until {
            try await database.read { db in
                try db.value(
                    "SELECT COUNT(*) FROM outbox WHERE attempts > 0 AND due_at > \(now) AND due_at <> \(now + 60_000)")
                    ?? 0
            } >= count
        }
    }

    /// Returns when every job waits for its next attempt.
    func untilNoJobIsDelivered() async throws {
        let now = clock.source.milliseconds()
        try await until {
            try await database.read { db in
                try db.value("SELECT COUNT(*) FROM outbox WHERE due_at <= \(now) OR due_at = \(now + 60_000)") ?? 0
            } == 0
        }
    }

    /// Returns when the server has noticed that all sockets are closed.
    func untilNobodyListens(to chat: Messenger.Chat.ID) async throws {
        try await until { try await service.listeners(to: chat).isEmpty }
    }

    /// Waits for a condition, at most ten minutes.
    private func until(_ condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(600)
        while try await !condition() {
            try #require(.now < end, "what the test waits for does not happen")
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
