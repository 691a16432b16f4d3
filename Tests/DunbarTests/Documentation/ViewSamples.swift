import DunbarClient

#if canImport(SwiftUI)
import SwiftUI

// The view of Feed.md. `Tools/check-apple` compiles it on Linux.

// sample
struct FeedView: View {
    let dunbar: DunbarClient
    @State private var posts: [Dunbar.Post] = []
    @State private var problem: String?

    var body: some View {
        List {
            if let problem { Text(problem) }
            ForEach(posts) { post in
                VStack(alignment: .leading) {
                    Text(post.user.displayName)
                    Text(post.content)
                }
            }
        }
        .task { await read() }
        .refreshable { await read() }
    }

    private func read() async {
        do {
            posts = try await dunbar.feed().prefix(50).reduce(into: []) { $0.append($1) }
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
