import Contract
import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testbed

extension Mutant {
    private static let create = "POST /chats"
    private static let list = "GET /chats"
    private static let detail = "GET /chats/{id}"

    static let creatingChats: [Mutant] = [
        .exchange("makes a second direct chat", create, create) { request, forward in
            let response = try await forward(request)
            guard response.status == .ok else { return response }
            var group = request
            group.headers[.idempotencyKey] = nil
            group.json["type"] = "group"
            group.json["name"] = "x"
            return try await forward(group)
        },
        .status("answers 201 for a chat there is", create, of: create, 200, 201),
        .status("answers 200 for a new chat", create, of: create, 201, 200),
        .body("calls a chat there is created", create, of: create, "existing", "created"),
        .body("answers the chat's kind", create, of: create, #""type":"created""#, #""type":"group""#),
        .body("leaves out the type", create, of: create, #","type":"[a-z]*""#, ""),
        .knowing("does not drop one's own id", create, create) { request, forward, people in
            let own = request.token.flatMap { people.signIn(withAccess: $0) }?.user
            guard case .list(let ids)? = request.json["member_ids"], request.string("type") != "group",
                let own, ids.contains(.integer(own)), ids.count > 1
            else { return try await forward(request) }
            return .refusal(400, "direct chat requires exactly one other member_id")
        },
        .exchange("leaves out unknown members", create, create) { request, forward in
            let response = try await forward(request)
            guard response.text.hasPrefix(#"{"error":"Unknown member_ids"#) else { return response }
            var request = request
            request.json = ["type": "group", "name": "x", "member_ids": []]
            return try await forward(request)
        },
        .answer("names unknown members as they came", create, to: create) { response, _ in
            guard response.text.contains("Unknown member_ids: "), let colon = response.text.range(of: ": ") else {
                return
            }
            let ids = response.text[colon.upperBound...].dropLast(2).components(separatedBy: ", ")
            response = .refusal(400, "Unknown member_ids: \(ids.reversed().joined(separator: ", "))")
        },
        .lenient("lets a group have no name", create, of: create, to: "name required for group chats") {
            $0.json = ["type": "group", "name": "x"]
        },
        .request("cuts a name that is too long", create, of: create) { request in
            if let name = request.string("name"), name.unicodeScalars.count > 100, name.first != " " {
                request.json["name"] = .string(String(name.prefix(50)))
            }
        },
        .lenient("knows channels", create, of: create, to: "type must be 'direct' or 'group'") {
            $0.json = ["type": "group", "name": "x"]
        },
        .lenient(
            "takes members for what they are not", create, of: create, to: "member_ids must be an array of user ids"
        ) {
            $0.json = ["type": "group", "name": "x"]
        },
        .refusal("has room for fewer", create, "a group has at most 500 members", "a group has at most 256 members"),
        Mutant(create, "shows a chat to others later") {
            let hidden = NIOLockedValueBox<Set<String>>([])
            return Defect(exchange: { request, forward in
                var response = try await forward(request)
                if request.isFor(create), response.status == .created, let token = request.token {
                    // The chat's creator sees it at once.
                    hidden.withLockedValue { _ = $0.insert("\(response.text[integer: "id"]) \(token)") }
                }
                if request.isFor(list), let token = request.token {
                    response.rows = response.rows.filter { row in
                        // Other users see it in their second list.
                        !hidden.withLockedValue { $0.insert("\(row[integer: "id"]) \(token)").inserted }
                    }
                }
                return response
            })
        },
    ]

    static let chatLists: [Mutant] = [
        .body("names direct chats", list, of: list, #""type":"direct","name":null"#, #""type":"direct","name":"Bob""#),
        .body("leaves out a name that is null", list, of: list, #""name":null,"#, ""),
        Mutant(list, "does not move the time") {
            let times = NIOLockedValueBox<[Int64: String]>([:])
            return Defect(exchange: { request, forward in
                var response = try await forward(request)
                guard request.isFor(list), response.status == .ok else { return response }
                response.rows = response.rows.map { row in
                    let first = times.withLockedValue { times in
                        let id = row[integer: "id"]
                        times[id] = times[id] ?? row[text: "updated_at"]
                        return times[id] ?? ""
                    }
                    return row.replacingOccurrences(of: row[text: "updated_at"], with: first)
                }
                return response
            })
        },
        .body("has null for a bare file", list, of: list, #""last_message":"""#, #""last_message":null"#),
        .body("has a text before the first message", list, of: list, #""last_message":null"#, #""last_message":"""#),
        .answer("trims the newest message", list, to: list) { response, _ in
            response.text = response.text.replacingOccurrences(
                of: #""last_message":" +"#, with: #""last_message":""#, options: .regularExpression)
        },
        Mutant(list, "shows the oldest message") {
            let first = NIOLockedValueBox<[Int64: String]>([:])
            return Defect(exchange: { request, forward in
                var response = try await forward(request)
                guard request.isFor(list), response.status == .ok else { return response }
                response.rows = response.rows.map { row in
                    guard case .string(let text)? = row[member: "last_message"] else { return row }
                    let shown = first.withLockedValue { first in
                        let id = row[integer: "id"]
                        first[id] = first[id] ?? text
                        return first[id] ?? ""
                    }
                    let (old, new) = (JSONValue.string(text), JSONValue.string(shown))
                    return row.replacingOccurrences(of: "\(old)}", with: "\(new)}")
                }
                return response
            })
        },
        .answer("is in the order of ids", list, to: list) { response, _ in
            if response.status == .ok { response.rows.sort { $0[integer: "id"] > $1[integer: "id"] } }
        },
        .answer("is in reverse order", list, to: list) { response, _ in
            if response.status == .ok { response.rows.reverse() }
        },
        .knowing("shows a stranger's chat", list, list) { request, forward, people in
            var response = try await forward(request)
            let ids = Set(response.rows.map { $0[integer: "id"] })
            for token in people.accessTokens where token != request.token {
                var other = request
                other.token = token
                let foreign = try await forward(other).rows.filter { !ids.contains($0[integer: "id"]) }
                if !foreign.isEmpty {
                    response.rows += foreign.prefix(1)
                    break
                }
            }
            return response
        },
        .answer("shows a chat twice", list, to: list) { response, _ in
            if response.status == .ok { response.rows += response.rows.suffix(1) }
        },
        .answer("leaves one out", list, to: list) { response, _ in
            if response.rows.count > 3 { response.rows.removeLast() }
        },
        .exchange("begins a page with the chat it follows", list, list) { request, forward in
            var response = try await forward(request)
            guard let before = request.query("before"), response.status == .ok else { return response }
            var all = request
            all.setQuery("before", nil)
            all.setQuery("limit", nil)
            response.rows = try await forward(all).rows.filter { $0[integer: "id"] == Int64(before) } + response.rows
            return response
        },
        .request("does not know limit", list, of: list) { $0.setQuery("limit", nil) },
        .request("does not know before", list, of: list) { $0.setQuery("before", nil) },
        .lenient("takes any limit", list, of: list, to: "Invalid limit") {
            $0.setQuery("limit", nil)
            $0.setQuery("before", nil)
        },
        .request("shows 100 by default", list, of: list) { request in
            if request.query("limit") == nil { request.setQuery("limit", "100") }
        },
        .body("writes times with a fraction", list, of: list, #"(\d\d)Z""#, #"$1.0Z""#),
    ]

    static let chatDetails: [Mutant] = [
        .leaking("shows a chat to strangers", detail, detail, [404]),
        .status("answers 403 to strangers", detail, of: detail, 404, 403),
        .answer("shows members in reverse", detail, to: detail) { response, _ in
            guard response.status == .ok, case .list(let members)? = response.json["members"] else { return }
            response.text =
                JSONValue.object(response.json.merging(["members": .list(members.reversed())]) { $1 })
                .description
        },
        .body("leaves out the roles", detail, of: detail, #","role":"[a-z]*""#, ""),
        .body("shows the owner as a member", detail, of: detail, #""role":"owner""#, #""role":"member""#),
        .body("shows everybody as owner", detail, of: detail, #""role":"member""#, #""role":"owner""#),
        .body("names a direct chat", detail, of: detail, #""name":null"#, #""name":"Bob""#),
        .body("tells when it was updated", detail, of: detail, #"\}$"#, #","updated_at":"2026-02-23T10:00:00Z"}"#),
        .body("leaves out the owner", detail, of: detail, #""owner_id":\d+,"#, ""),
        .body("has another owner", detail, of: detail, #""owner_id":\d+"#, #""owner_id":99999"#),
        .body("tells the members' addresses", detail, of: detail, #","role""#, #","email":"a@b","role""#),
        .request("does not trim a name", detail, of: create) { request in
            if let name = request.string("name"), name.hasPrefix(" ") {
                request.json["name"] = .string("\u{2060}" + name.dropFirst(2))
            }
        },
    ]
}
