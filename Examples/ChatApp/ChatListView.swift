import MessengerStore
import SwiftUI

struct ChatListView: View {
    let store: MessengerStore
    let signOut: @MainActor () -> Void

    var body: some View {
        NavigationStack {
            List(store.chats.all) { chat in
                NavigationLink(value: chat.id) {
                    VStack(alignment: .leading) {
                        Text(chat.title ?? "")
                        Text(chat.lastMessage ?? "")
                    }
                    .badge(chat.unreadCount)
                }
            }
            .navigationTitle(title)
            .navigationDestination(for: Messenger.Chat.ID.self) { ChatView(store: store, chat: store.chat($0)) }
            .toolbar { Button("Sign out", action: signOut) }
            .refreshable { try? await store.reload() }
        }
    }

    private var title: String {
        switch store.connection {
        case .connected, .unavailable: "Chats"
        case .connecting, .disconnected, .ended: "Connecting …"
        }
    }
}
