import Backend
import Contract
import ContractServer
import Database
import DeuceDiaryAPI
import Foundation

/// The page to which an invite's link leads a browser: where the app is installed, the system opens the link in it.
enum InvitationPage {
    static let path = "/invitation"

    /// Returns the path of an invite's page, as clients reach it.
    static func link(to invite: DeuceDiary.Invite.ID, _ settings: DeuceDiaryService.Settings) -> String {
        (URLComponents(string: settings.publicURL)?.path ?? "") + "\(path)/\(invite)"
    }

    /// Returns the page of an invite.
    ///
    /// - Parameters:
    ///   - names: The names of the creator and the group, which strangers chose.
    ///   - app: The link that opens the invite in the app.
    ///   - store: The URL at which the app is offered; nil for none.
    static func page(_ names: (creator: String, group: String), app: String, store: String?) -> WebPage {
        let offer = store.map { url -> HTML in #"\#n<p><a href="\#(url)">Get the app</a></p>"# } ?? ""
        return WebPage(
            "Invitation to a group",
            content: """
                <h1><bdi>\(names.creator)</bdi> invites you to <bdi>\(names.group)</bdi></h1>
                <p><a class="main" href="\(app)">Open in the app</a></p>\(offer)
                """)
    }

    /// The page of an invite that leads nowhere.
    static let ended = WebPage(
        "Invitation to a group",
        content: """
            <h1>This invitation has ended</h1>
            <p>It has expired or was revoked, or its link is not complete. Ask for another one.</p>
            """)
}

extension DeuceDiaryService {
    func showInvitation(
        _ captures: [(name: String, value: String)], _ info: RequestInfo
    ) async throws -> Answer<Empty> {
        try await count(info)
        let (invite, now) = (DeuceDiary.Invite.ID(captures.first?.value ?? ""), time.milliseconds())
        guard invite.isUUID else { return InvitationPage.ended.answer(.notFound) }
        let found = try await database.read { db in
            try db.one(
                """
                SELECT \(Users.columns(for: nil)), g.name FROM invites i
                JOIN groups g ON g.id = i.group_id JOIN users u ON u.id = i.created_by
                WHERE i.id = \(invite) AND i.expires_at >= \(now)
                """
            ) { row in
                (
                    creator: try DeuceDiary.User(row: row).displayName,
                    group: try row.get(Users.columnCount, as: String.self)
                )
            }
        }
        guard let found else { return InvitationPage.ended.answer(.notFound) }
        return InvitationPage.page(found, app: appLink(to: invite), store: settings.appStore).answer(.ok)
    }
}
