// What an app has when it begins with GTSDClient's articles: its files, the texts of its forms, and its screens.

import Foundation
import GTSDMocks
import Testing

func articles(
    url: URL, password: String, newPassword: String, address: String, code: String, photo: Upload, file: URL, size: Int,
    folder: URL, weight: Double, birthday: Day,
    day: Day, first: Day, last: Day,
    // What the user sees or has chosen.
    task: GTSD.Task, walk: GTSD.Task, run: GTSD.Task
) async throws {
    @Sendable func show(_ values: Any?...) {}
    func share(_ file: URL) {}
    let destination = URL(fileURLWithPath: "archive.zip")
    func hint(_ text: String) {}
    func log(_ text: String) {}
    func welcome(_ user: GTSD.User) {}
    func showDay(of user: GTSD.User.ID) {}
    func showSignIn() {}
    func celebrate(_ badge: GTSD.BadgeType) {}
    func mark(_ day: Day) {}
    func put(_ file: URL, _ place: URL) async throws {}
    // articles
}
