import GTSDMocks
import Testing

// The samples of Testing.md, and of GTSDMock's own documentation.

@Suite(.timeLimit(.minutes(30))) struct GTSDTestingSamples {
    @Test func aPreview() async throws {
        // sample
        let gtsd = GTSDClient.mock()
        let streak = try await gtsd.send(GTSD.GetStreak()).data.streak
        print(streak.currentStreak)
        // end
        #expect(streak == .example)
    }

    @Test func aRefusal() async throws {
        // sample
        let mock = GTSDMock()
        mock.fail(GTSD.SubmitEvidence.self, with: .notFound, "Task 123 not found or does not belong to user")
        let gtsd = mock.client()
        // end
        let error = await #expect(throws: APIError.self) {
            try await gtsd.send(GTSD.SubmitEvidence(taskId: 123, type: .textLog, data: .init(text: "x")))
        }
        #expect(error?.message == "Task 123 not found or does not belong to user")
    }

    @Test func answersOfOnesOwnAndABadNetwork() async throws {
        // sample
        let mock = GTSDMock(sleep: { _ in })
        mock.on(GTSD.ListTasks.self) { _ in
            APIResponse(GTSD.DayTasks(totalTasks: 0, completedTasks: 0, tasks: []))
        }
        mock.fail(
            GTSD.GeneratePlan.self, with: .tooManyRequests, "Too many requests, please try again later",
            headers: [.retryAfter: "30"], times: 1)
        mock.delay = .seconds(2)
        mock.offline()
        mock.online()
        mock.expireAccessTokens()
        mock.endSessions()
        // end
        let gtsd = mock.client()
        let day = try await gtsd.send(GTSD.ListTasks()).data
        #expect(day.tasks.isEmpty)
        let error = await #expect(throws: APIError.self) { try await gtsd.send(GTSD.GeneratePlan()) }
        #expect(error?.retryAfter == 30)
        let plan = try await gtsd.send(GTSD.GeneratePlan()).data.plan
        #expect(plan == .example)
    }

    // sample
    @Test @MainActor func aTaskIsToggled() async throws {
        let mock = GTSDMock()
        let model = TodayModel(mock.client())
        try await model.load()
        #expect(model.tasks == [.example])

        try await model.toggle(model.tasks[0])
        #expect(model.tasks[0].completed == false)
        #expect(mock.requests(GTSD.UncompleteTask.self).map(\.taskId) == [123])
    }
    // end
}
