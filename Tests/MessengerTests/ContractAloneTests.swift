import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerCheck
import Testbed
import Testing

/// A server that implements only the published contract, without this project's additions and with its own error texts
/// and statuses where the document has none, passes exactly the scenarios that are marked as the contract's own.
@Suite(.timeLimit(.minutes(30))) struct ContractAloneTests {
    @Test func passesTheContractAndNoMore() async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess), clock: TestClock(step: 20)) { host in
            let sockets = DefectiveSockets(base: host.sockets, defect: Self.defect, hasShown: Traces(false))
            defer { sockets.end() }
            let transport = DefectiveTransport(base: host.transport, defect: Self.defect, hasShown: Traces(false))
            var server = Server(baseURL: host.baseURL, transport: transport, sockets: sockets, level: .contract)
            let checklist = MessengerScenarios.checklist
            let checker = Checker(checklist, parallel: 2, limit: .seconds(600))
            try await checker.reach(server)
            let report = await checker.run(checklist.items, on: server)
            #expect(report.failed == 0, "\(report.text)")
            #expect(report.passed == MessengerScenarios.all.filter { $0.level == .contract }.count)
            // Every operation and section of the document has at least one scenario.
            #expect(report.clauses.filter { $0.passed > 0 }.count >= 17)

            // The scenarios for additions fail: the server's answers lack members.
            server.level = .addition
            let items = checklist.items(matching: ["GET /me", "/ws messages", "Idempotency-Key"])
            let whole = await Checker(checklist, parallel: 2, limit: .seconds(5)).run(items, on: server)
            #expect(whole.passed == 0, "\(whole.text)")
        }
    }

    private static let defect = Defect(
        exchange: { request, forward in
            var request = request
            request.headers[.idempotencyKey] = nil
            for name in ["after", "include"] { request.setQuery(name, nil) }
            let steps = request.url.path.split(separator: "/").map(String.init)
            let isAdded =
                [.put, .delete].contains(request.method)
                || !Set([
                    "logout", "members", "leave", "read", "receipts", "block", "blocks", "reports", "mute", "password",
                    "sessions", "email", "about",
                ])
                .isDisjoint(with: steps)
            let isMailed = ["forgot-password", "reset-password", "verify-email"].contains(steps.last)
            if isAdded || isMailed { return TransportResponse(status: .notFound) }
            if steps == ["chats"] { for name in ["limit", "before"] { request.setQuery(name, nil) } }
            var response = try await forward(request)
            for added in [#","file_id":(null|\d+)"#, #","avatar_file_id":(null|\d+)"#] {
                response.text = response.text.replacingOccurrences(of: added, with: "", options: .regularExpression)
            }
            response.headers[.cacheControl] = nil
            let written = ["Username must be 3–32 characters", "Username or email already taken"]
            if response.status.code >= 400, !written.contains(where: { response.isRefusal($0) }) {
                if response.status != .unauthorized { response.status = .unprocessableContent }
                response.text = #"{"error":"no"}"#
            }
            return response
        },
        socket: {
            SocketDefect(
                sent: { frame in
                    ([frame.replacingOccurrences(of: #","since":\d+"#, with: "", options: .regularExpression)], [])
                },
                received: { frame in
                    let plain = frame.replacingOccurrences(
                        of: #","file_id":(null|\d+)"#, with: "", options: .regularExpression)
                    let isWritten = frame.contains("Invalid or expired access token") || !frame.contains(#""error""#)
                    return [isWritten ? plain : #"{"type":"error","message":"no"}"#]
                },
                closed: { SocketClosed(code: 1000, reason: $0.reason) })
        })
}
