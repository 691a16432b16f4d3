import DeuceDiaryMocks
import Foundation
import MessengerMocks

/// What an app does first, against the server that the first argument names, or the mock.
@main
struct App {
    static func main() async throws {
        let address = CommandLine.arguments.dropFirst().first.flatMap(URL.init(string:))
        let messenger = address.map { MessengerClient(baseURL: $0) } ?? .mock()
        try await messenger.signIn(username: "alice", password: "secret123")
        for try await chat in messenger.chats() { print(chat.id, chat.lastMessage ?? "") }

        for try await group in DeuceDiaryClient.mock().groups() { print(group.name, group.entryCount) }
    }
}
