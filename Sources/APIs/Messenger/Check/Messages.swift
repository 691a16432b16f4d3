@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import Foundation
import HTTPTypes
import MessengerClient

extension MessengerScenarios {
    static let messages: [Scenario<MessengerWorld>] = [
        Scenario(
            "A sent message says type, a listed one message_type, both file_id", clause: "POST /chats/{id}/messages"
        ) { _, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let file = try await alice.upload()
            let bodies: [[String: JSONValue]] = [
                ["content": "Hello!", "type": "text"], ["content": "Hello!"],
                ["content": "", "type": "file", "file_id": file.json], ["type": "voice", "file_id": file.json],
                ["content": " caption ", "type": "file", "file_id": file.json],
                ["content": "see", "file_id": file.json],
            ]
            var listed: [JSONValue] = []
            for body in bodies {
                let answer = try await alice.post("/chats/\(chat)/messages", .object(body))
                let sent = try answer.succeeded(201)
                try sent["created_at"]?.expectTimestamp()
                var message: [String: JSONValue] = [
                    "id": sent["id"] ?? .null, "chat_id": chat.json, "sender_id": alice.id.json,
                    "content": body["content"] ?? "", "type": body["type"] ?? "text",
                    "file_id": body["file_id"] ?? .null, "created_at": sent["created_at"] ?? .null,
                ]
                try expect(sent, equals: .object(message))
                let place = #""file_id":\#(body["file_id"] == nil ? "null" : "\(file)"),"created_at":"#
                try expect(answer.text.contains(place), "file_id is not right before created_at: \(answer.text)")
                message["message_type"] = message.removeValue(forKey: "type")
                listed.insert(.object(message), at: 0)
            }
            for person in [alice, bob] {
                let answer = try await person.get("/chats/\(chat)/messages")
                try expect(try answer.succeeded(200), equals: .list(listed))
                try expect(answer.text.contains(#""file_id":null,"created_at":"#), "file_id: \(answer.text)")
            }
        },
        Scenario("Content is kept as it was sent, up to 16,384 characters", clause: "POST /chats/{id}/messages") {
            _, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let contents = [
                "  two  \n", "\t.\r\n", "e\u{301}", "é", "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}",
                "\"\\/\u{8}\u{1F}",
                "<script>&amp;\u{2028}", "\u{202E}\u{FEFF}\u{10FFFF}", "'; DROP TABLE messages; --",
                String(repeating: "\u{1F600}", count: 16_384), String(repeating: "e\u{301}", count: 8192),
            ]
            for content in contents {
                let sent = try await bob.post("/chats/\(chat)/messages", ["content": .string(content)]).succeeded(201)
                let newest = try await alice.get("/chats/\(chat)/messages?limit=1").succeeded(200)[0]
                for found in [sent["content"], newest?["content"]] {
                    // The comparison is by scalars, because Swift treats composed and decomposed text as equal.
                    let same = found?.string.map { Array($0.unicodeScalars) == Array(content.unicodeScalars) }
                    try expect(
                        same == true,
                        "\(content.prefix(40).debugDescription) became \(found?.description.prefix(99) ?? "")")
                }
            }
            for content in [String(repeating: "\u{1F600}", count: 16_385), String(repeating: "e\u{301}", count: 8193)] {
                try await bob.post("/chats/\(chat)/messages", ["content": .string(content)])
                    .refused(400, "content too long (max 16384 characters)")
            }
        },
        Scenario("Sending refuses the first thing that is wrong", clause: "POST /chats/{id}/messages") {
            _, alice, bob, carol in
            let chat = try await alice.directChat(with: bob)
            let foreign = try await carol.upload()
            let long = JSONValue.string(String(repeating: "x", count: 16_385))
            let (type, empty) = ("type must be 'text', 'file' or 'voice'", "content or file_id required")
            let (tooLong, noFile) = ("content too long (max 16384 characters)", "Invalid file_id")
            let refused: [(body: JSONValue, text: String)] = [
                (["content": "\u{200B}\u{2800}\u{FE0F}"], empty),
                (["type": "image", "content": " ", "file_id": 0], type), (["type": "", "content": "x"], type),
                (["type": "Text", "content": "x"], type), ([:], empty), (["content": "", "file_id": 0], empty),
                (["content": " \n\t\u{A0}\u{2003}\u{2028}", "file_id": foreign.json], empty),
                (["type": "file", "content": long], empty), (["type": "voice", "content": "x", "file_id": nil], empty),
                (["content": long, "file_id": 0], tooLong), (["type": "file", "content": long, "file_id": 0], tooLong),
                (["content": "x", "file_id": 0], noFile), (["content": "x", "file_id": -1], noFile),
                (["content": "x", "file_id": "5"], noFile), (["content": "x", "file_id": 1.5], noFile),
                (["content": "x", "file_id": true], noFile), (["content": "x", "file_id": []], noFile),
                (["type": "file", "file_id": "x"], noFile), (["type": "voice", "file_id": 0], noFile),
            ]
            for (body, text) in refused {
                for path in ["/chats/\(chat)/messages", "/chats/0/messages"] {
                    try await carol.post(path, body).refused(400, text, "\(body.description.prefix(99))")
                }
            }
            for path in ["/chats/\(chat)/messages", "/chats/0/messages", "/chats/9223372036854775807/messages"] {
                for body in [
                    ["content": "x"], ["type": "file", "file_id": 1], ["content": "x", "file_id": foreign.json],
                ] {
                    try await carol.post(path, .object(body)).refused(403, "Not a member of this chat", path)
                }
            }
            for file in [foreign.json, 9_223_372_036_854_775_807] as [JSONValue] {
                for type in ["text", "file", "voice"] as [JSONValue] {
                    try await alice.post(
                        "/chats/\(chat)/messages", ["type": type, "content": "x", "file_id": file]
                    ).refused(404, "File not found", "\(type)")
                }
            }
            try expect(try await alice.send(Messenger.ListMessages(chat: chat)), equals: [])
        },
        Scenario("Pages of a history: before, after and limit", clause: "GET /chats/{id}/messages") {
            _, alice, bob, carol in
            let chat = try await alice.directChat(with: bob)
            let other = try await alice.directChat(with: carol)
            let elsewhere = try await alice.say("elsewhere", in: other)
            // Ids of this chat are numbered as if they were 1…120.
            let ids = [0] + (try await bob.say(120, in: chat)).map(\.id.rawValue)
            func newestFirst(_ range: ClosedRange<Int>) throws -> [JSONValue] {
                try range.reversed().map { .integer(try ids[$0]) }
            }
            let pages: [(query: String, rows: [JSONValue])] = try [
                ("", newestFirst(71...120)), ("?before=\(ids[71])&limit=50", newestFirst(21...70)),
                ("?before=\(ids[21])", newestFirst(1...20)), ("?before=\(ids[1])", []),
                ("?limit=500", newestFirst(21...120)), ("?limit=100", newestFirst(21...120)),
                ("?limit=99999999999999999999", newestFirst(21...120)), ("?limit=1", newestFirst(120...120)),
                ("?before=9223372036854775807&limit=2", newestFirst(119...120)), ("?before=1", []),
                ("?before=\(elsewhere.id)", []), ("?after=\(ids[118])", newestFirst(119...120)),
                ("?after=0&limit=2", newestFirst(1...2)), ("?after=\(elsewhere.id)&limit=1", newestFirst(1...1)),
                ("?after=\(ids[1])", newestFirst(2...51)), ("?after=\(ids[1])&limit=200", newestFirst(2...101)),
                ("?after=\(ids[120])", []), ("?after=9223372036854775807", []),
            ]
            for (query, rows) in pages {
                let page = try await alice.get("/chats/\(chat)/messages\(query)").succeeded(200, query)
                let found = page.elements.compactMap { $0["id"] }
                try expect(found == rows, "\(query): expected \(rows), found \(found)")
            }
            let paged = try await bob.client.history(of: chat, pageSize: 50).elements(expecting: 120)
            try expect(paged.map(\.id.json), equals: newestFirst(1...120))
        },
        Scenario("A history's query refuses the first thing that is wrong", clause: "GET /chats/{id}/messages") {
            _, alice, bob, carol in
            let chat = try await alice.directChat(with: bob)
            let table = [
                ("limit=0&before=0&after=-1", "Invalid limit"), ("limit=-5", "Invalid limit"),
                ("limit=abc", "Invalid limit"), ("limit=", "Invalid limit"), ("limit=1.5", "Invalid limit"),
                ("limit=%2B5", "Invalid limit"), ("limit=-99999999999999999999", "Invalid limit"),
                ("limit=1&before=0&after=-1", "Invalid before"), ("before=-1", "Invalid before"),
                ("before=abc", "Invalid before"), ("before=", "Invalid before"),
                ("before=1&after=-1", "Invalid after"), ("after=abc", "Invalid after"), ("after=", "Invalid after"),
                ("before=1&after=0", "before and after cannot be combined"),
            ]
            for (query, text) in table {
                for caller in [alice, carol] {
                    try await caller.get("/chats/\(chat)/messages?\(query)").refused(400, text, query)
                }
            }
            for id in ["\(chat)", "0", "9223372036854775807"] {
                try await carol.get("/chats/\(id)/messages").refused(403, "Not a member of this chat", id)
            }
        },
        Scenario("A history describes files when it is asked", clause: "GET /chats/{id}/messages") { _, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let path = "/chats/\(chat)/messages"
            let form = Form(filename: "Übersicht 1.PDF", type: "Application/PDF", content: "four")
            guard let id = try await alice.upload(form).succeeded(201)["id"] else { throw CheckFailure("no id") }
            let bodies: [JSONValue] = [
                ["content": "plain"], ["content": "", "type": "file", "file_id": id],
                ["content": "spoken", "type": "voice", "file_id": id], ["content": "with a file", "file_id": id],
            ]
            for body in bodies { try await alice.post(path, body).succeeded(201) }
            let described: JSONValue = [
                "filename": "Übersicht 1.PDF", "mime_type": "application/pdf", "size": 4,
            ]
            let plain = try await bob.get(path).succeeded(200)
            for query in ["?include=file", "?include=edited,%20file&limit=100", "?include=file&after=0"] {
                let list = try await bob.get(path + query).succeeded(200)
                for index in 0..<4 {
                    guard case .object(var message)? = list[index] else { throw CheckFailure("\(list)") }
                    try expect(message.removeValue(forKey: "file"), equals: index == 3 ? .null : described)
                    let edited = message.removeValue(forKey: "edited_at")
                    try expect(edited, equals: query.contains("edited") ? .null : nil)
                    // All else is as without the word.
                    try expect(.object(message), equals: plain[index])
                }
            }
            for query in ["?include=files", "?include=edited", "?include=File"] {
                try expect(try await bob.get(path + query).succeeded(200)[0]?["file"], equals: nil)
            }
        },
        Scenario("Ids grow through all chats, and order a history", clause: "GET /chats/{id}/messages") {
            _, alice, bob, carol in
            let chats = [try await alice.directChat(with: bob), try await alice.directChat(with: carol)]
            var ids: [Messenger.Message.ID] = []
            for index in 0..<10 { ids.append(try await alice.say("\(index)", in: chats[index % 2]).id) }
            try expect(ids == ids.sorted() && Set(ids).count == 10, "not ascending: \(ids)")

            // Both send concurrently: each message comes once, in one order.
            let sent = try await together(60) { index in
                try await (index.isMultiple(of: 2) ? alice : bob).say("\(index)", in: chats[0]).id
            }
            let listed = try await bob.send(Messenger.ListMessages(chat: chats[0], limit: 60)).map(\.id)
            try expect(listed, equals: sent.sorted(by: >))
        },
    ]
}
