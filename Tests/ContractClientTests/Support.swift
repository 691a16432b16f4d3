import Contract
import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers

/// An API for these tests.
enum Sample: ServiceAPI {
    static let name = "sample"
    static let errorMessages = ErrorMessages()
    static let sections = [
        Section([
            GetThing.self, PutThing.self, DeleteThing.self, AddThing.self, Act.self, Patch.self, Follow.self,
            AddFile.self, FindThings.self,
        ])
    ]

    struct Failure: WireFailure {
        let error: String
        init(_ problem: Problem, requestID: String) { error = problem.message }
        var message: String { error }
    }

    struct Thing: Codable, Hashable, Sendable {
        var name: String
    }

    /// An operation that needs a caller.
    struct GetThing: AuthenticatedEndpoint {
        typealias API = Sample
        static let route = Route.get("/things/{id}")
        typealias Output = Thing
        var id: String
        var note: String?
    }

    /// An operation with a literal where another path has a parameter.
    struct FindThings: AuthenticatedEndpoint {
        typealias API = Sample
        static let route = Route.get("/things/find")
        typealias Output = [Thing]
        var name: String
    }

    struct PutThing: OpenEndpoint {
        typealias API = Sample
        static let route = Route.put("/things/{id}")
        typealias Output = Thing
        var id: Int
        var name: String
    }

    struct DeleteThing: OpenEndpoint {
        typealias API = Sample
        static let route = Route.delete("/things/{id}", .noContent)
        typealias Output = Empty
        var id: Int
    }

    /// An operation that honours idempotency keys.
    struct AddThing: AuthenticatedEndpoint {
        typealias API = Sample
        static let route = Route.post("/things", .created, idempotencyKey: true)
        typealias Output = Thing
        var name: String

        func validate() throws(Problem) {
            guard !name.isEmpty else { throw Problem(.badRequest, "name required") }
        }
    }

    /// An operation without idempotency keys.
    struct Act: AuthenticatedEndpoint {
        typealias API = Sample
        static let route = Route.post("/act")
        typealias Output = Thing
        var name: String
    }

    struct Patch: OpenEndpoint {
        typealias API = Sample
        static let route = Route.patch("/things/{id}")
        typealias Output = Thing
        var id: Int
    }

    /// An operation that answers with a redirect.
    struct Follow: OpenEndpoint {
        typealias API = Sample
        static let route = Route.get("/things/{id}/file", .found)
        typealias Output = Empty
        var id: Int
    }

    struct AddFile: OpenEndpoint {
        typealias API = Sample
        static let route = Route.post(
            "/files", .created,
            in: .multipart(UploadRules(field: "file", maximumSize: 10_000_000, missing: "No file", tooLarge: "Large")),
            idempotencyKey: true)
        typealias Output = Thing
        var caption: String
        var file: Upload
    }
}

// MARK: A scripted network

/// A transport that answers from a script, one step for each request, and records the requests.
final class ScriptedTransport: Transport {
    typealias Step = @Sendable (TransportRequest) async throws -> TransportResponse

    /// The script has ended, but another request came.
    struct Exhausted: Error {}

    private let state: NIOLockedValueBox<(steps: [Step], requests: [TransportRequest])>

    init(_ steps: Step...) { state = NIOLockedValueBox((steps, [])) }

    var requests: [TransportRequest] { state.withLockedValue { $0.requests } }

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let step: Step? = state.withLockedValue { state in
            state.requests.append(request)
            return state.steps.isEmpty ? nil : state.steps.removeFirst()
        }
        guard let step else { throw Exhausted() }
        return try await step(request)
    }
}

/// Returns a step that answers.
func answer(
    _ status: HTTPResponse.Status, _ body: String = #"{"name":"thing"}"#, headers: HTTPFields = [:]
) -> ScriptedTransport.Step {
    { _ in TransportResponse(status: status, headers: headers, body: Array(body.utf8)) }
}

/// Returns a step that fails as a network does.
func failure(_ error: any Error) -> ScriptedTransport.Step { { _ in throw error } }

let offline = failure(URLError(.notConnectedToInternet))

// MARK: Simulated waits

/// Records the requested waits, and returns at once.
final class Waits: Sendable {
    private let durations = NIOLockedValueBox<[Duration]>([])

    var all: [Duration] { durations.withLockedValue { $0 } }

    /// - Parameter random: The value of every random number.
    func retry(attempts: Int = 3, cap: Duration = .seconds(20), random: Double = 1) -> Retry {
        Retry(
            attempts: attempts, base: .milliseconds(500), cap: cap,
            sleep: { duration in self.durations.withLockedValue { $0.append(duration) } }, random: { random })
    }
}

// MARK: Tokens

let start = Date(timeIntervalSince1970: 1_771_840_800)

/// Returns tokens whose access token expires after a number of seconds.
func tokens(
    _ access: String, refresh: String = "refresh", expiresIn seconds: TimeInterval = 3600, user: String = "7"
) -> StoredTokens {
    StoredTokens(
        accessToken: access, refreshToken: refresh, expiresAt: start.addingTimeInterval(seconds), user: user)
}

/// A token store that records all saved tokens.
actor RecordingStore: TokenStore {
    struct Broken: Error {}

    private(set) var kept: StoredTokens?
    private(set) var saves: [StoredTokens?] = []
    private(set) var loads = 0
    private var isBroken: Bool
    private var beforeLoading: (@Sendable () async -> Void)?
    private var beforeSaving: (@Sendable (StoredTokens?) async -> Void)?

    init(_ kept: StoredTokens? = nil, isBroken: Bool = false) {
        self.kept = kept
        self.isBroken = isBroken
    }

    func load() async throws -> StoredTokens? {
        await beforeLoading?()
        loads += 1
        if isBroken { throw Broken() }
        return kept
    }

    func save(_ tokens: StoredTokens?) async throws {
        await beforeSaving?(tokens)
        if isBroken { throw Broken() }
        saves.append(tokens)
        kept = tokens
    }

    func breakDown() { isBroken = true }
    func repair() { isBroken = false }

    /// Changes the stored tokens as another process would.
    func put(_ tokens: StoredTokens?) { kept = tokens }

    /// Sets an action that runs before each load.
    func beforeLoading(_ action: @escaping @Sendable () async -> Void) { beforeLoading = action }

    /// Sets an action that runs before each save.
    func before(_ action: @escaping @Sendable (StoredTokens?) async -> Void) { beforeSaving = action }
}

/// A gate that holds tasks back until it is opened.
actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var arrived = 0
    private var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    /// Waits until the gate is open.
    func pass() async {
        arrived += 1
        watchers.removeAll { watcher in
            guard watcher.count <= arrived else { return false }
            watcher.continuation.resume()
            return true
        }
        if isOpen { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    /// Waits until this number of tasks has come to the gate.
    func arrivals(_ count: Int = 1) async {
        if arrived >= count { return }
        await withCheckedContinuation { watchers.append((count, $0)) }
    }
}
