import DeuceDiaryClient

// The samples of Live.md.

// sample
@MainActor
final class GroupModel {
    private(set) var feed: [DeuceDiary.FeedEntry] = []
    private(set) var banner: String?
    private let diary: DeuceDiaryClient
    private let group: DeuceDiary.Group.ID

    init(_ diary: DeuceDiaryClient, group: DeuceDiary.Group.ID) {
        self.diary = diary
        self.group = group
    }

    func run() async throws {
        feed = try await diary.send(DeuceDiary.GetGroup(group: group, limit: 50)).entries
        for try await event in diary.live(group: group, since: feed.first) {
            if case .logged(let notice) = event {
                feed.insert(notice.entry, at: 0)
                banner = notice.message
            }
        }
    }
}
// end
