@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

/// The table of permissions, cell by cell.
extension MessengerScenarios {
    static let authorisation: [Scenario<MessengerWorld>] = [
        Scenario(
            "Each endpoint answers anonymous, outsider, member and owner as the table says", clause: "Authorisation"
        ) { world, owner, member, outsider in
            let chat = try await owner.group(with: member)
            let file = try await owner.upload()
            try await owner.send(Messenger.SendMessage(chat: chat, content: "", type: .file, file: file))
            let (missing, foreign) = ("Missing Authorization header", "Not a member of this chat")
            let noChat = "Chat not found or access denied"
            let group = #"{"type":"group","name":"Team"}"#
            // The last column is an outsider's refusal; nil where every signed-in user has access.
            let table: [(HTTPRequest.Method, path: String, body: String?, success: Int, outsider: (Int, String)?)] = [
                (.get, "/me", nil, 200, nil), (.get, "/users/\(owner.id)", nil, 200, nil),
                (.get, "/users/search?q=a", nil, 200, nil), (.post, "/chats", group, 201, nil),
                (.get, "/chats", nil, 200, nil), (.get, "/chats/\(chat)", nil, 200, (404, noChat)),
                (.get, "/chats/\(chat)/messages", nil, 200, (403, foreign)),
                (.post, "/chats/\(chat)/messages", #"{"content":"a"}"#, 201, (403, foreign)),
                (.get, "/files/\(file)/download", nil, 302, (404, "File not found")),
            ]
            for (method, path, body, success, refusal) in table {
                try await world.raw.send(method, path, body: body).refused(401, missing, path)
                for person in [owner, member] {
                    let answer = try await person.raw(method, path, body: body)
                    try expect(answer.status == success, "\(method) \(path): \(answer.status) \(answer.text)")
                }
                let answer = try await outsider.raw(method, path, body: body)
                if let (status, text) = refusal {
                    try answer.refused(status, text, path)
                } else {
                    try expect(answer.status == success, "\(method) \(path): \(answer.status) \(answer.text)")
                }
            }
            let listed = try await outsider.send(Messenger.ListChats()).map(\.id)
            try expect(listed.count == 1 && listed != [chat], "an outsider's list: \(listed)")
            let form = Form(filename: "a.txt")
            try await world.raw.send(.post, "/files", headers: [.contentType: form.contentType], bytes: form.body)
                .refused(401, missing)
            for person in [owner, member, outsider] { _ = try await person.upload() }
        },
        Scenario(
            "Registering, signing in and refreshing ask for no credentials and look at none", clause: "Authentication"
        ) { world, alice in
            for header in [nil, "Basic x", "Bearer x", "Bearer \(alice.token)", "Bearer \(alice.refreshToken)"] {
                var headers = HTTPFields()
                headers[.authorization] = header
                let name = world.freshName()
                let bodies: [(path: String, status: Int, body: JSONValue)] = [
                    (
                        "/auth/register", 201,
                        ["username": .string(name), "email": .string("\(name)@b"), "password": "12345678"]
                    ),
                    ("/auth/login", 200, ["username": .string(name), "password": "12345678"]),
                    ("/auth/refresh", 200, ["refresh_token": .string(alice.refreshToken)]),
                ]
                for (path, status, body) in bodies {
                    try await world.post(path, body, headers: headers).succeeded(status, path)
                }
            }
        },
        Scenario("A socket tells members and others apart as the table says", clause: "Authorisation") {
            world, owner, member, outsider in
            let chat = try await owner.group(with: member)
            let subscribe: JSONValue = ["type": "subscribe", "chat_id": chat.json]

            let anonymous = try await world.rawSocket()
            try await anonymous.send(subscribe)
            try await anonymous.expect(["type": "error", "message": "Not authenticated"])
            try await anonymous.expectClose(1008)

            let stranger = try await outsider.rawSocket()
            for since in [nil, 0] as [JSONValue?] {
                var frame: [String: JSONValue] = ["type": "subscribe", "chat_id": chat.json]
                frame["since"] = since
                try await stranger.send(.object(frame))
                try await stranger.expect(["type": "error", "message": "Not a member of this chat"])
            }
            let own = try await outsider.group()
            try await stranger.send(["type": "subscribe", "chat_id": own.json])
            try await stranger.expect(["type": "subscribed", "chat_id": own.json])
            let sockets = [try await owner.socket(), try await member.socket()]
            for socket in sockets { try await socket.subscribe(to: chat) }
            let sent = try await owner.say("for members", in: chat)
            for socket in sockets {
                try expect(try await socket.message(), equals: sent)
                await socket.close()
            }
            // If the outsider had received the message, it would come before this one.
            let last = try await outsider.say("for strangers", in: own)
            try expect(try await stranger.frame()["id"], equals: last.id.json)
            await stranger.close()
        },
    ]
}
