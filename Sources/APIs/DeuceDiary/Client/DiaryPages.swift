import Contract
import ContractClient
import DeuceDiaryAPI

/// More whole lists, which read a page when its elements are asked for.
extension DeuceDiaryClient {
    /// The invites of a group, newest first: a member's own, an admin's all.
    ///
    /// - Parameters:
    ///   - group: A group of which the caller is a member.
    ///   - pageSize: The number of invites read at a time, 1 to 500.
    public func invites(
        to group: DeuceDiary.Group.ID, pageSize: Int = 100
    ) -> Pages<DeuceDiary.GroupInvite, [DeuceDiary.Invite.ID]> {
        Pages(of: pageSize) { try await send(DeuceDiary.ListInvites(group: group, limit: pageSize, before: $0)) }
    }

    /// The reactions to an entry with their authors, oldest first.
    ///
    /// - Parameters:
    ///   - entry: An entry of a group of which the caller is a member.
    ///   - pageSize: The number of reactions read at a time, 1 to 1,000.
    public func reactions(
        to entry: DeuceDiary.DeuceEntry.ID, pageSize: Int = 100
    ) -> Pages<DeuceDiary.UserReaction, [DeuceDiary.Reaction.ID]> {
        Pages(of: pageSize) { try await send(DeuceDiary.ListReactions(entry: entry, limit: pageSize, after: $0)) }
    }

    /// The locations to choose from: the default ones, then the others, each by name. ``locations(refresh:)`` returns those
    /// of the first page, at most 1,000, from memory.
    ///
    /// - Parameter pageSize: The number of locations read at a time, 1 to 1,000.
    public func allLocations(pageSize: Int = 1000) -> Pages<DeuceDiary.Location, Int> {
        Pages(from: 1) { number in
            let page = try await send(DeuceDiary.ListLocations(limit: pageSize, page: number))
            return (page, page.count < pageSize ? nil : number + 1)
        }
    }
}
