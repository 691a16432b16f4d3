import DeuceDiaryClient

#if canImport(SwiftUI)
import SwiftUI

// The view of Groups.md. `Tools/check-apple` compiles it on Linux.

// sample
struct GroupsView: View {
    let diary: DeuceDiaryClient
    @State private var groups: [DeuceDiary.GroupSummary] = []
    @State private var problem: String?

    var body: some View {
        List {
            if let problem { Text(problem) }
            ForEach(groups) { group in
                Text(group.name).badge(group.entryCount)
            }
        }
        .task { await read() }
        .refreshable { await read() }
    }

    private func read() async {
        do {
            groups = try await diary.groups().reduce(into: []) { $0.append($1) }
            problem = nil
        } catch is CancellationError {
            // The view has gone.
        } catch {
            problem = error.localizedDescription
        }
    }
}
// end
#endif
