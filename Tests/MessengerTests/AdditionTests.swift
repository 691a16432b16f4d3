import Foundation
import MessengerCheck
import Testbed
import Testing

/// Additions to the published contract are marked, and lists say what a large `limit` does.
@Suite(.timeLimit(.minutes(30))) struct AdditionTests {
    /// The names in the published contract, without the operations that it plans.
    private static let contract = PublishedContract(
        """
        POST /auth/register > username email password < id username
        POST /auth/login > username password < access_token refresh_token token_type expires_in user_id
        POST /auth/refresh > refresh_token < access_token token_type expires_in
        GET /me < id username email display_name bio created_at
        GET /users/{id} < id username display_name bio
        GET /users/search > q < id username display_name
        POST /chats > type name member_ids < id type
        GET /chats < id type name updated_at last_message
        GET /chats/{id} < id type name owner_id created_at members(id username display_name role)
        POST /chats/{id}/messages > content type file_id < id chat_id sender_id content type created_at
        GET /chats/{id}/messages > limit before < id chat_id sender_id content message_type created_at
        POST /files > file < id filename mime_type object_key
        GET /files/{id}/download
        client auth token
        server auth_ok user_id
        server error message
        client subscribe chat_id
        server subscribed chat_id
        server message id chat_id sender_id content message_type created_at
        client ping
        server pong
        failure error
        """)

    @Test func theMarksAreTheContracts() async {
        LawTests.laws.checkAdditions(to: Self.contract)
        LawTests.laws.checkAdditions(in: await Described.api.description, to: Self.contract)
    }

    @Test(arguments: Stack.all)
    func theDescriptionSaysWhatALimitDoes(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            let chat = try await alice.group()
            let targets = [
                "GET /chats/{id}/messages": "/chats/\(chat)/messages",
                "GET /chats/{id}/changes": "/chats/\(chat)/changes",
            ]
            try await LawTests.laws.checkLimits(in: await Described.api.description, at: targets) {
                try await alice.raw(.get, $0)
            }
        }
    }
}
