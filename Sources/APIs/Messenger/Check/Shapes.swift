import ContractCheck
import Foundation
import HTTPTypes

/// The names and types on the wire, as the contract's examples show them. They are written by hand and not taken from
/// the SDK's types, which might contain the same mistake.
enum MessengerShapes {
    static let all = WireShapes(operations: operations, failure: failure, frames: frames)

    private static let operations: [WireShapes.Operation] = [
        .init("POST", "/auth/register", [201: .object(["id": .id, "username": .text])]),
        .init(
            "POST", "/auth/login",
            [
                200: .object([
                    "access_token": .text, "refresh_token": .text, "token_type": "Bearer", "expires_in": 3600,
                    "user_id": .id,
                ])
            ]),
        .init(
            "POST", "/auth/refresh",
            [200: .object(["access_token": .text, "token_type": "Bearer", "expires_in": 3600])]),
        .init("POST", "/auth/logout", [204: nil]),
        .init(
            "GET", "/me",
            [
                200: .object(
                    [
                        "id": .id, "username": .text, "email": .text, "display_name": .text, "bio": .nullable(.text),
                        "created_at": .timestamp,
                    ], additions: ["avatar_file_id": .nullable(.id)])
            ]),
        .init(
            "PUT", "/me",
            [
                200: .object([
                    "id": .id, "username": .text, "email": .text, "display_name": .text, "bio": .nullable(.text),
                    "created_at": .timestamp, "avatar_file_id": .nullable(.id),
                ])
            ]),
        .init("DELETE", "/me", [204: nil]),
        .init("GET", "/me/blocks", [200: .list(of: .object(summary))]),
        .init("POST", "/users/{id}/block", [204: nil]),
        .init("DELETE", "/users/{id}/block", [204: nil]),
        .init("GET", "/users/search", [200: .list(of: .object(summary))]),
        .init(
            "GET", "/users/{id}",
            [
                200: .object(
                    summary.merging(["bio": .nullable(.text)]) { $1 }, additions: ["avatar_file_id": .nullable(.id)])
            ]),
        .init(
            "POST", "/chats",
            [
                201: .object(["id": .id, "type": "created"]), 200: .object(["id": .id, "type": "existing"]),
            ]),
        .init(
            "GET", "/chats", including: "unread",
            [200: .list(of: .object(row.merging(["unread_count": .integer]) { $1 }))]),
        .init("GET", "/chats", [200: .list(of: .object(row))]),
        .init("GET", "/chats/{id}", [200: chat]),
        .init("POST", "/chats/{id}/members", [200: chat]),
        .init("DELETE", "/chats/{id}/members/{userId}", [204: nil]),
        .init("POST", "/chats/{id}/leave", [204: nil]),
        .init("POST", "/chats/{id}/messages", [201: message(kind: "type")]),
        .init(
            "GET", "/chats/{id}/messages", including: "edited",
            [200: .list(of: message(kind: "message_type", more: ["edited_at": .nullable(.timestamp)]))]),
        .init("GET", "/chats/{id}/messages", [200: .list(of: message(kind: "message_type"))]),
        .init(
            "PUT", "/chats/{id}/messages/{msgId}", [200: message(kind: "type", more: ["edited_at": .timestamp])]),
        .init("DELETE", "/chats/{id}/messages/{msgId}", [204: nil]),
        .init("POST", "/chats/{id}/messages/{msgId}/read", [204: nil]),
        .init(
            "GET", "/chats/{id}/receipts",
            [200: .list(of: .object(["user_id": .id, "last_read_message_id": .id, "read_at": .timestamp]))]),
        .init(
            "POST", "/files",
            [201: .object(["id": .id, "filename": .text, "mime_type": .text, "object_key": .text])]),
        .init("GET", "/files/{id}/download", [302: nil]),
        .init("DELETE", "/files/{id}", [204: nil]),
        .init("POST", "/reports", [201: .object(["id": .id])]),
    ]

    private static let failure: Shape = .object(["error": .text])

    /// The server's frames on `/ws`, by their `type`.
    private static let frames: [String: Shape] = [
        "auth_ok": frame("auth_ok", ["user_id": .id]),
        "error": .anyOf([frame("error", ["message": .text]), frame("error", ["message": .text, "chat_id": .id])]),
        "subscribed": frame("subscribed", ["chat_id": .id]),
        "pong": frame("pong"),
        "message": message(kind: "message_type", more: ["type": "message"]),
        "unsubscribed": frame("unsubscribed", ["chat_id": .id]),
        "resync": frame("resync", ["chat_id": .id]),
        "message_edited": frame(
            "message_edited", ["id": .id, "chat_id": .id, "content": .text, "edited_at": .timestamp]),
        "message_deleted": frame("message_deleted", ["id": .id, "chat_id": .id]),
        "read": frame("read", ["chat_id": .id, "user_id": .id, "message_id": .id, "read_at": .timestamp]),
        "typing": frame("typing", ["chat_id": .id, "user_id": .id]),
        "member_added": frame("member_added", ["chat_id": .id, "user_id": .id]),
        "member_removed": frame("member_removed", ["chat_id": .id, "user_id": .id]),
    ]

    private static let summary: [String: Shape] = ["id": .id, "username": .text, "display_name": .text]
    private static let chatType: Shape = .oneOf(["direct", "group"])

    private static let row: [String: Shape] = [
        "id": .id, "type": chatType, "name": .nullable(.text), "updated_at": .timestamp,
        "last_message": .nullable(.text),
    ]

    private static let chat: Shape = .object([
        "id": .id, "type": chatType, "name": .nullable(.text), "owner_id": .id, "created_at": .timestamp,
        "members": .list(of: .object(summary.merging(["role": .oneOf(["owner", "member"])]) { $1 })),
    ])

    /// - Parameter kind: The key for text, file or voice, which depends on where the message appears.
    private static func message(kind: String, more: [String: Shape] = [:]) -> Shape {
        let members: [String: Shape] = [
            "id": .id, "chat_id": .id, "sender_id": .id, "content": .text, kind: .oneOf(["text", "file", "voice"]),
            "created_at": .timestamp,
        ]
        return .object(members.merging(more) { $1 }, additions: ["file_id": .nullable(.id)])
    }

    private static func frame(_ type: String, _ members: [String: Shape] = [:]) -> Shape {
        .object(members.merging(["type": .exactly(.string(type))]) { $1 })
    }
}
