import Contract
import ContractClient
import DunbarAPI

/// Whole lists, which read a page when its elements are asked for.
extension DunbarClient {
    /// The comments on a post, newest first: each page is read from the newest back.
    ///
    /// - Parameters:
    ///   - post: A post that the caller may see.
    ///   - pageSize: The number of comments read at a time, 1 to 100.
    public func comments(
        on post: Dunbar.Post.ID, pageSize: Int = 50
    ) -> Pages<Dunbar.Comment, Dunbar.Comment.ID?> {
        list(pageSize) { before in
            // A page of the contract is the oldest first.
            try await send(Dunbar.ListComments(post: post, limit: pageSize, before: before)).reversed()
        }
    }

    /// The caller's followers, newest first.
    ///
    /// - Parameters:
    ///   - user: The caller: no other user's list is shown.
    ///   - pageSize: The number of users read at a time, 1 to 500.
    public func followers(of user: Dunbar.User.ID, pageSize: Int = 100) -> Pages<Dunbar.User, Dunbar.User.ID?> {
        list(pageSize) { try await send(Dunbar.ListFollowers(of: user, limit: pageSize, before: $0)) }
    }

    /// The users whom the caller follows, newest first.
    ///
    /// - Parameters:
    ///   - user: The caller: no other user's list is shown.
    ///   - pageSize: The number of users read at a time, 1 to 500.
    public func following(of user: Dunbar.User.ID, pageSize: Int = 100) -> Pages<Dunbar.User, Dunbar.User.ID?> {
        list(pageSize) { try await send(Dunbar.ListFollowing(of: user, limit: pageSize, before: $0)) }
    }

    /// The caller's followers with more of each, newest first.
    ///
    /// - Parameters:
    ///   - user: The caller: no other user's list is shown.
    ///   - parts: The words of ``Dunbar/ListFollowers/include``, such as `.relationship`.
    ///   - pageSize: The number of users read at a time, 1 to 500.
    public func followers(
        of user: Dunbar.User.ID, including parts: Dunbar.Inclusions, pageSize: Int = 100
    ) -> Pages<Dunbar.User, Dunbar.User.ID?> {
        list(pageSize) {
            try await send(Dunbar.ListFollowers(of: user, limit: pageSize, before: $0, include: parts))
        }
    }

    /// The requests that await the caller's answer, newest first. They may be answered while the list is read.
    ///
    /// - Parameter pageSize: The number of requests read at a time, 1 to 500.
    public func pendingRequests(
        pageSize: Int = 100
    ) -> Pages<Dunbar.PendingRequest, Dunbar.FollowRequest.ID?> {
        list(pageSize) { try await send(Dunbar.ListPendingRequests(limit: pageSize, before: $0)) }
    }

    /// The caller's own unanswered requests, newest first.
    ///
    /// - Parameter pageSize: The number of requests read at a time, 1 to 500.
    public func outgoingRequests(
        pageSize: Int = 100
    ) -> Pages<Dunbar.OutgoingRequest, Dunbar.FollowRequest.ID?> {
        list(pageSize) { try await send(Dunbar.ListOutgoingRequests(limit: pageSize, before: $0)) }
    }

    /// The users whom the caller has blocked, newest block first.
    ///
    /// - Parameter pageSize: The number of users read at a time, 1 to 500.
    public func blocks(pageSize: Int = 100) -> Pages<Dunbar.User, Dunbar.User.ID?> {
        list(pageSize) { try await send(Dunbar.ListBlocks(limit: pageSize, before: $0)) }
    }

    private func list<Element: Identifiable & Sendable>(
        _ size: Int, _ read: @escaping @Sendable (_ before: Element.ID?) async throws -> [Element]
    ) -> Pages<Element, Element.ID?> where Element.ID: Sendable {
        Pages(from: nil) { before in
            let page = try await read(before)
            return (page, page.count < size ? nil : page.last.map(\.id))
        }
    }
}
