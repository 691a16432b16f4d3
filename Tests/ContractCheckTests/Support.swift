import ContractCheck
import ContractClient
import Foundation
import HTTPTypes

/// A server that is a closure.
struct ScriptedTransport: Transport {
    let answer: @Sendable (TransportRequest) throws -> TransportResponse

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        try answer(request)
    }
}

/// A socket transport that no scenario uses.
struct NoSockets: SocketTransport {
    func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
        throw SocketRefused(status: 404, body: [])
    }
}

extension TransportResponse {
    static func json(_ status: Int, _ text: String, headers: HTTPFields = [:]) -> TransportResponse {
        var headers = headers
        headers[.contentType] = "application/json"
        return TransportResponse(status: .init(code: status), headers: headers, body: Array(text.utf8))
    }
}

extension Server {
    /// Returns a server that answers every request with 401, unless a script says otherwise.
    static func scripted(
        level: Level = .addition,
        _ answer: @escaping @Sendable (TransportRequest) throws -> TransportResponse = { _ in .json(401, "{}") }
    ) -> Server {
        Server(
            baseURL: URL(string: "http://test")!, transport: ScriptedTransport(answer: answer), sockets: NoSockets(),
            level: level)
    }
}

extension Checklist {
    /// Returns a checklist whose scenarios use the server directly.
    static func plain(
        _ scenarios: [Scenario<Server>], cleanUp: @escaping CleanUp = { [:] }
    ) -> Checklist {
        Checklist(
            api: "test", scenarios: scenarios, probe: "/probe", isLimited: { $0.url.path == "/limited" },
            enter: { ($0, cleanUp) })
    }
}

extension Server {
    func get(_ path: String) async throws -> RawAnswer {
        try await RawClient(baseURL: baseURL, transport: transport).send(.get, path)
    }
}
