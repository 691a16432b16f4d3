import ContractCheck

/// The names and types on the wire, as the contract's examples show them.
enum DunbarShapes {
    static let all = WireShapes(operations: operations, failure: failure, frames: [:])

    private static let operations: [WireShapes.Operation] = [
        .init("POST", "/login", [200: wrapped(.object(account))]),
        .init("POST", "/register", [201: wrapped(.object(account.merging(["message": .text]) { $1 }))]),
        .init("POST", "/logout", [200: said("Logged out successfully")]),
        .init("GET", "/user", [200: wrapped(.object(account.merging(["emailVerified": boolean]) { $1 }))]),
        .init("GET", "/verify-email/{token}", [200: said("Email verified")]),
        .init("POST", "/verify-email/resend", [200: said("Verification email sent")]),
        .init(
            "POST", "/forgot-password",
            [200: said("If an account exists with this email, you will receive password reset instructions.")]),
        .init("POST", "/reset-password", [200: said("Password has been reset")]),
        .init("POST", "/account/delete", [200: said("Account deleted successfully")]),
        .init("GET", "/users/search", [200: .list(of: profile)]),
        .init("GET", "/users/{id}", [200: wrapped(profile)]),
        .init("PATCH", "/users/{id}", [200: .anyOf([.object(account), profile])]),
        .init("POST", "/users/{id}/photo", [200: .anyOf([.object(account), profile])]),
        .init("POST", "/posts", [201: post]),
        .init("GET", "/posts", [200: .list(of: post)]),
        .init("GET", "/posts/{id}", [200: .list(of: post)]),
        .init("GET", "/users/{id}/posts", [200: .list(of: post)]),
        .init("GET", "/feed", [200: .list(of: post)]),
        .init("DELETE", "/posts/{id}", [200: said("Post deleted")]),
        .init("POST", "/posts/{id}/report", [200: said("Post reported")]),
        .init("POST", "/posts/{id}/comments", [201: comment]),
        .init("GET", "/posts/{id}/comments", [200: .list(of: comment)]),
        .init("DELETE", "/comments/{id}", [200: said("Comment deleted")]),
        .init("POST", "/users/{id}/follow", [200: .anyOf([said("Following"), said("Follow request sent")])]),
        .init(
            "POST", "/users/{id}/unfollow", [200: .anyOf([said("Unfollowed"), said("Follow request withdrawn")])]),
        .init("POST", "/users/{id}/block", [200: said("User blocked")]),
        .init("DELETE", "/users/{id}/block", [200: said("User unblocked")]),
        .init("GET", "/blocks", [200: .list(of: profile)]),
        .init("POST", "/followers/{id}/remove", [200: said("Follower removed successfully")]),
        .init("GET", "/users/{id}/followers", [200: .list(of: profile)]),
        .init("GET", "/users/{id}/following", [200: .list(of: profile)]),
        .init(
            "GET", "/follow-requests/pending",
            [200: .list(of: .object(["id": .id, "createdAt": .milliseconds, "follower": summary]))]),
        .init(
            "GET", "/follow-requests/outgoing",
            [200: .list(of: .object(["id": .id, "createdAt": .milliseconds, "following": summary]))]),
        .init("POST", "/follow-requests/{id}/accept", [200: said("Follow request accepted")]),
        .init("POST", "/follow-requests/{id}/reject", [200: said("Follow request rejected")]),
        .init(
            "GET", "/storage/health",
            [
                200: .object([
                    "status": "healthy", "timestamp": .milliseconds,
                    "components": .object(["server": "healthy", "database": "healthy", "storage": "healthy"]),
                ])
            ]),
    ]

    /// An unhealthy server answers more than a message.
    private static let failure: Shape = .anyOf([
        .object(["message": .text]),
        .object([
            "status": "unhealthy", "timestamp": .milliseconds, "message": "Service unavailable",
            "components": .object(["server": "healthy", "database": state, "storage": state]),
        ]),
    ])

    private static let state: Shape = .oneOf(["healthy", "error"])
    private static let boolean: Shape = .oneOf([true, false])

    private static func said(_ text: String) -> Shape { .object(["message": .exactly(.string(text))]) }

    private static func wrapped(_ user: Shape) -> Shape {
        .object(["user": user, "isFollowing": boolean, "isPending": boolean])
    }

    private static let account: [String: Shape] = [
        "id": .id, "username": .text, "email": .text, "bio": .nullable(.text), "photo": .nullable(.text),
        "isAdmin": boolean, "createdAt": .milliseconds, "isPrivate": boolean, "displayName": .text,
    ]

    private static let profile: Shape = .object([
        "id": .id, "username": .text, "displayName": .text, "bio": .nullable(.text), "photo": .nullable(.text),
        "isPrivate": boolean, "createdAt": .milliseconds,
    ])

    private static let summary: Shape = .object([
        "id": .id, "username": .text, "displayName": .text, "photo": .nullable(.text),
    ])

    private static let post: Shape = .object([
        "id": .id, "content": .text, "media": .list(of: .text), "userId": .id, "createdAt": .milliseconds,
        "user": summary,
    ])

    private static let comment: Shape = .object([
        "id": .id, "content": .text, "postId": .id, "userId": .id, "createdAt": .milliseconds, "user": summary,
    ])
}
