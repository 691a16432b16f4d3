import DeuceDiaryMocks
import Testing

// The samples of Testing.md, and of DeuceDiaryMock's own documentation.

@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryTestingSamples {
    @Test func aPreview() async throws {
        // sample
        let diary = DeuceDiaryClient.mock()
        let me = try await diary.send(DeuceDiary.GetUser())
        print(me.displayName)
        // end
        #expect(me.displayName == "johndoe")
    }

    @Test func aRefusal() async throws {
        // sample
        let mock = DeuceDiaryMock()
        mock.fail(DeuceDiary.LogDeuce.self, with: .forbidden, "Not authorized for group …")
        let diary = mock.client()
        // end
        await #expect(throws: APIError.self) {
            try await diary.log(.init(groups: [DeuceDiary.Group.example.id], location: "Home", thoughts: ""))
        }
    }

    @Test func answersOfOnesOwnAndABadNetwork() async throws {
        // sample
        let mock = DeuceDiaryMock(sleep: { _ in })
        mock.on(DeuceDiary.GetMostDeuces.self) { _ in DeuceDiary.MostDeuces(topDay: nil) }
        mock.delay = .seconds(2)
        mock.offline()
        mock.online()
        mock.refuse(token: "expired")
        // end
        #expect(try await mock.client().topDay() == nil)
        await #expect(throws: APIError.self) { try await mock.client(token: { "expired" }).topDay() }
    }

    @Test func liveEvents() async throws {
        // sample
        let mock = DeuceDiaryMock()
        let live = mock.client().live(group: DeuceDiary.Group.example.id, pacing: .init(base: .zero))
        for try await event in live {
            if case .connected = event { mock.push("Good morning") }
            if case .logged(let notice) = event {
                print(notice.message)
                break
            }
        }
        // end
    }
}
