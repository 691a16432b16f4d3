import Contract
import ContractClient
import ContractMocks
import Foundation
import GTSDClient
import GTSDMocks
import HTTPTypes
import NIOConcurrencyHelpers
import Testbed
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The contract's testing checklist passes line by line, as an app sees it through the SDK.
@Suite(.timeLimit(.minutes(30))) struct GTSDChecklistTests {
    /// A transport that answers every request with one body.
    struct Canned: Transport {
        var status = HTTPResponse.Status.ok
        var headers: HTTPFields = [.contentType: "application/json"]
        let body: String

        func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
            TransportResponse(status: status, headers: headers, body: Array(body.utf8))
        }
    }

    private func client(_ transport: any Transport) -> GTSDClient {
        let tokens = StoredTokens(accessToken: "a", refreshToken: "r", expiresAt: .distantFuture, user: "1")
        return GTSDClient(
            baseURL: URL(string: "https://gtsd.example")!, store: MemoryTokenStore(tokens), transport: transport,
            retry: .never)
    }

    private func answer<E: Contract.Endpoint>(to request: E, _ body: String) async throws -> E.Output
    where E.API == GTSD {
        try await client(Canned(body: body)).send(request)
    }

    private func refusal(_ status: HTTPResponse.Status, _ body: String, _ headers: HTTPFields = [:]) async throws
        -> APIError
    {
        let client = client(Canned(status: status, headers: headers, body: body))
        // An operation with a session would not do: after a 401 it would ask for another token.
        let error = await #expect(throws: APIError.self) {
            try await client.send(GTSD.LogIn(email: "a@b.cd", password: "x"))
        }
        return try #require(error)
    }

    private static let task = """
        "id": 1, "type": "cardio", "title": "t", "description": "d", "dueDate": "2025-10-26", "completed": false
        """

    // MARK: Success Response Tests

    @Test func parseValidSuccessResponseWithAllFields() async throws {
        let response = try await answer(
            to: GTSD.ListTasks(),
            """
            {"success": true, "data": {"totalTasks": 1, "completedTasks": 1, "tasks": [{\(Self.task),
             "completedAt": "2025-10-26T10:00:00Z",
             "evidence": {"id": 2, "type": "metrics", "data": {"metrics": {"kg": 80.5}}, "notes": "n"}}]},
             "cached": false, "message": "hello"}
            """)
        #expect(response.success)
        #expect(response.cached == false)
        #expect(response.message == "hello")
        #expect(response.data.tasks[0].evidence?.data.metrics == ["kg": 80.5])
        #expect(response.data.tasks[0].evidence?.notes == "n")
    }

    @Test func parseSuccessResponseWithOptionalFieldsAsNull() async throws {
        let response = try await answer(
            to: GTSD.ListTasks(),
            """
            {"success": true, "data": {"totalTasks": 1, "completedTasks": 0,
             "tasks": [{\(Self.task), "completedAt": null, "evidence": null}]}, "cached": null, "message": null}
            """)
        #expect(response.data.tasks[0].completedAt == nil)
        #expect(response.data.tasks[0].evidence == nil)
        #expect(response.cached == nil)
    }

    @Test func parseSuccessResponseWithMissingOptionalFields() async throws {
        let response = try await answer(
            to: GTSD.ListTasks(),
            #"{"success": true, "data": {"totalTasks": 1, "completedTasks": 0, "tasks": [{\#(Self.task)}]}}"#)
        #expect(response.data.tasks[0].completedAt == nil)
        #expect(response.data.tasks[0].evidence == nil)
        #expect(response.cached == nil)
    }

    @Test func validateTypeSafetyOfGenericDataPayload() async throws {
        await #expect(throws: UnreadableAnswer.self) {
            try await answer(to: GTSD.ListTasks(), #"{"success": true, "data": {"totalTasks": "one"}}"#)
        }
        let data: GTSD.RefreshedTokens = try await answer(
            to: GTSD.Refresh(refreshToken: "r"),
            #"{"success": true, "data": {"accessToken": "a", "refreshToken": "b"}}"#
        ).data
        #expect(data.refreshToken == "b")
    }

    // MARK: Error Response Tests

    @Test(arguments: [
        (400, "Validation failed: email: Invalid email format, password: Password must be at least 8 characters"),
        (401, "Invalid or expired token"), (403, "Invalid file key: does not belong to authenticated user"),
        (404, "Task 123 not found or does not belong to user"),
        (429, "Too many presign requests, please try again later"),
        (500, "Failed to create user: Database connection error"),
    ])
    func parseError(_ status: Int, _ message: String) async throws {
        let id = "550e8400-e29b-41d4-a716-446655440000"
        let error = try await refusal(
            .init(code: status), #"{"error": {"message": "\#(message)", "requestId": "\#(id)"}}"#, [.requestID: id])
        #expect(error.status.code == status)
        #expect(error.message == message)
        #expect(error.requestID == id)
        #expect(error.isFromAPI)
        #expect(error.gtsd?.message == message)
        #expect(error.gtsd?.requestId == id)
        #expect(error.gtsd?.stack == nil)
    }

    @Test func parseRateLimitErrorWithItsReset() async throws {
        let headers: HTTPFields = [.rateLimit: "20", .rateLimitRemaining: "0", .rateLimitReset: "1761472800"]
        for body in [#"{"error": {"message": "m", "requestId": "r"}}"#, "<html>slow down</html>", ""] {
            let error = try await refusal(.tooManyRequests, body, headers)
            #expect(error.status == .tooManyRequests)
            #expect(error.rateLimit?.limit == 20)
            #expect(error.rateLimit?.remaining == 0)
            #expect(error.rateLimit?.resetsAt == Date(timeIntervalSince1970: 1_761_472_800))
        }
    }

    @Test func handleDevelopmentStackTraceField() async throws {
        let error = try await refusal(
            .internalServerError,
            #"{"error": {"message": "m", "requestId": "r", "stack": "Error: ...\n    at ..."}}"#)
        #expect(error.gtsd?.stack == "Error: ...\n    at ...")
        #expect(error.message == "m")
    }

    // MARK: Edge Case Tests

    @Test func cachedResponse() async throws {
        let response = try await answer(
            to: GTSD.ListTasks(),
            #"{"success": true, "data": {"totalTasks": 0, "completedTasks": 0, "tasks": []}, "cached": true}"#)
        #expect(response.cached == true)
    }

    @Test(arguments: [
        #"{"success": true, "message": "Logged out successfully"}"#,
        #"{"success": true, "data": {}, "message": "Logged out successfully"}"#,
        #"{"success": true, "data": null, "message": "Logged out successfully"}"#,
    ])
    func messageOnlyResponse(_ body: String) async throws {
        let response = try await answer(to: GTSD.LogOut(refreshToken: "r"), body)
        #expect(response == .init(message: "Logged out successfully"))
    }

    @Test func emptyArraysInLists() async throws {
        let badges = try await answer(
            to: GTSD.ListBadges(),
            """
            {"success": true, "data": {"badges": [], "totalBadges": 0, "totalAvailable": 16, "completionPercentage": 0}}
            """)
        #expect(badges.data.badges.isEmpty)
        let photos = try await answer(
            to: GTSD.ListPhotos(),
            #"{"success": true, "data": {"photos": [], "pagination": {"limit": 50, "offset": 0, "total": 0}}}"#)
        #expect(photos.data.photos.isEmpty)
    }

    @Test func nullVersusMissingOptionalFields() async throws {
        let evidence = #""id": 456, "taskId": 123, "type": "text_log", "data": {}, "createdAt": "2025-10-26T10:00:00Z""#
        for notes in ["", #", "notes": null"#] {
            let response = try await answer(
                to: GTSD.SubmitEvidence(taskId: 123, type: .textLog, data: .init(text: "a")),
                #"{"success": true, "data": {"evidence": {\#(evidence)\#(notes)}, "streakUpdated": false, "newStreak": 0}}"#
            )
            #expect(response.data.evidence.notes == nil)
        }
    }

    @Test(arguments: ["", "{", "[]", "null", "<html>", #"{"success": "yes"}"#, #"{"data": {}}"#])
    func invalidJSONHandling(_ body: String) async throws {
        await #expect(throws: UnreadableAnswer.self) { try await answer(to: GTSD.ListTasks(), body) }
        let error = try await refusal(.internalServerError, body)
        #expect(!error.isFromAPI)
        #expect(error.gtsd == nil)
    }

    @Test func unexpectedFields() async throws {
        let response = try await answer(
            to: GTSD.Refresh(refreshToken: "r"),
            """
            {"success": true, "version": 2, "data": {"accessToken": "a", "refreshToken": "b", "expiresIn": 900,
             "extra": {"deep": [1]}}, "cached": false, "links": []}
            """)
        #expect(response.data == .init(accessToken: "a", refreshToken: "b"))
    }

    // MARK: Date Handling Tests

    @Test(
        arguments: [
            ("2025-10-26T10:00:00Z", 1_761_472_800_000), ("2025-10-26T10:00:00.5Z", 1_761_472_800_500),
            ("2025-10-26T10:00:00.123Z", 1_761_472_800_123), ("2025-10-26T10:00:00.123456Z", 1_761_472_800_123),
            ("2025-10-26T12:00:00+02:00", 1_761_472_800_000), ("2025-10-25T23:30:00.000-10:30", 1_761_472_800_000),
            ("2025-10-26", 1_761_436_800_000),
        ] as [(String, Int64)])
    func datesAndTimeZones(_ text: String, _ milliseconds: Int64) async throws {
        let response = try await answer(
            to: GTSD.GetMe(),
            #"{"success": true, "data": {"id": "1", "email": "e", "createdAt": "\#(text)", "updatedAt": "\#(text)"}}"#)
        #expect(response.data.createdAt.milliseconds == milliseconds)
        #expect(response.data.createdAt.date == Date(timeIntervalSince1970: Double(milliseconds) / 1000))
    }

    @Test(
        arguments: [(#""2025-10-26""#, "2025-10-26"), (#""""#, nil), ("null", nil), ("", nil)] as [(String, String?)])
    func bareDaysAndNone(_ json: String, _ expected: String?) async throws {
        let member = json.isEmpty ? "" : #", "lastCompliantDate": \#(json)"#
        let response = try await answer(
            to: GTSD.GetStreak(),
            """
            {"success": true, "data": {"streak": {"id": "1", "userId": "1", "currentStreak": 0, "longestStreak": 0,
             "totalCompliantDays": 0, "createdAt": "2025-10-26T10:00:00Z", "updatedAt": "2025-10-26T10:00:00Z"\(member)},
             "todayCompliance": null, "canIncrementToday": true}}
            """)
        #expect(response.data.streak.lastCompliantDate?.description == expected)
    }

    @Test(arguments: ["", "yesterday", "2025-02-30", "26.10.2025", "2025-10-26T25:00:00Z"])
    func noDates(_ text: String) async throws {
        await #expect(throws: UnreadableAnswer.self) {
            try await answer(
                to: GTSD.GetMe(),
                #"{"success": true, "data": {"id": "1", "email": "e", "createdAt": "\#(text)", "updatedAt": "\#(text)"}}"#
            )
        }
    }

    // MARK: Enum Tests

    @Test(arguments: [
        ("cardio", GTSD.TaskType.cardio), ("strength", .strength), ("nutrition", .nutrition), ("photos", .photos),
    ])
    func validEnumValues(_ text: String, _ type: GTSD.TaskType) async throws {
        let body = Self.task.replacingOccurrences(of: "cardio", with: text)
        let response = try await answer(
            to: GTSD.ListTasks(),
            #"{"success": true, "data": {"totalTasks": 1, "completedTasks": 0, "tasks": [{\#(body)}]}}"#)
        #expect(response.data.tasks[0].type == type)
    }

    /// An unknown value does not break a list, and is encoded unchanged. Values are case-sensitive.
    @Test(arguments: ["meditation", "Cardio", "CARDIO", ""])
    func unknownEnumValuesAndCase(_ text: String) async throws {
        let body = Self.task.replacingOccurrences(of: "cardio", with: text)
        let response = try await answer(
            to: GTSD.ListTasks(),
            #"{"success": true, "data": {"totalTasks": 2, "completedTasks": 0, "tasks": [{\#(body)}, {\#(Self.task)}]}}"#
        )
        #expect(response.data.tasks.map(\.type.rawValue) == [text, "cardio"])
        #expect(response.data.tasks[0].type != .cardio)
    }

    @Test func unknownBadgesBreakNoList() async throws {
        let response = try await answer(
            to: GTSD.ListBadges(),
            """
            {"success": true, "data": {"badges": [
             {"id": "1", "userId": "1", "badgeType": "moon_walker", "awardedAt": "2025-10-26", "metadata": {"x": 1}},
             {"id": "2", "userId": "1", "badgeType": "first_day", "awardedAt": "2025-10-26", "metadata": {}}],
             "totalBadges": 2, "totalAvailable": 17, "completionPercentage": 12}}
            """)
        #expect(response.data.badges.map(\.badgeType.rawValue) == ["moon_walker", "first_day"])
        #expect(response.data.badges[0].metadata == ["x": 1])
    }

    // MARK: Repeats

    /// A transport that counts requests and loses every answer.
    private struct Lost: Transport {
        let count = NIOLockedValueBox(0)

        func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
            count.withLockedValue { $0 += 1 }
            throw URLError(.networkConnectionLost)
        }
    }

    /// Requests that cannot act twice are repeated, deletions too: their repeat finds nothing if only the answer was lost.
    @Test func onlySafeRequestsAreRepeated() async throws {
        let tokens = StoredTokens(accessToken: "a", refreshToken: "r", expiresAt: .distantFuture, user: "1")
        let lost = Lost()
        let client = GTSDClient(
            baseURL: URL(string: "https://gtsd.example")!, store: MemoryTokenStore(tokens), transport: lost,
            retry: Retry(attempts: 3, sleep: { _ in }))
        await #expect(throws: URLError.self) { try await client.send(GTSD.DeletePhoto(1)) }
        #expect(lost.count.withLockedValue { $0 } == 4)
        await #expect(throws: URLError.self) { try await client.send(GTSD.GetStreak()) }
        #expect(lost.count.withLockedValue { $0 } == 4 + 4)
        await #expect(throws: URLError.self) { try await client.send(GTSD.CheckCompliance()) }
        #expect(lost.count.withLockedValue { $0 } == 4 + 4 + 1)
    }

    /// A page that is not full is the last one, so no further page is requested.
    @Test func aListEndsWithThePageThatIsNotFull() async throws {
        let photo = #""id": 1, "fileKey": "k", "fileSize": 1, "mimeType": "image/png", "uploadedAt": "2025-10-26""#
        let body = """
            {"success": true, "data": {"photos": [{\(photo), "createdAt": "2025-10-26", "downloadUrl": "d"}],
             "pagination": {"limit": 2, "offset": 0, "total": 9}}}
            """
        var ids: [GTSD.Photo.ID] = []
        for try await photo in client(Canned(body: body)).photos(pageSize: 2) { ids.append(photo.id) }
        #expect(ids == [1])
    }

    // MARK: Rate limits on answers

    @Test func everyAnswerReportsItsLimit() async throws {
        let transport = Canned(
            headers: [
                .contentType: "application/json", .rateLimit: "20", .rateLimitRemaining: "7",
                .rateLimitReset: "1761472800",
            ], body: #"{"success": true, "data": {"accessToken": "a", "refreshToken": "b"}}"#)
        let answer = try await client(transport).answer(GTSD.Refresh(refreshToken: "r"))
        #expect(answer.rateLimit?.remaining == 7)
    }
}
