import MessengerMocks
import Testing

// The samples of Testing.md.

@Suite(.timeLimit(.minutes(30))) struct TestingSamples {
    @Test func aPreview() async throws {
        // sample
        let messenger = MessengerClient.mock()
        let me = try await messenger.send(Messenger.GetMe())
        print(me.displayName)
        // end
        #expect(me.displayName == "Alice")
    }

    @Test func aRefusal() async throws {
        // sample
        let mock = MessengerMock()
        mock.fail(Messenger.SendMessage.self, with: .forbidden, "Not a member of this chat")
        let messenger = mock.client()
        // end
        await #expect(throws: APIError.self) { try await messenger.send(Messenger.SendMessage(chat: 5, content: "Hi")) }
    }

    @Test func answersOfOnesOwn() async throws {
        // sample
        let mock = MessengerMock()
        mock.on(Messenger.GetUser.self) { request in
            Messenger.User(id: request.id, username: "carol", displayName: "Carol", bio: nil, avatar: nil)
        }
        mock.fail(Messenger.CreateChat.self, with: .forbidden, "You cannot message this user")
        mock.fail(Messenger.UploadFile.self, with: .serviceUnavailable, "Object storage upload failed", times: 2)
        let messenger = mock.client()
        // end
        let carol = try await messenger.send(Messenger.GetUser(id: 3))
        #expect(carol.username == "carol")
        #expect(carol.id == 3)
        await #expect(throws: APIError.self) { try await messenger.send(Messenger.CreateChat.direct(with: 3)) }
        let file = Upload(.bytes([1]), filename: "a")
        for _ in 0..<2 { await #expect(throws: APIError.self) { try await messenger.upload(file) } }
        #expect(try await messenger.upload(file) == .example)
    }

    // sample
    @Test @MainActor func aRefusedMessageIsTold() async throws {
        let mock = MessengerMock()
        mock.fail(Messenger.SendMessage.self, with: .forbidden, "Not a member of this chat")
        let model = ChatModel(mock.client(), chat: 5)

        await #expect(throws: APIError.self) { try await model.send("Hello?") }
        #expect(mock.requests(Messenger.SendMessage.self).map(\.content) == ["Hello?"])
    }
    // end

    @Test func aBadNetwork() async throws {
        // sample
        let mock = MessengerMock(sleep: { _ in })
        mock.delay = .seconds(2)
        mock.delay(Messenger.ListMessages.self, by: .seconds(5))
        mock.offline()
        mock.online()
        mock.expireAccessTokens()
        mock.endSessions()
        // end
        let messenger = mock.client()
        #expect(try await messenger.send(Messenger.ListMessages(chat: 5)) == [.example])
    }

    @Test(.timeLimit(.minutes(30))) func liveEvents() async throws {
        // sample
        let mock = MessengerMock()
        let live = mock.client().live(pacing: .init(base: .zero))
        await live.subscribe(to: 5, since: Messenger.Message.example.id)

        mock.push("Hey!")
        for try await event in live {
            guard case .message(let message) = event else { continue }
            if message.content == "And?" { break }
            mock.dropSockets()
            mock.push("And?")
        }
        // end
    }
}
