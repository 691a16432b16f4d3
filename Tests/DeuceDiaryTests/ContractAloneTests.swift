import ContractCheck
import ContractClient
import DeuceDiaryCheck
import Foundation
import HTTPTypes
import Testbed
import Testing

/// A server that implements only the published contract, without this project's additions and with its own error texts
/// where the document has none, passes exactly the scenarios that are marked as the contract's own.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryContractAloneTests {
    @Test func passesTheContractAndNoMore() async throws {
        try await withDeuceDiary(on: Stack(.sqlite, .inProcess), clock: TestClock(step: 20)) { host in
            let transport = DefectiveTransport(base: host.transport, defect: Self.defect, hasShown: Traces(false))
            var server = Server(
                baseURL: host.baseURL, transport: transport, sockets: host.sockets, level: .contract)
            let checklist = DeuceDiaryScenarios.checklist(host.tokens)
            let checker = Checker(checklist, parallel: 2, limit: .seconds(600))
            try await checker.reach(server)
            let report = await checker.run(checklist.items, on: server)
            #expect(report.failed == 0, "\(report.text)")
            #expect(report.passed == DeuceDiaryScenarios.all.filter { $0.level == .contract }.count)
            // Every operation of the document has a scenario, and so has the socket.
            #expect(report.clauses.filter { $0.passed > 0 }.count == 17)

            server.level = .addition
            let items = checklist.items(matching: ["under one key", "read in pages"])
            let whole = await Checker(checklist, parallel: 2, limit: .seconds(10)).run(items, on: server)
            #expect(whole.passed == 0, "\(whole.text)")
        }
    }

    private static let defect = Defect(exchange: { request, forward in
        var request = request
        request.headers[.idempotencyKey] = nil
        let text = request.url.absoluteString
        if let plain = URL(string: String(text.prefix { $0 != "?" })) { request.url = plain }
        var response = try await forward(request)
        if response.status.code >= 400 { response.body = Array(#"{"message":"no"}"#.utf8) }
        if response.status == .found { response.status = .temporaryRedirect }
        return response
    })
}
