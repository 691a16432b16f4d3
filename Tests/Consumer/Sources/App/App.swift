import ContractClient
import Foundation
import MessengerClient

/// What an app does first, against whatever server the first argument names.
@main
struct App {
    static func main() async throws {
        guard let address = CommandLine.arguments.dropFirst().first, let url = URL(string: address) else {
            return print("MessengerClient is linked.")
        }
        let messenger = MessengerClient(baseURL: url)
        try await messenger.signIn(username: "alice", password: "secret123")
        for try await chat in messenger.chats() { print(chat.id, chat.lastMessage ?? "") }
    }
}
