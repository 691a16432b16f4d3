import DeuceDiaryClient
import Foundation

// The samples of the landing page, of DeuceDiaryClient's own documentation and of the README.

/// A stand-in for an app's sign-in.
struct SignInSession: Sendable {
    let current: String

    func token() async throws -> String { current }
}

enum OverviewSamples {
    static func begin(
        _ url: URL, session: SignInSession
    ) async throws -> (DeuceDiaryClient, DeuceDiary.User, DeuceDiary.Group) {
        // sample
        let diary = DeuceDiaryClient(baseURL: url) { try await session.token() }  // such as Clerk's session
        let me = try await diary.send(DeuceDiary.GetUser())
        let group = try await diary.send(DeuceDiary.CreateGroup(name: "Throne Room"))
        try await diary.log(.init(groups: [group.id], location: "Home", thoughts: "A throne worthy of a king"))
        // end
        return (diary, me, group)
    }

    static func follow(
        _ diary: DeuceDiaryClient, group: DeuceDiary.Group, feed: [DeuceDiary.FeedEntry],
        show: (DeuceDiary.Notice) -> Void
    ) async throws {
        // sample
        let live = diary.live(group: group.id, since: feed.first)
        for try await event in live {
            if case .logged(let notice) = event { show(notice) }
        }
        // end
    }
}
