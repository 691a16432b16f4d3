import Foundation
import MessengerMocks

/// What an app does first, against the Messenger that the first argument names, or the mocks.
///
/// Each API has a file of its own: two of them have a name in common, such as `APIResponse` or `APIError`.
@main
struct App {
    static func main() async throws {
        let address = CommandLine.arguments.dropFirst().first.flatMap(URL.init(string:))
        let messenger = address.map { MessengerClient(baseURL: $0) } ?? .mock()
        try await messenger.signIn(username: "alice", password: "secret123")
        for try await chat in messenger.chats() { print(chat.id, chat.lastMessage ?? "") }

        try await showDiary()
        try await showContacts()
        try await showToday()
        try await showFeed()
    }
}
