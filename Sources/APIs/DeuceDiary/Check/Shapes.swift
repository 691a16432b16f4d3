import ContractCheck

/// The names and types on the wire, as the contract's examples show them.
enum DeuceDiaryShapes {
    static let all = WireShapes(operations: operations, failure: .object(["message": .text]), frames: frames)

    private static let operations: [WireShapes.Operation] = [
        .init("GET", "/api/auth/user", [200: user]),
        .init("PUT", "/api/auth/user", [200: user]),
        .init("POST", "/api/auth/user/profile-picture", [200: user]),
        .init("DELETE", "/api/auth/user", [200: .object(["message": "Account deleted"])]),
        .init(
            "GET", "/api/auth/user/export",
            [
                200: .object([
                    "exportedAt": .milliseconds, "user": user, "entries": .list(of: .object(entry)),
                    "reactions": .list(of: .object(reaction)), "locations": .list(of: location),
                    "groups": .list(
                        of: .object(["id": .uuid, "name": .text, "role": role, "joinedAt": .milliseconds])),
                ])
            ]),
        .init("POST", "/api/groups", [200: .object(group)]),
        .init(
            "GET", "/api/groups",
            [
                200: .list(
                    of: .object(
                        group.merging([
                            "memberCount": .integer, "entryCount": .integer, "lastActivity": .nullable(.milliseconds),
                        ]) { $1 }))
            ]),
        .init(
            "GET", "/api/groups/{groupId}",
            [
                200: .object([
                    "group": .object(group), "members": .list(of: member),
                    "entries": .list(of: .object(entry.merging(["user": user]) { $1 })),
                ])
            ]),
        .init("POST", "/api/groups/{groupId}/leave", [200: .object(["message": "Left group"])]),
        .init("DELETE", "/api/groups/{groupId}/members/{userId}", [200: .object(["message": "Member removed"])]),
        .init(
            "GET", "/api/groups/preview/{inviteId}",
            [
                200: .object([
                    "name": .text, "memberCount": .integer, "deuceCount": .integer, "expiresAt": .milliseconds,
                ])
            ]),
        .init("POST", "/api/groups/{groupId}/invite", [200: .object(["inviteLink": .text, "id": .uuid])]),
        .init(
            "GET", "/api/groups/{groupId}/invites",
            [
                200: .list(
                    of: .object([
                        "id": .uuid, "inviteLink": .text, "createdBy": .text, "expiresAt": .milliseconds,
                        "createdAt": .milliseconds,
                    ]))
            ]),
        .init("DELETE", "/api/invites/{inviteId}", [200: .object(["message": "Invite revoked"])]),
        .init("POST", "/api/join/{inviteId}", [200: joined]),
        // The document says that it redirects, and not with which status.
        .init("GET", "/join/{inviteId}", [301: nil, 302: nil, 303: nil, 307: nil, 308: nil]),
        .init(
            "POST", "/api/deuces", [200: .object(["entries": .list(of: .object(entry)), "count": .integer])]),
        .init(
            "GET", "/api/deuces",
            [
                200: .list(
                    of: .object(entry.merging(["user": user, "reactions": .list(of: .object(reaction))]) { $1 }))
            ]),
        .init("DELETE", "/api/deuces/{entryId}", [200: .object(["message": "Entry deleted"])]),
        .init("POST", "/api/entries/{entryId}/reactions", [200: .object(reaction)]),
        .init("DELETE", "/api/entries/{entryId}/reactions", [200: .object(["message": "Reaction removed"])]),
        .init(
            "GET", "/api/entries/{entryId}/reactions",
            [200: .list(of: .object(reaction.merging(["user": user]) { $1 }))]),
        .init("GET", "/api/locations", [200: .list(of: location)]),
        .init("POST", "/api/locations", [200: location]),
        .init(
            "GET", "/api/analytics/most-deuces", [200: .object(["date": .text, "count": .integer])]),
    ]

    /// The server's frames on `/ws`, by their `type`.
    private static let frames: [String: Shape] = [
        "deuce_logged": .object([
            "type": "deuce_logged", "message": .text, "userId": .text,
            "entry": .object(entry.merging(["user": user]) { $1 }),
        ]),
        "error": .object(["type": "error", "message": .text]),
    ]

    private static let user: Shape = .object([
        "id": .text, "email": .nullable(.text), "firstName": .nullable(.text), "lastName": .nullable(.text),
        "username": .nullable(.text), "profileImageUrl": .nullable(.text), "deuceCount": .integer,
        "createdAt": .milliseconds, "updatedAt": .milliseconds,
    ])

    private static let group: [String: Shape] = [
        "id": .uuid, "name": .text, "description": .nullable(.text), "createdBy": .text, "createdAt": .milliseconds,
        "updatedAt": .milliseconds,
    ]

    private static let role: Shape = .oneOf(["admin", "member"])

    private static let member: Shape = .object([
        "id": .id, "groupId": .uuid, "userId": .text, "role": role, "joinedAt": .milliseconds,
        "user": user, "personalRecord": .nullable(.object(["date": .day, "count": .id])),
    ])

    private static let entry: [String: Shape] = [
        "id": .uuid, "userId": .text, "groupId": .uuid, "location": .text, "thoughts": .text,
        "loggedAt": .milliseconds, "createdAt": .milliseconds,
    ]

    /// The message is present for users who were already members.
    private static let joined: Shape = .anyOf([
        .object(["group": .object(group)]),
        .object(["group": .object(group), "message": "Already a member of this group"]),
    ])

    private static let reaction: [String: Shape] = [
        "id": .id, "entryId": .uuid, "userId": .text, "emoji": .text, "createdAt": .milliseconds,
    ]

    private static let location: Shape = .object([
        "id": .id, "name": .text, "isDefault": .oneOf([true, false]), "createdBy": .nullable(.text),
        "createdAt": .milliseconds,
    ])
}
