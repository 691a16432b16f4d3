import Contract
import ContractClient
import Foundation

/// The resources that a scenario has made on a server, to be removed at its end.
public protocol MadeResources: Actor {
    /// Notes the resources that a request has made or removed.
    func note(_ answer: RawAnswer)

    /// Removes what the API can remove.
    ///
    /// - Parameters:
    ///   - raw: A client of the server. Its answers are noted as well.
    ///   - hasFailed: Whether the scenario has failed. What the commands that repeat it need may stay then.
    func cleanUp(_ raw: RawClient, hasFailed: Bool) async -> Checklist.Remaining

    /// Whether a request runs to its end even if the scenario is cancelled, because nothing else tells what it makes.
    nonisolated func mustEnd(_ request: TransportRequest) -> Bool
}

extension MadeResources {
    nonisolated public func mustEnd(_ request: TransportRequest) -> Bool { false }
}

/// Passes requests on, and has their answers noted.
private struct NotingTransport: Transport {
    let base: any Transport
    let made: any MadeResources

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let response =
            made.mustEnd(request)
            ? try await Task { try await base.send(request, progress: progress) }.value
            : try await base.send(request, progress: progress)
        await made.note(RawAnswer(request: request, response: response) { _, _ in .null })
        return response
    }
}

extension Checklist {
    /// Creates a checklist whose scenarios remove what they have made.
    ///
    /// - Parameters:
    ///   - tokens: The tokens that the run was given. A report shows variables of a shell in their place.
    ///   - made: Creates the list of one scenario's resources, empty.
    ///   - enter: Creates the world of one scenario.
    public init<World>(
        api: String, scenarios: [Scenario<World>], probe: String, tokens: [String] = [],
        isLimited: @escaping @Sendable (TransportRequest) -> Bool,
        noting made: @escaping @Sendable () -> any MadeResources,
        enter: @escaping @Sendable (Server) -> World
    ) {
        self.init(
            api: api, scenarios: scenarios, probe: probe, tokens: tokens, isLimited: isLimited,
            entering: { server in
                let made = made()
                var noted = server
                noted.transport = NotingTransport(base: server.transport, made: made)
                let raw = RawClient(baseURL: server.baseURL, transport: noted.transport)
                return (enter(noted), { await made.cleanUp(raw, hasFailed: $0) })
            })
    }
}

extension RawAnswer {
    /// The JSON that was sent.
    public var sent: JSONValue? {
        guard case .bytes(let bytes) = request.body else { return nil }
        return try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))
    }
}
