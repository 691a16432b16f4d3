import Contract
import ContractMocks
import GTSDAPI
import GTSDExamples

extension GTSD.Task {
    /// The example: task 123, with evidence 456.
    public static let example: Self = contractExample(GTSDExamples.task)
}

extension GTSD.Evidence {
    /// The example: evidence 456, of task 123.
    public static let example: Self = contractExample(GTSDExamples.evidence)
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
            evidence.occurredAt = request.occurredAt.flatMap { .init($0) }
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
