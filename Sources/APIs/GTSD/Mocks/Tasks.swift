import Contract
import ContractMocks
import GTSDAPI

extension GTSD.Task {
    /// The example: task 123, with evidence 456.
    public static let example: Self = contractExample(
        """
        {
          "id": 123,
          "type": "cardio",
          "title": "Cardio: Intervals",
          "description": "30 minutes at a pace that suits you.",
          "dueDate": "2025-10-28",
          "completed": true,
          "completedAt": "2025-10-28T07:30:00.000Z",
          "evidence": {
            "id": 456,
            "type": "text_log",
            "data": { "text": "8 times 400 m" },
            "notes": null
          }
        }
        """)
}

extension GTSD.Evidence {
    /// The example: evidence 456, of task 123.
    public static let example: Self = contractExample(
        """
        {
          "id": 456,
          "taskId": 123,
          "type": "text_log",
          "data": { "text": "8 times 400 m" },
          "notes": null,
          "createdAt": "2025-10-28T07:30:00.000Z"
        }
        """)
}

extension GTSDMock {
    func tasks() {
        server.example(of: GTSD.ListTasks.self) { [memory] _ in
            let task = memory.use { $0.task }
            return APIResponse(
                .init(totalTasks: 10, completedTasks: task.completed ? 5 : 4, tasks: [task]), cached: true)
        }
        server.example(of: GTSD.SubmitEvidence.self) { [memory] request in
            try require(request.taskId)
            var evidence = GTSD.Evidence.example
            (evidence.type, evidence.data, evidence.notes) = (request.type, request.data, request.notes)
            memory.use { $0.complete(with: evidence) }
            return APIResponse(.init(evidence: evidence, streakUpdated: true, newStreak: 7))
        }
        server.example(of: GTSD.CompleteTask.self) { [memory] request in
            try require(request.taskId)
            let task = memory.use { memory in
                memory.complete(with: nil)
                return memory.task
            }
            return APIResponse(.init(task: task, streakUpdated: true, newStreak: 7))
        }
        server.example(of: GTSD.UncompleteTask.self) { [memory] request in
            try require(request.taskId)
            let task = memory.use { memory in
                (memory.task.completed, memory.task.completedAt) = (false, nil)
                return memory.task
            }
            return APIResponse(.init(task: task, streakUpdated: false, newStreak: 7))
        }
    }
}

private func require(_ task: GTSD.Task.ID) throws {
    guard task == GTSD.Task.example.id else {
        throw Problem(.notFound, "Task \(task) not found or does not belong to user")
    }
}

extension GTSDMemory {
    fileprivate mutating func complete(with evidence: GTSD.Evidence?) {
        (task.completed, task.completedAt) = (true, GTSD.Task.example.completedAt)
        guard let evidence else { return }
        task.evidence = .init(id: evidence.id, type: evidence.type, data: evidence.data, notes: evidence.notes)
    }
}
