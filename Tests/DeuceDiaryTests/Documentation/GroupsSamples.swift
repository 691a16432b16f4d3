import DeuceDiaryClient
import Foundation
import Testbed

// The samples of Groups.md.

enum GroupsSamples {
    static func rename(_ diary: DeuceDiaryClient, to name: String, hint: (String) -> Void) async throws {
        // sample
        do throws(Problem) {
            try DeuceDiary.Username.validate(name)
        } catch {
            return hint(error.message)
        }
        let user = try await diary.send(DeuceDiary.UpdateUser(username: name))
        // end
        hint("You are \(user.displayName).")
    }

    static func picture(_ diary: DeuceDiaryClient, photo: URL) async throws -> URL? {
        // sample
        let picture = Upload(.file(photo), filename: "me.heic", contentType: "image/heic")
        let user = try await diary.uploadProfilePicture(picture) { print("\($0) of \($1) bytes") }
        let url = user.profileImage(relativeTo: diary.baseURL)
        // end
        return url
    }

    static func detail(
        _ diary: DeuceDiaryClient, group id: DeuceDiary.Group.ID, show: (DeuceDiary.FeedEntry) -> Void
    ) async throws {
        let group = Identified(id)
        // sample
        let detail = try await diary.send(DeuceDiary.GetGroup(group: group.id, limit: 50))
        for member in detail.members { print(member.user.displayName, member.personalRecord?.count ?? 0) }
        for try await entry in diary.entries(of: group.id) { show(entry) }
        // end
    }

    static func invite(
        _ diary: DeuceDiaryClient, group id: DeuceDiary.Group.ID, share: (String) -> Void
    ) async throws {
        let group = Identified(id)
        // sample
        let invite = try await diary.send(DeuceDiary.CreateInvite(group: group.id))
        share(invite.inviteLink)
        // end
    }

    static func preview(
        _ diary: DeuceDiaryClient, invite id: DeuceDiary.Invite.ID, ask: (String) -> Void
    ) async throws {
        let invite = Identified(id)
        // sample
        let preview = try await diary.send(DeuceDiary.PreviewInvite(invite: invite.id))
        ask("Join \(preview.memberCount) people in \(preview.name)?")
        // end
    }

    static func revoke(
        _ diary: DeuceDiaryClient, group id: DeuceDiary.Group.ID, me user: DeuceDiary.User.ID
    ) async throws {
        let (group, me) = (Identified(id), Identified(user))
        // sample
        let invites = try await diary.send(DeuceDiary.ListInvites(group: group.id))
        for invite in invites where invite.createdBy == me.id { try await diary.revoke(invite.id) }
        // end
    }

    static func leave(
        _ diary: DeuceDiaryClient, group id: DeuceDiary.Group.ID, member user: DeuceDiary.User.ID
    ) async throws {
        let (group, member) = (Identified(id), Identified(user))
        // sample
        try await diary.send(DeuceDiary.RemoveMember(group: group.id, user: member.id))
        try await diary.leave(group.id)
        // end
    }

    static func block(_ diary: DeuceDiaryClient, entry: DeuceDiary.FeedEntry) async throws -> [DeuceDiary.User] {
        // sample
        try await diary.send(DeuceDiary.BlockUser(user: entry.userId))
        try await diary.send(DeuceDiary.ReportEntry(entry: entry.id, reason: "spam"))

        let blocked = try await diary.send(DeuceDiary.ListBlocks())
        // end
        return blocked
    }

    static func delete(_ diary: DeuceDiaryClient, to place: URL, share: (URL) -> Void) async throws {
        // sample
        let archive = try await diary.downloadArchive(to: place)
        share(archive.location)
        try await diary.deleteAccount()
        // end
    }
}

/// An app that a link opens.
struct LinkOpener {
    let diary: DeuceDiaryClient
    let welcome: (DeuceDiary.Group) -> Void
    let show: (DeuceDiary.Group) -> Void

    private func welcome(to group: DeuceDiary.Group) { welcome(group) }

    // sample
    func open(_ link: URL) async throws {
        guard let invite = DeuceDiary.Invite.id(in: link) else { return }
        switch try await diary.join(invite) {
        case .joined(let group): welcome(to: group)
        case .alreadyMember(let group): show(group)
        }
    }
    // end
}
