@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import GTSDClient
import GTSDExamples
import HTTPTypes

/// A GTSD server under test, and the users of the scenarios.
package struct GTSDWorld: PeopledWorld {
    package typealias API = GTSD
    /// What only a server's operator can see.
    package struct Operator: Sendable {
        /// Returns the texts of the e-mails to an address, in the order in which they were sent.
        package var emails: @Sendable (_ address: String) async throws -> [String]

        package init(emails: @escaping @Sendable (_ address: String) async throws -> [String]) { self.emails = emails }
    }

    package let server: ValidatedServer
    let `operator`: Operator?

    private static let shapes = WireShapes(GTSDExamples.all)

    /// Creates a world in which every answer is checked.
    ///
    /// - Parameter operator: The operator's functions; nil for a server of another operator.
    package init(_ server: Server, operator: Operator? = nil) {
        self.operator = `operator`
        self.server = ValidatedServer(server, Self.shapes) { problem, answer in
            let id = JSONValue.string(answer.headers[.requestID] ?? "nothing")
            return ["error": ["message": .string(problem.message), "requestId": id]]
        }
    }

    /// Returns an unused address: scenarios share a server.
    package func freshEmail(_ stem: String = "user") -> String {
        "\(stem)-\(UUID().uuidString.lowercased().prefix(12))@example.com"
    }

    /// Returns an SDK without a session.
    package func client(_ store: any TokenStore = MemoryTokenStore()) -> GTSDClient {
        GTSDClient(baseURL: baseURL, store: store, transport: transport, retry: .never)
    }

    /// Returns a new account, signed in.
    package func person() async throws -> Person { try await person(in: "UTC") }

    package func person(in timezone: String) async throws -> Person {
        let (email, store) = (freshEmail(), MemoryTokenStore())
        let client = client(store)
        let user = try await client.signUp(email: email, password: Person.password, timezone: timezone)
        guard let tokens = await store.load() else { throw CheckFailure("the SDK kept no tokens") }
        return Person(
            id: user.id, email: email, token: tokens.accessToken, refreshToken: tokens.refreshToken, client: client,
            world: self)
    }
}

extension GTSDWorld: MailedWorld {
    package var sentEmails: (@Sendable (_ address: String) async throws -> [String])? { `operator`?.emails }
}

/// An account, with an SDK that is signed in to it.
package struct Person: Requester {
    /// The password of all accounts.
    package static let password = "Secret-123"

    package let id: GTSD.User.ID
    package let email: String
    /// An access token for raw requests.
    package let token: String
    package let refreshToken: String
    package let client: GTSDClient
    let world: GTSDWorld
    package var raw: RawClient { world.raw.signed(token: token) }

    @discardableResult
    package func send<E: Contract.Endpoint, Value>(_ request: E) async throws -> Value
    where E.API == GTSD, E.Output == APIResponse<Value> {
        try await client.send(request).data
    }

    /// Returns all tasks of a day.
    package func tasks(on day: Day? = nil) async throws -> [GTSD.Task] {
        try await send(GTSD.ListTasks(date: day)).tasks
    }

    /// Submits evidence for a task.
    @discardableResult
    package func prove(_ task: GTSD.Task, _ text: String = "Done.") async throws -> GTSD.SubmittedEvidence {
        try await send(GTSD.SubmitEvidence(taskId: task.id, type: .textLog, data: .init(text: text)))
    }

    package func streak() async throws -> GTSD.StreakStatus { try await send(GTSD.GetStreak()) }

    /// The profile that the scenarios of plans begin with: of a person who was born on 1990-01-15.
    package static let body = GTSD.CompleteOnboarding(
        dateOfBirth: Day(daysSince1970: 7319), gender: .male, primaryGoal: .loseWeight, currentWeight: 80,
        targetWeight: 75,
        height: 180, activityLevel: .moderatelyActive)

    /// Puts a photo into the store without confirming it.
    package func put(
        _ bytes: [UInt8], as name: String = "front.jpg", type: String = "image/jpeg"
    ) async throws -> GTSD.PresignedUpload {
        let place: GTSD.PresignedUpload = try await send(
            GTSD.PresignPhoto(fileName: name, contentType: type, fileSize: bytes.count))
        try expect(try await fetch(place.uploadUrl, .put, bytes: bytes).status, equals: 200)
        return place
    }
}

extension RawAnswer {
    /// Fails unless fields are refused, with this text after "Validation failed: ".
    func invalid(
        _ text: String, _ what: @autoclosure () -> String = "", line: UInt = #line, file: StaticString = #fileID
    ) throws {
        try refused(400, "Validation failed: " + text, what(), line: line, file: file)
    }

    /// Fails unless this is a success.
    ///
    /// - Returns: The data of the envelope.
    @discardableResult
    package func data(
        _ status: Int = 200, _ what: @autoclosure () -> String = "", line: UInt = #line, file: StaticString = #fileID
    ) throws -> JSONValue {
        let json = try succeeded(status, what(), line: line, file: file)
        try ContractCheck.expect(json["success"], equals: true, line: line, file: file)
        return json["data"] ?? .null
    }

    /// The values of `X-RateLimit-*`.
    var limit: RateLimit? { RateLimit(headers) }
}

/// The contract as scenarios, one list for each section.
package enum GTSDScenarios {
    package static var all: [Scenario<GTSDWorld>] {
        errors + auth + archive + sessions + sessionLists + profiles + passwords + tasks + evidence + photos + streaks
            + plans
            + limits + idempotency + authorisation
            + recovery + agreement + AboutScenarios.all()
    }

    /// The scenarios that need the server's operator.
    package static var operated: [Scenario<GTSDWorld>] { mailed }
}
