import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testbed
import Testing

/// `concord serve` stops when it is asked to, even if its database hangs.
@Suite(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), .timeLimit(.minutes(30)))
struct StopTests {
    private func signIn(_ port: Int) throws -> TransportRequest {
        var request = TransportRequest(
            method: .post, url: try #require(URL(string: "http://127.0.0.1:\(port)/auth/login")))
        request.headers[.contentType] = "application/json"
        request.body = .bytes(Array(#"{"username":"nobody","password":"12345678"}"#.utf8))
        return request
    }

    @Test func aDatabaseThatNeverAnswersDelaysNoRequestForLong() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await FaultyProxy.running(to: try #require(place.port)) { proxy in
                let port = try await reservePort()
                let process = try await ConcordProcess.serving(
                    data: place.folder + "/data", port: port,
                    environment: ["CONCORD_DATABASE": try #require(place.at(port: proxy.port).url)])
                let before = try await URLSessionTransport.patient.send(try signIn(port), progress: nil)
                #expect(before.status == .unauthorized)

                let asked = NIOLockedValueBox(0)
                proxy.setRule { direction, _ in
                    if direction == .toServer { asked.withLockedValue { $0 += 1 } }
                    return .delay(.hours(1))
                }
                let request = try signIn(port)
                let waiting = Task { try await URLSessionTransport.patient.send(request, progress: nil) }
                // The server has received the request, which waits for the database.
                while asked.withLockedValue({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(5)) }

                let told = ContinuousClock.now
                process.signal(SIGTERM)
                #expect(await process.status() == 0)
                // The documented limit is 30 s; this machine may be busy.
                #expect(ContinuousClock.now - told < .seconds(120))
                let errors = await process.standardError()
                #expect(!errors.contains("Fatal error"), "\(errors)")
                #expect(errors.contains("requests that still waited for a database were refused"), "\(errors)")
                #expect(try await waiting.value.status == .serviceUnavailable)
            }
        }
    }
}
