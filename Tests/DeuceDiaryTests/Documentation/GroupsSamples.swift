import DeuceDiaryClient
import Foundation

// The samples of Groups.md.

enum GroupsSamples {
    /// Returns the error message for the name.
    static func rename(_ diary: DeuceDiaryClient, to name: String) async throws -> String? {
        // sample
        do throws(Problem) {
            try DeuceDiary.Username.validate(name)
        } catch {
            return error.message
        }
        let user = try await diary.send(DeuceDiary.UpdateUser(username: name))
        // end
        return user.username == name ? nil : "another name"
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
        _ diary: DeuceDiaryClient, group: DeuceDiary.Group.ID, show: (DeuceDiary.FeedEntry) -> Void
    ) async throws {
        // sample
        let detail = try await diary.send(DeuceDiary.GetGroup(group: group, limit: 50))
        for member in detail.members { print(member.user.displayName, member.personalRecord?.count ?? 0) }
        for try await entry in diary.entries(of: group) { show(entry) }
        // end
    }

    static func invite(
        _ diary: DeuceDiaryClient, group: DeuceDiary.Group.ID, share: (String) -> Void
    ) async throws {
        // sample
        let invite = try await diary.send(DeuceDiary.CreateInvite(group: group))
        share(invite.inviteLink)
        // end
    }

    static func preview(
        _ diary: DeuceDiaryClient, invite: DeuceDiary.Invite.ID, ask: (String) -> Void
    ) async throws {
        // sample
        let preview = try await diary.send(DeuceDiary.PreviewInvite(invite: invite))
        ask("Join \(preview.memberCount) people in \(preview.name)?")
        // end
    }

    static func revoke(
        _ diary: DeuceDiaryClient, group: DeuceDiary.Group.ID, me: DeuceDiary.User.ID
    ) async throws {
        // sample
        let invites = try await diary.send(DeuceDiary.ListInvites(group: group))
        for invite in invites where invite.createdBy == me { try await diary.revoke(invite.id) }
        // end
    }

    static func leave(
        _ diary: DeuceDiaryClient, group: DeuceDiary.Group.ID, member: DeuceDiary.User.ID
    ) async throws {
        // sample
        try await diary.send(DeuceDiary.RemoveMember(group: group, user: member))
        try await diary.leave(group)
        // end
    }

    static func delete(_ diary: DeuceDiaryClient, save: (Data) throws -> Void) async throws {
        // sample
        let export = try await diary.send(DeuceDiary.ExportUser())
        try save(JSONEncoder().encode(export))
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
