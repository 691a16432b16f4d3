import GTSDMocks

func showToday() async throws {
    let gtsd = GTSDClient.mock()
    do {
        let today: APIResponse<GTSD.DayTasks> = try await gtsd.send(GTSD.ListTasks())
        for task in today.data.tasks { print(task.title, task.evidence?.data.text ?? "") }
        try await gtsd.send(GTSD.CompleteTask(1))
    } catch let error as APIError {
        print(error.status.code, error.message)
    }
}
