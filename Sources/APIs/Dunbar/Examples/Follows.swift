extension DunbarExamples {
    package static let pendingRequest = """
        { "id": #1, "createdAt": "2025-01-01T00:00:00.000Z", "follower": \(sarah) }
        """

    package static let outgoingRequest = """
        { "id": #1, "createdAt": "2025-01-01T00:00:00.000Z", "following": \(alex) }
        """

    static let follows = """
        POST /users/{id}/follow
        > /users/2/follow {}
        < 200 { "message": "Follow request sent" | "Following" }

        POST /users/{id}/unfollow
        > /users/3/unfollow {}
        < 200 { "message": "Unfollowed" | "Follow request withdrawn" }

        POST /followers/{id}/remove
        > /followers/2/remove {}
        < 200 \(message("Follower removed successfully"))

        GET /users/{id}/followers
        > /users/1/followers
        > /users/1/followers?limit=3&before=9
        < 200 [\(sarahsProfile)]

        GET /users/{id}/following
        > /users/1/following
        > /users/1/following?limit=3&before=9
        < 200 [\(sarahsProfile)]

        GET /follow-requests/pending
        >
        > /follow-requests/pending?limit=3&before=9
        < 200 [\(pendingRequest)]

        GET /follow-requests/outgoing
        >
        > /follow-requests/outgoing?limit=3&before=9
        < 200 [\(outgoingRequest)]

        POST /follow-requests/{id}/accept
        > /follow-requests/1/accept {}
        < 200 \(message("Follow request accepted"))

        POST /follow-requests/{id}/reject
        > /follow-requests/1/reject {}
        < 200 \(message("Follow request rejected"))
        """
}
