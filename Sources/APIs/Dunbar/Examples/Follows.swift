extension DunbarExamples {
    package static let pendingRequest = """
        { "id": #1, "createdAt": "2025-01-01T00:00:00.000Z", "follower": \(sarah) }
        """

    package static let outgoingRequest = """
        { "id": #1, "createdAt": "2025-01-01T00:00:00.000Z", "following": \(alex) }
        """

    static let follows = """
        POST /users/{id}/follow: Follows a public account, or asks to follow a private one.
        > /users/2/follow {}
        < 200 { "message": "Follow request sent" | "Following" }
        ! 400 Cannot follow yourself
        ! 400 Unblock this user first
        ! 400 Already following or requested to follow this user
        ! 400 You have reached the maximum number of follows (150)
        ! 404 User not found

        POST /users/{id}/unfollow: Ends a follow, or withdraws a request.
        > /users/3/unfollow {}
        < 200 { "message": "Unfollowed" | "Follow request withdrawn" }
        ! 400 Not following this user
        ! 404 User not found

        POST /followers/{id}/remove: Removes a follower of the caller.
        > /followers/2/remove {}
        < 200 \(message("Follower removed successfully"))
        ! 400 This user is not your follower

        GET /users/{id}/followers +limit +before +include: Returns the caller's own followers, newest first.
        > /users/1/followers
        > /users/1/followers?limit=3&before=9
        > /users/1/followers?include=relationship
        < 200 [\(sarahsProfile)]
        < 200 including relationship [\(relatedSarah)]
        ! 403 You can only view your own followers

        GET /users/{id}/following +limit +before +include: Returns the users whom the caller follows, newest first.
        > /users/1/following
        > /users/1/following?limit=3&before=9
        > /users/1/following?include=relationship
        < 200 [\(sarahsProfile)]
        < 200 including relationship [\(relatedSarah)]
        ! 403 You can only view your own following list

        GET /follow-requests/pending +limit +before: Returns the requests that await the caller's answer, newest first.
        >
        > /follow-requests/pending?limit=3&before=9
        < 200 [\(pendingRequest)]

        GET /follow-requests/outgoing +limit +before: Returns the caller's own unanswered requests, newest first.
        >
        > /follow-requests/outgoing?limit=3&before=9
        < 200 [\(outgoingRequest)]

        POST /follow-requests/{id}/accept: Accepts a request.
        > /follow-requests/1/accept {}
        < 200 \(message("Follow request accepted"))
        ! 400 This user has reached the maximum number of follows (150)
        ! 404 Follow request not found

        POST /follow-requests/{id}/reject: Rejects a request; the user may ask again.
        > /follow-requests/1/reject {}
        < 200 \(message("Follow request rejected"))
        ! 404 Follow request not found
        """
}
