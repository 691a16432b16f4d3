// Written by Tools/swift-calls from the wire tests (make describe).
extension DeuceDiaryExamples {
    static let calls = ##"""
        DeuceDiary.UploadProfilePicture: let user = try await client.uploadProfilePicture(Upload(fileAt: file))
        DeuceDiary.DeleteUser: try await client.deleteAccount()
        DeuceDiary.GetUser()
        DeuceDiary.UpdateUser(username: "newname")
        DeuceDiary.ExportUser()
        GetAbout<DeuceDiary>()
        DeuceDiary.CreateGroup(name: "Throne Room", description: "Optional group description")
        DeuceDiary.ListGroups()
        DeuceDiary.GetGroup(group: group)
        DeuceDiary.LeaveGroup(group: group)
        DeuceDiary.RemoveMember(group: group, user: "user_def456")
        DeuceDiary.CreateInvite(group: group)
        DeuceDiary.JoinGroup(invite: invite)
        DeuceDiary.OpenInvite(invite: invite)
        DeuceDiary.PreviewInvite(invite: invite)
        DeuceDiary.ListInvites(group: group)
        DeuceDiary.RevokeInvite(invite: invite)
        DeuceDiary.LogDeuce(
            groups: [group], location: "Home", thoughts: "A throne worthy of a king",
            loggedAt: time("2025-06-10T08:00:00.000Z"))
        DeuceDiary.ListDeuces()
        DeuceDiary.DeleteDeuce(entry: entry)
        DeuceDiary.AddReaction(entry: entry, emoji: "💩")
        DeuceDiary.RemoveReaction(entry: entry, emoji: "💩")
        DeuceDiary.ListReactions(entry: entry)
        DeuceDiary.ListLocations()
        DeuceDiary.CreateLocation(name: "Grandma's House")
        DeuceDiary.GetMostDeuces()
        """##
}
