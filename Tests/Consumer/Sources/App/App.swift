import Foundation
import MessengerMocks

/// Shows the first steps of an app, against the Messenger server that the first argument names, or the mocks.
///
/// Each API has a file of its own. A file that imports several of them would name their errors `Messenger.APIError` and so on.
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
