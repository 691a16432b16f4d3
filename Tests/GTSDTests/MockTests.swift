import Contract
import ContractClient
import Foundation
import GTSDClient
import GTSDMocks
import Testing

/// The mock answers every operation with the contract's examples.
@Suite(.timeLimit(.minutes(30))) struct GTSDMockTests {
    @Test func aCompletedTaskStaysCompleted() async throws {
        let gtsd = GTSDMock().client()
        let tasks = try await gtsd.send(GTSD.ListTasks())
        #expect(tasks.cached == true)
        #expect(tasks.data.tasks == [.example])
        _ = try await gtsd.send(GTSD.UncompleteTask(123))
        #expect(try await gtsd.send(GTSD.ListTasks()).data.tasks[0].completed == false)
        _ = try await gtsd.send(GTSD.CompleteTask(123))
        let done = try await gtsd.send(
            GTSD.SubmitEvidence(taskId: 123, type: .metrics, data: .init(metrics: ["km": 5]), notes: "n"))
        #expect(done.data.newStreak == 7)
        #expect(try await gtsd.send(GTSD.ListTasks()).data.tasks[0].evidence?.notes == "n")
    }

    @Test func anAppReadsTheExamples() async throws {
        let gtsd = GTSDMock().client()
        let photo = try await gtsd.uploadPhoto(
            Upload(.bytes([0xFF, 0xD8]), filename: "a.jpg", contentType: "image/jpeg"), details: .init(stage: .before))
        #expect(photo.photoId == 789)
        #expect(try await gtsd.send(GTSD.ListPhotos()).data.photos == [.example])
        var listed = 0
        for try await _ in gtsd.photos(pageSize: 1) { listed += 1 }
        #expect(listed == 1)
        #expect(try await gtsd.send(GTSD.GetStreak()).data.streak == .example)
        #expect(try await gtsd.send(GTSD.ListBadges()).data.badges == [.example])
        #expect(try await gtsd.send(GTSD.GeneratePlan(forceRecompute: true)).data.recomputed)
        #expect(try await gtsd.send(GTSD.GetOnboarding()).data.profile == .example)
    }

    @Test func aSessionIsRenewedAndEnds() async throws {
        let mock = GTSDMock()
        let (gtsd, password) = (mock.client(), "Secret-123")
        mock.expireAccessTokens()
        #expect(try await gtsd.send(GTSD.GetMe()).data == .example)
        try await gtsd.signOut()
        await #expect(throws: SignedOut.self) { try await gtsd.send(GTSD.GetMe()) }
        try await gtsd.signIn(email: "a@b.cd", password: password)
        try await gtsd.deleteAccount(password: password)
        await #expect(throws: SignedOut.self) { try await gtsd.send(GTSD.GetMe()) }
    }

    @Test func unknownIdsAreRefused() async throws {
        let gtsd = GTSDMock().client()
        for request in [GTSD.CompleteTask(1), .init(2)] {
            let error = await #expect(throws: APIError.self) { try await gtsd.send(request) }
            #expect(error?.message == "Task \(request.taskId) not found or does not belong to user")
        }
        let error = await #expect(throws: APIError.self) { try await gtsd.send(GTSD.DeletePhoto(1)) }
        #expect(error?.status == .notFound)
    }

    @Test func sessionsEnd() async throws {
        let mock = GTSDMock()
        let gtsd = mock.client()
        mock.endSessions()
        await #expect(throws: SignedOut.self) { try await gtsd.send(GTSD.GetMe()) }
    }
}
