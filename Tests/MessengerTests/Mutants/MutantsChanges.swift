import Contract
import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testbed

/// Mutants of changes: memberships, messages, read marks.
extension Mutant {
    private static let add = "POST /chats/{id}/members"
    private static let remove = "DELETE /chats/{id}/members/{userId}"
    private static let leave = "POST /chats/{id}/leave"
    private static let edit = "PUT /chats/{id}/messages/{msgId}"
    private static let delete = "DELETE /chats/{id}/messages/{msgId}"
    private static let read = "POST /chats/{id}/messages/{msgId}/read"
    private static let receipts = "GET /chats/{id}/receipts"
    private static let history = "GET /chats/{id}/messages"
    private static let memberFrames = "/ws members"
    private static let changeFrames = "/ws message_edited"
    private static let typing = "/ws typing"

    static let memberships: [Mutant] = [
        .leaking("lets strangers add", add, add, [404]),
        .leaking("lets members add", add, add, [403]),
        .status("answers 201", add, of: add, 200, 201),
        .body("makes everybody owner", add, of: add, #""role":"member""#, #""role":"owner""#),
        .answer("answers nothing", add, to: add) { response, _ in
            if response.status == .ok { response = TransportResponse(status: .noContent) }
        },
        .exchange("leaves out unknown users", add, add) { request, forward in
            let response = try await forward(request)
            guard response.text.hasPrefix(#"{"error":"Unknown member_ids"#) else { return response }
            var request = request
            request.json = [:]
            return try await forward(request)
        },
        .lenient("takes users for what they are not", add, of: add, to: "member_ids must be an array of user ids") {
            $0.json = [:]
        },
        .refusal("does not tell groups apart", add, "Not a group chat", "Chat not found or access denied"),
        .refusing("knows no repeats", add, of: add, 409, "Already a member") { request in
            if case .list(let ids)? = request.json["user_ids"] { Set(ids).count < ids.count } else { false }
        },
        Mutant(add, "hides what was said before") {
            let newest = NIOLockedValueBox<Int64>(0)
            let late = NIOLockedValueBox<[Int64: Int64]>([:])
            let people = KnownUsers()
            return Defect(exchange: { request, forward in
                var response = try await forward(request)
                people.note(request, response)
                if request.isFor("POST /chats/{id}/messages") {
                    newest.withLockedValue { $0 = max($0, response.text[integer: "id"]) }
                }
                if request.isFor(add), response.status == .ok, case .list(let ids)? = request.json["user_ids"] {
                    let now = newest.withLockedValue { $0 }
                    for case .integer(let id) in ids { late.withLockedValue { $0[id] = $0[id] ?? now } }
                }
                if request.isFor(history), response.status == .ok,
                    let user = people.signIn(withAccess: request.token ?? "")?.user,
                    let start = late.withLockedValue({ $0[user] })
                {
                    response.rows = response.rows.filter { $0[integer: "id"] > start }
                }
                return response
            })
        },

        .leaking("lets members remove", remove, remove, [403]),
        .exchange("removes nobody", remove, remove) { request, forward in
            let isOther = request.id.map { $0 > 0 && $0 < 1_000_000 } ?? false
            return isOther ? TransportResponse(status: .noContent) : try await forward(request)
        },
        .answer("answers 200", remove, to: remove) { response, _ in
            if response.status == .noContent {
                response = .refusal(200, "")
                response.text = "{}"
            }
        },
        .answer("takes anybody for removed", remove, to: remove) { response, _ in
            if response.isRefusal("Member not found") { response = TransportResponse(status: .noContent) }
        },
        .exchange("lets the owner remove himself", remove, remove) { request, forward in
            let response = try await forward(request)
            return response.isRefusal("Use leave") ? TransportResponse(status: .noContent) : response
        },
        .leaking("shows the history to who is out", remove, history, [403]),
        .leaking("serves files to who is out", remove, "GET /files/{id}/download", [404]),
        .leaking("shows the chat to who is out", remove, "GET /chats/{id}", [404]),
        .leaking("takes messages from who is out", remove, "POST /chats/{id}/messages", [403]),

        .exchange("goes nowhere", leave, leave) { request, forward in TransportResponse(status: .noContent) },
        .answer("answers 200", leave, to: leave) { response, _ in
            if response.status == .noContent {
                response = .refusal(200, "")
                response.text = "{}"
            }
        },
        .exchange("keeps the last one in", leave, leave) { request, forward in
            var detail = request
            detail.method = .get
            detail.body = .none
            detail.url = URL(string: request.url.absoluteString.replacingOccurrences(of: "/leave", with: ""))!
            let chat = try await forward(detail)
            if case .list(let members)? = chat.json["members"], members.count == 1 {
                return .refusal(400, "The last member cannot leave")
            }
            return try await forward(request)
        },
        .answer("passes the role to the youngest", leave, to: "GET /chats/{id}") { response, _ in
            guard case .list(let members)? = response.json["members"], members.count > 2,
                case .integer(let id)? = members.last?["id"]
            else { return }
            response.text = response.text.replacingOccurrences(
                of: #""owner_id":\d+"#, with: #""owner_id":\#(id)"#, options: .regularExpression)
        },
        Mutant(leave, "lists a chat that was left") {
            let left = NIOLockedValueBox<Set<String>>([])
            return Defect(exchange: { request, forward in
                var response = try await forward(request)
                if request.isFor(leave), response.status == .noContent, let id = request.id {
                    left.withLockedValue { _ = $0.insert("\(id) \(request.token ?? "")") }
                }
                if request.isFor("GET /chats"), response.status == .ok {
                    for entry in left.withLockedValue({ $0 }) where entry.hasSuffix(" \(request.token ?? "")") {
                        response.rows += [
                            #"{"id":\#(entry.prefix { $0 != " " }),"type":"group","name":"Team","#
                                + #""updated_at":"2026-02-23T10:00:00Z","last_message":null}"#
                        ]
                    }
                }
                return response
            })
        },
        .keepingFiles("keeps the files of a chat that is gone", leave),
    ]

    static let memberEvents: [Mutant] = [
        .frames("does not tell who came", memberFrames, isSilent: true, "member_added") { _ in [] },
        .frames("does not tell who went", memberFrames, isSilent: true, "member_removed") { _ in [] },
        .frames("tells twice who came", memberFrames, "member_added") { [$0, $0] },
        .frame("does not name who came", memberFrames, "member_added", #","user_id":\d+"#, ""),
        .frame("names somebody else", memberFrames, "member_removed", #""user_id":\d+"#, #""user_id":99999"#),
        .frame("calls it joined", memberFrames, "member_added", "member_added", "joined"),
        .frames("does not end subscriptions", memberFrames, isSilent: true, "unsubscribed") { _ in [] },
        .overhearing("pushes to who is out", memberFrames),
    ]

    static let edits: [Mutant] = [
        .body("does not say when", edit, of: edit, #","edited_at":"[^"]*""#, ""),
        .body(
            "says it before the time of the send", edit, of: edit, #"("created_at":"[^"]*"),("edited_at":"[^"]*")"#,
            "$2,$1"),
        .body("writes times with a fraction", edit, of: edit, #"(\d\d)Z"\}"#, #"$1.5Z"}"#),
        .status("answers 201", edit, of: edit, 200, 201),
        .leaking("lets members edit", edit, edit, [403]),
        .exchange("keeps the old text", edit, edit) { request, forward in
            guard let content = request.string("content") else { return try await forward(request) }
            var other = request
            other.json["content"] = "the old text"
            var response = try await forward(other)
            response.text = response.text.replacingOccurrences(
                of: #""content":"the old text""#, with: #""content":\#(JSONValue.string(content))"#)
            return response
        },
        .request("trims the text", edit, of: edit) { request in
            if let content = request.string("content"), !content.allSatisfy(\.isWhitespace) {
                request.json["content"] = .string(content.trimmingCharacters(in: .whitespacesAndNewlines))
            }
        },
        .request("shows always when", edit, of: history) { $0.setQuery("include", "edited") },
        .request("never shows when", edit, of: history) { $0.setQuery("include", nil) },
        .request("looks for the word anywhere", edit, of: history) { request in
            if request.query("include")?.contains("edited") == true { request.setQuery("include", "edited") }
        },
        .request("knows one word alone", edit, of: history) { request in
            if request.query("include")?.contains(",") == true { request.setQuery("include", nil) }
        },
        .answer("hides whose it is", edit, to: edit) { response, _ in
            if response.isRefusal("Only the sender can change a message") {
                response = .refusal(404, "Message not found")
            }
        },
        .refusal("does not tell kinds apart", edit, "Only text messages can be changed", "content or file_id required"),
        .answer("looks at the membership first", edit, to: edit) { response, request in
            if response.status == .badRequest, request.id == 0 { response = .refusal(404, "Message not found") }
        },
        .body("has the list's name for the kind", edit, of: edit, #""type":"#, #""message_type":"#),
    ]

    static let deletions: [Mutant] = [
        .exchange("deletes nothing", delete, delete) { request, forward in
            (request.id ?? 0) > 0 ? TransportResponse(status: .noContent) : try await forward(request)
        },
        .answer("answers 200", delete, to: delete) { response, _ in
            if response.status == .noContent {
                response = .refusal(200, "")
                response.text = #"{"deleted":true}"#
            }
        },
        .answer("takes what is gone for deleted", delete, to: delete) { response, _ in
            if response.isRefusal("Message not found") { response = TransportResponse(status: .noContent) }
        },
        Mutant(delete, "leaves a trace in the list") {
            let gone = NIOLockedValueBox<[(chat: Int64, row: String)]>([])
            return Defect(exchange: { request, forward in
                if request.isFor(delete) {
                    var list = request
                    list.method = .get
                    list.url = URL(
                        string: request.url.absoluteString.replacingOccurrences(
                            of: #"/\d+$"#, with: "", options: .regularExpression))!
                    let row = try await forward(list).rows.first { $0[integer: "id"] == request.id }
                    if let row { gone.withLockedValue { $0.append((row[integer: "chat_id"], row)) } }
                }
                var response = try await forward(request)
                if request.isFor(history), response.status == .ok {
                    let rows = gone.withLockedValue { $0 }.filter { $0.chat == request.id }.map(\.row)
                    response.rows = (response.rows + rows).sorted { $0[integer: "id"] > $1[integer: "id"] }
                }
                return response
            })
        },
        Mutant(delete, "leaves the text in the list of chats") {
            let texts = NIOLockedValueBox<[Int64: String]>([:])
            return Defect(exchange: { request, forward in
                var response = try await forward(request)
                if request.isFor("POST /chats/{id}/messages"), response.status == .created {
                    texts.withLockedValue { $0[response.text[integer: "chat_id"]] = response.text[text: "content"] }
                }
                guard request.isFor("GET /chats"), response.status == .ok else { return response }
                response.rows = response.rows.map { row in
                    guard let text = texts.withLockedValue({ $0[row[integer: "id"]] }) else { return row }
                    let member = #""last_message":\#(JSONValue.string(text))}"#
                    return row.replacingOccurrences(
                        of: #""last_message":.*\}$"#, with: NSRegularExpression.escapedTemplate(for: member),
                        options: .regularExpression)
                }
                return response
            })
        },
        .keepingFiles("keeps the file open", delete),
        .status("answers 403 for what is gone", delete, of: delete, 404, 403),
    ]

    static let changeEvents: [Mutant] = [
        .frames("does not tell of edits", changeFrames, isSilent: true, "message_edited") { _ in [] },
        .frames("does not tell of deletions", changeFrames, isSilent: true, "message_deleted") { _ in [] },
        .frames("tells twice of edits", changeFrames, "message_edited") { [$0, $0] },
        .frame("does not say when", changeFrames, "message_edited", #","edited_at":"[^"]*""#, ""),
        .frame("has the old text", changeFrames, "message_edited", #""content":"[^"]*""#, #""content":"one""#),
        .frame(
            "cuts the text", changeFrames, "message_edited", #""content":"(.{20}).{1000,}?","edited"#,
            #""content":"$1","edited"#),
        .frame("tells who deleted", changeFrames, "message_deleted", #"\}$"#, #","user_id":1}"#),
        .frame("names another message", changeFrames, "message_deleted", #""id":\d+"#, #""id":99999"#),
        .frame("pushes edits as messages", changeFrames, "message_edited", "message_edited", "message"),
    ]

    static let marks: [Mutant] = [
        .answer("answers 200", read, to: read) { response, _ in
            if response.status == .noContent {
                response = .refusal(200, "")
                response.text = "{}"
            }
        },
        .exchange("marks nothing", read, read) { request, forward in
            (request.id ?? 0) > 0 ? TransportResponse(status: .noContent) : try await forward(request)
        },
        Mutant(read, "moves back") {
            let marks = NIOLockedValueBox<[String: Int64]>([:])
            let people = KnownUsers()
            return Defect(exchange: { request, forward in
                var response = try await forward(request)
                people.note(request, response)
                let steps = request.url.path.split(separator: "/").compactMap { Int64($0) }
                if request.isFor(read), response.status == .noContent,
                    let user = people.signIn(withAccess: request.token ?? "")?.user
                {
                    marks.withLockedValue { $0["\(steps[0]) \(user)"] = steps[1] }
                }
                guard request.isFor(receipts), response.status == .ok else { return response }
                response.rows = response.rows.map { row in
                    guard let mark = marks.withLockedValue({ $0["\(steps[0]) \(row[integer: "user_id"])"] }) else {
                        return row
                    }
                    return row.replacingOccurrences(
                        of: #""last_read_message_id":\d+"#, with: #""last_read_message_id":\#(mark)"#,
                        options: .regularExpression)
                }
                return response
            })
        },
        .frames("does not tell", read, isSilent: true, "read") { _ in [] },
        .frames("tells twice", read, "read") { [$0, $0] },
        .frame("does not say when", read, "read", #","read_at":"[^"]*""#, ""),
        .frame("names somebody else", read, "read", #""user_id":\d+"#, #""user_id":99999"#),
        .leaking("shows receipts to strangers", receipts, receipts, [403]),
        .leaking("takes marks from strangers", receipts, read, [403]),
        .answer("is in reverse order", receipts, to: receipts) { response, _ in
            if response.status == .ok { response.rows.reverse() }
        },
        .answer("shows who has read nothing", receipts, to: receipts) { response, _ in
            if response.status == .ok {
                response.rows += [#"{"user_id":99999,"last_read_message_id":null,"read_at":null}"#]
            }
        },
        .body("does not say when", receipts, of: receipts, #","read_at":"[^"]*""#, ""),
        .answer("takes any message for read", receipts, to: read) { response, _ in
            if response.isRefusal("Message not found") { response = TransportResponse(status: .noContent) }
        },
        .request("counts always what is unread", "GET /chats", of: "GET /chats") { $0.setQuery("include", "unread") },
        .request("never counts what is unread", "GET /chats", of: "GET /chats") { $0.setQuery("include", nil) },
        .body("counts one more", "GET /chats", of: "GET /chats", #""unread_count":0"#, #""unread_count":1"#),
        .body("counts to two", "GET /chats", of: "GET /chats", #""unread_count":\d\d*"#, #""unread_count":2"#),
    ]

    static let typingEvents: [Mutant] = [
        .frames("tells nobody", typing, isSilent: true, "typing") { _ in [] },
        .frames("tells twice", typing, "typing") { [$0, $0] },
        .frame("does not name who", typing, "typing", #","user_id":\d+"#, ""),
        .frame("tells a name", typing, "typing", #"\}$"#, #","username":"alice"}"#),
        .frame(
            "does not tell a missing subscription", typing, "error", "Not subscribed to this chat",
            "Not a member of this chat"),
        .socket("tells the typist", typing) {
            let user = NIOLockedValueBox<Int64>(0)
            return SocketDefect(
                sent: { frame in
                    guard frame.contains(#""typing""#), case .integer(let chat)? = frame[member: "chat_id"], chat > 0,
                        chat < 1_000
                    else { return ([frame], []) }
                    return (
                        [frame], [#"{"type":"typing","chat_id":\#(chat),"user_id":\#(user.withLockedValue { $0 })}"#]
                    )
                },
                received: { frame in
                    if frame.contains(#""auth_ok""#) { user.withLockedValue { $0 = frame[integer: "user_id"] } }
                    return [frame]
                })
        },
    ]

    /// Lets a user who could fetch a file once fetch it always.
    static func keepingFiles(_ name: String, _ clause: String) -> Mutant {
        Mutant(clause, name) {
            let locations = NIOLockedValueBox<[Int64: TransportResponse]>([:])
            return Defect(exchange: { request, forward in
                let response = try await forward(request)
                guard request.isFor("GET /files/{id}/download"), let file = request.id else { return response }
                return locations.withLockedValue { locations in
                    if response.status == .found { locations[file] = response }
                    return locations[file] ?? response
                }
            })
        }
    }
}
