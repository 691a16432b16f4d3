import MessengerMocks
import MessengerStore
import SwiftUI

/// The app on the contract's examples, without a server: Alice, her group with Bob, and what a preview sends.
struct MockedChats: View {
    @State private var store: MessengerStore?
    private let mock = MessengerMock()

    var body: some View {
        VStack {
            if let store { ChatListView(store: store) {} }
        }
        .task { await open() }
    }

    private func open() async {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        store = try? await MessengerStore.open(mock.client(), in: folder)
        mock.push("Shall we meet at seven?")
    }
}

struct Chats_Previews: PreviewProvider {
    static var previews: some View { MockedChats() }
}
