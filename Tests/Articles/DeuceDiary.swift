// What an app has when it begins with DeuceDiaryClient's articles: a session of its issuer, its files, the texts of its forms,
// and its screens.

import DeuceDiaryMocks
import Foundation
import Testing

struct IssuerSession: Sendable {
    func token() async throws -> String { "" }
}

func articles(
    url: URL, session: IssuerSession, name: String, photo: URL, folder: URL,
    // What the user sees or has chosen.
    groups: [DeuceDiary.Group], entry: DeuceDiary.FeedEntry, member: DeuceDiary.User
) async throws {
    @Sendable func show(_ values: Any?...) {}
    func share(_ file: URL) {}
    let place = URL(fileURLWithPath: "archive.zip")
    func hint(_ text: String) {}
    func share(_ link: String) {}
    func ask(_ question: String) {}
    func welcome(to group: DeuceDiary.Group) {}
    func save(_ export: Data) throws {}
    // articles
}
