import MonicaClient

#if canImport(SwiftUI)
import SwiftUI

// The view of Reading.md. `Tools/check-apple` compiles it on Linux.

// sample
struct ContactsView: View {
    let monica: MonicaAPIClient
    @State private var query = ""
    @State private var contacts: [Monica.Contact] = []
    @State private var problem: String?

    var body: some View {
        List {
            TextField("Search", text: $query)
            if let problem { Text(problem) }
            ForEach(contacts) { contact in
                Text(contact.completeName)
            }
        }
        .task(id: query) { await read() }
    }

    private func read() async {
        do {
            contacts = try await monica.contacts(matching: query.isEmpty ? nil : query)
                .prefix(50).reduce(into: []) { $0.append($1) }
            problem = nil
        } catch is CancellationError {
            // Another text is searched for.
        } catch {
            problem = error.localizedDescription
        }
    }
}
// end
#endif
