import Contract
import ContractCheck
import ContractClient
import GTSDCheck
import GTSDClient
import Testbed
import Testing

/// A user's days are those of the zone files of the server's machine.
@Suite(.timeLimit(.minutes(30))) struct GTSDZoneTests {
    /// Runs a test on a server whose zone files say that Vancouver keeps summer time, and that there is a place on Mars.
    private func withZones(at time: String, _ body: (GTSDHost) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try MadeZoneFile(offsets: [0]).write(as: "UTC", in: folder)
            try MadeZoneFile(offsets: [-25_200], footer: "<-07>7").write(as: "America/Vancouver", in: folder)
            try MadeZoneFile(offsets: [37], footer: "<+15>-15").write(as: "Mars/Olympus", in: folder)
            try await withGTSD(on: Stack(.sqlite, .inProcess), clock: TestClock(at: time), zones: folder, body)
        }
    }

    /// The zones that came with the program say that it is still the 27th there.
    @Test(arguments: [
        ("America/Vancouver", "2026-11-28T07:30:00Z", "2026-11-28"),
        ("America/Vancouver", "2026-11-28T06:30:00Z", "2026-11-27"),
        ("Mars/Olympus", "2026-11-28T09:00:00Z", "2026-11-29"),
    ])
    func theFileDecidesTheDay(_ zone: String, _ now: String, _ today: String) async throws {
        try await withZones(at: now) { host in
            let anna = try await host.world().person(in: zone)
            let tasks = try await anna.tasks()
            #expect(!tasks.isEmpty && tasks.allSatisfy { $0.dueDate == day(today) })
        }
    }

    @Test func aZoneWithoutAFileIsRefused() async throws {
        try await withZones(at: "2026-11-28T07:30:00Z") { host in
            let error = await #expect(throws: APIError.self) { try await host.world().person(in: "Europe/Berlin") }
            #expect(error?.status == .badRequest && error?.message == "Validation failed: timezone: Invalid timezone")
            let anna = try await host.world().person(in: "America/Vancouver")
            var request = Person.body
            request.timezone = "Europe/Berlin"
            let refused = await #expect(throws: APIError.self) { try await anna.client.send(request) }
            #expect(refused?.message == "Validation failed: timezone: Invalid timezone")
        }
    }
}
