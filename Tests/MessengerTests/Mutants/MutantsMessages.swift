import Contract
import ContractClient
import Foundation
import HTTPTypes
import Testbed

extension Mutant {
    private static let send = "POST /chats/{id}/messages"
    private static let history = "GET /chats/{id}/messages"

    static let sending: [Mutant] = [
        .body("answers message_type", send, of: send, #""type":"#, #""message_type":"#),
        .body("leaves out a file that is null", send, of: send, #""file_id":null,"#, ""),
        .body(
            "has the file behind the time", send, of: send, #"("file_id":[a-z0-9]+),("created_at":"[^"]*")"#, "$2,$1"),
        .body("writes times with a fraction", send, of: send, #"(\d\d)Z""#, #"$1.123Z""#),
        .body("has another sender", send, of: send, #""sender_id":\d+"#, #""sender_id":99999"#),
        .body("writes ids as text", send, of: send, #"^\{"id":(\d+)"#, #"{"id":"$1""#),
        .body("tells who has read it", send, of: send, #"\}$"#, #","read_by":[]}"#),
        .body("has null for content that is empty", send, of: send, #""content":"""#, #""content":null"#),
        .status("answers 200", send, of: send, 201, 200),
        .request("trims content", send, of: send) { request in
            if let text = request.string("content") {
                request.json["content"] = .string(text.trimmingCharacters(in: .whitespacesAndNewlines))
            }
        },
        .request("composes content", send, of: send) { request in
            if let text = request.string("content") {
                request.json["content"] = .string(text.precomposedStringWithCanonicalMapping)
            }
        },
        .request("makes content safe for HTML", send, of: send) { request in
            if let text = request.string("content") {
                request.json["content"] = .string(text.replacingOccurrences(of: "<", with: "&lt;"))
            }
        },
        .refusing("counts content in bytes", send, of: send, 400, "content too long (max 16384 characters)") {
            ($0.string("content")?.utf8.count ?? 0) > 16_384
        },
        .request("cuts content that is too long", send, of: send) { request in
            if let text = request.string("content"), text.unicodeScalars.count > 16_384 {
                request.json["content"] = "cut"
            }
        },
        .lenient("takes a text without a character that shows", send, of: send, to: "content or file_id required") {
            $0.json = ["content": "x"]
        },
        .exchange("takes any file", send, send) { request, forward in
            var response = try await forward(request)
            guard response.isRefusal("File not found"), let file = request.json["file_id"] else { return response }
            var without = request
            without.json = ["content": "x"]
            response = try await forward(without)
            response.text = response.text.replacingOccurrences(of: #""file_id":null"#, with: #""file_id":\#(file)"#)
            return response
        },
        .request("drops captions", send, of: send) { request in
            if request.string("type") == "file" { request.json["content"] = "" }
        },
        .lenient("takes any type", send, of: send, to: "type must be 'text', 'file' or 'voice'") {
            $0.json["type"] = "text"
        },
        .leaking("takes messages from strangers", send, send, [403]),
        .status("answers 404 to strangers", send, of: send, 403, 404),
        .answer("looks at the membership first", send, to: send) { response, request in
            if response.status == .badRequest, request.id == 0 { response = .refusal(403, "Not a member of this chat") }
        },
    ]

    static let histories: [Mutant] = [
        .body("answers type", history, of: history, #""message_type":"#, #""type":"#),
        .body("leaves out a file that is null", history, of: history, #""file_id":null,"#, ""),
        .body("writes times with a fraction", history, of: history, #"(\d\d)Z""#, #"$1.123Z""#),
        .body("has another chat", history, of: history, #""chat_id":\d+"#, #""chat_id":99999"#),
        .answer("is oldest first", history, to: history) { response, _ in
            if response.status == .ok { response.rows.reverse() }
        },
        .request("shows the message before which it asks", history, of: history) { request in
            if let before = request.query("before").flatMap(Int64.init), before < .max {
                request.setQuery("before", "\(before + 1)")
            }
        },
        .request("leaves out one more", history, of: history) { request in
            if let before = request.query("before").flatMap(Int64.init), before > 1 {
                request.setQuery("before", "\(before - 1)")
            }
        },
        .request("does not know before", history, of: history) { $0.setQuery("before", nil) },
        .request("does not know limit", history, of: history) { $0.setQuery("limit", nil) },
        .request("shows one more than the limit", history, of: history) { request in
            if let limit = request.query("limit").flatMap(Int.init), 1..<100 ~= limit {
                request.setQuery("limit", "\(limit + 1)")
            }
        },
        .request("shows 20 by default", history, of: history) { request in
            if request.query("limit") == nil { request.setQuery("limit", "20") }
        },
        .refusing("refuses a limit above 100", history, of: history, 400, "Invalid limit") {
            ($0.query("limit").flatMap(Int.init) ?? 1) > 100
        },
        .request("shows 200 at most", history, of: history) { request in
            if let limit = request.query("limit").flatMap(Int.init), limit > 100 { request.setQuery("limit", "99") }
        },
        .exchange("shows the newest after an id", history, history) { request, forward in
            guard request.query("after") != nil, let limit = request.query("limit").flatMap(Int.init) else {
                return try await forward(request)
            }
            var all = request
            all.setQuery("limit", "100")
            var response = try await forward(all)
            if response.status == .ok { response.rows = Array(response.rows.prefix(limit)) }
            return response
        },
        .answer("shows what follows an id ascending", history, to: history) { response, request in
            if request.query("after") != nil, response.status == .ok { response.rows.reverse() }
        },
        .answer("shows a message twice", history, to: history) { response, _ in
            if response.status == .ok { response.rows = response.rows.prefix(1) + response.rows }
        },
        .answer("leaves one out", history, to: history) { response, _ in
            if response.rows.count > 3 { response.rows.remove(at: 1) }
        },
        .answer("has another time than the send", history, to: history) { response, _ in
            response.text = response.text.replacingOccurrences(
                of: #""created_at":"[^"]*""#, with: #""created_at":"2026-01-01T00:00:00Z""#, options: .regularExpression
            )
        },
        .lenient("takes before and after", history, of: history, to: "before and after cannot be combined") {
            $0.setQuery("after", nil)
        },
        .lenient("takes any limit", history, of: history, to: "Invalid limit") { request in
            for name in ["limit", "before", "after"] { request.setQuery(name, nil) }
        },
        .leaking("shows a chat to strangers", history, history, [403]),
        .status("answers 404 to strangers", history, of: history, 403, 404),
        .answer("answers an object", history, to: history) { response, _ in
            if response.status == .ok { response.text = #"{"messages":\#(response.text),"has_more":false}"# }
        },
        .exchange("shows other chats too", history, history) { request, forward in
            var response = try await forward(request)
            guard response.status == .ok, let id = request.id else { return response }
            var other = request
            other.url = URL(
                string: request.url.absoluteString.replacingOccurrences(of: "/chats/\(id)/", with: "/chats/\(id + 1)/"))!
            let foreign = try await forward(other)
            if foreign.status == .ok {
                response.rows = (response.rows + foreign.rows).sorted { $0[integer: "id"] > $1[integer: "id"] }
            }
            return response
        },
    ]
}
