import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testing

/// Requests are logged without what is secret in them.
@Suite(.timeLimit(.minutes(30))) struct LoggingTransportTests {
    @Test func aLineShowsNoSecrets() async throws {
        let lines = NIOLockedValueBox<[String]>([])
        let scripted = ScriptedTransport(
            { _ in TransportResponse(status: .ok, body: Array(#"[{"name":"secret-5"}]"#.utf8)) },
            { _ in throw URLError(.networkConnectionLost) })
        let transport = LoggingTransport(scripted) { request in
            lines.withLockedValue { $0.append(request.description) }
        }
        let url = try #require(
            URL(string: "https://u:secret-1@sample.example:8443/things/7?signature=secret-2&limit=5"))
        let request = TransportRequest(
            method: .post, url: url, headers: [.authorization: "Bearer secret-3", .cookie: "session=secret-4"],
            body: .bytes(Array("secret-6".utf8)))
        _ = try await transport.send(request, progress: nil)
        await #expect(throws: URLError.self) { try await transport.send(request, progress: nil) }
        let logged = lines.withLockedValue { $0 }
        #expect(logged.count == 2)
        #expect(logged[0].hasPrefix("POST sample.example:8443/things/7?signature&limit 200 in "))
        #expect(logged[0].hasSuffix(" ms, 21 bytes"))
        #expect(logged[1].hasPrefix("POST sample.example:8443/things/7?signature&limit failed after "))
        #expect(!logged.joined().contains("secret"))
    }
}
