import ContractCheck
import ContractClient
import MessengerCheck
import NIOConcurrencyHelpers
import Testbed
import Testing

/// A check from another machine waits when the server limits its registrations.
@Suite(.timeLimit(.minutes(30))) struct LimitedRunTests {
    @Test func aRunWaitsAsLongAsTheServerAsks() async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess), peer: "203.0.113.1") { host in
            let checklist = MessengerScenarios.checklist
            let (clock, waits) = (host.clock, NIOLockedValueBox<[Int]>([]))
            let slept = NIOLockedValueBox(Duration.zero)
            let passed = NIOLockedValueBox<[ContinuousClock.Instant]>([])
            let checker = Checker(
                checklist,
                sleep: { until in
                    // Many scenarios wait for the same moment, to which the server's clock moves once.
                    passed.withLockedValue { passed in
                        guard passed.last != until else { return }
                        let duration = until - .now
                        slept.withLockedValue { $0 += duration }
                        clock.advance(by: duration + .milliseconds(1))
                        passed.append(until)
                    }
                })
            let transport = CountingTransport(base: host.transport)
            let server = Server(baseURL: host.baseURL, transport: transport, sockets: host.sockets)
            let report = await checker.run(checklist.items(matching: ["GET /users"]), on: server) { progress in
                if case .waiting(let seconds) = progress { waits.withLockedValue { $0.append(seconds) } }
            }
            #expect(report.failed == 0, "\(report.text)")
            let users = transport.registrations.withLockedValue { $0 }
            #expect(users > 40)
            // The accounts of scenarios that have passed are deleted.
            #expect(report.leftBehind.isEmpty, "\(report.leftBehind)")
            // There is a minute for every twenty registrations except the first twenty.
            #expect(slept.withLockedValue { $0 } >= .seconds(59 * ((users - 1) / 20)))
            #expect(waits.withLockedValue { $0 }.first == 60)
        }
    }
}

/// Counts the accounts that are registered.
private struct CountingTransport: Transport {
    let base: any Transport
    let registrations = NIOLockedValueBox(0)

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let response = try await base.send(request, progress: progress)
        if request.url.path.hasSuffix("/auth/register"), response.status == .created {
            registrations.withLockedValue { $0 += 1 }
        }
        return response
    }
}
