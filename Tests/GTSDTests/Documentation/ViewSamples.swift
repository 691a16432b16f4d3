import GTSDClient

#if canImport(SwiftUI)
import SwiftUI

// The view of Today.md. `Tools/check-apple` compiles it on Linux.

// sample
struct TodayView: View {
    let gtsd: GTSDClient
    @State private var today: GTSD.DayTasks?
    @State private var problem: String?

    var body: some View {
        List {
            if let problem { Text(problem) }
            ForEach(today?.tasks ?? []) { task in
                if task.completed {
                    Text("✓ " + task.title)
                } else {
                    Button(task.title) { Task { await complete(task) } }
                }
            }
        }
        .navigationTitle(today.map { "\($0.completedTasks) of \($0.totalTasks)" } ?? "Today")
        .task { await read() }
    }

    private func read() async {
        do {
            today = try await gtsd.send(GTSD.ListTasks()).data
            problem = nil
        } catch is CancellationError {
            // The view has gone.
        } catch {
            problem = error.localizedDescription
        }
    }

    private func complete(_ task: GTSD.Task) async {
        do {
            try await gtsd.send(GTSD.CompleteTask(task.id))
            await read()
        } catch {
            problem = error.localizedDescription
        }
    }
}
// end
#endif
