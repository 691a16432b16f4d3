@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

extension MessengerScenarios {
    static let downloads: [Scenario<MessengerWorld>] = [
        Scenario(
            "A download redirects to a URL that anybody may fetch, as an attachment", clause: "GET /files/{id}/download"
        ) { _, alice in
            let octets = "application/octet-stream"
            let table = [
                ("image/png", "image/png"), ("audio/ogg", "audio/ogg"), ("video/mp4", "video/mp4"),
                ("application/pdf", "application/pdf"), ("text/html", octets), ("text/plain", octets),
                ("application/javascript", octets), ("application/xhtml+xml", octets), ("nonsense", octets),
            ]
            for (type, served) in table {
                let json = try await alice.upload(Form(filename: "näme \"x\".bin", type: type)).succeeded(201)
                let location = try await alice.location(of: json["id"])
                for method in [HTTPRequest.Method.get, .head] {
                    let answer = try await alice.fetch(location, method)
                    try expect(answer.status, equals: 200)
                    try expect(answer.text, equals: method == .get ? "content" : "")
                    try expect(answer.headers[.contentType], equals: served)
                    try expect(answer.headers[.contentLength], equals: "7")
                    try expect(answer.headers[.nosniff], equals: "nosniff")
                    let disposition = answer.headers[.contentDisposition] ?? ""
                    try expect(disposition.hasPrefix("attachment"), disposition)
                    try expect(disposition.contains("n%C3%A4me%20%22x%22.bin"), disposition)
                }
            }
        },
        Scenario("A download's URL is good for an hour, as far as it says so", clause: "GET /files/{id}/download") {
            _, alice in
            let location = try await alice.location(of: alice.upload().json)
            let items = URLComponents(string: location)?.queryItems ?? []
            func value(_ name: String) -> Int64? {
                items.first { $0.name.lowercased() == name }?.value.flatMap(Int64.init)
            }
            // S3 gives the lifetime in seconds from the making of the URL.
            if let lifetime = value("x-amz-expires") { try expect(lifetime, equals: 3600) }
            // Other stores give the time by the server's clock, which the account has just shown.
            if let end = value("expires") {
                let start = try await alice.send(Messenger.GetMe()).createdAt.milliseconds / 1000
                try expect(3600...3900 ~= end - start, "it ends \(end - start) s after the account was made")
            }
        },
        Scenario("A download can be had in ranges", clause: "GET /files/{id}/download") { _, alice in
            let location = try await alice.location(of: alice.upload("0123456789").json)
            let table: [(range: String, status: Int, body: String?, contentRange: String?)] = [
                ("bytes=0-3", 206, "0123", "bytes 0-3/10"), ("bytes=7-", 206, "789", "bytes 7-9/10"),
                ("bytes=-2", 206, "89", "bytes 8-9/10"), ("bytes=8-99", 206, "89", "bytes 8-9/10"),
                ("bytes=0-0", 206, "0", "bytes 0-0/10"), ("bytes=-99", 206, "0123456789", "bytes 0-9/10"),
                ("bytes=10-", 416, nil, "bytes */10"), ("items=0-1", 200, "0123456789", nil),
            ]
            for (range, status, body, contentRange) in table {
                let answer = try await alice.fetch(location, headers: [.range: range])
                try expect(answer.status == status, "\(range): \(answer.status)")
                if let body { try expect(answer.text, equals: body) }
                try expect(answer.headers[.contentRange], equals: contentRange)
            }
            try expect(try await alice.fetch(location).headers[.acceptRanges], equals: "bytes")
        },
        Scenario("A download's URL is good as it is, and no other", clause: "GET /files/{id}/download") { _, alice in
            let location = try await alice.location(of: alice.upload().json)
            let parts = location.split(separator: "?", maxSplits: 1).map(String.init)
            try expect(parts.count, equals: 2)
            let items = try parts[1].split(separator: "&").map(String.init)
            var others = try [parts[0], location + "&x=1", location + "&" + items[0], location + "x"]
            try others.append(parts[0].dropLast() + (parts[0].hasSuffix("t") ? "u" : "t") + "?" + parts[1])
            for index in items.indices {
                let pair = try items[index].split(separator: "=", maxSplits: 1).map(String.init)
                let value = try pair.count > 1 ? pair[1] : ""
                let changed = (value.hasPrefix("1") ? "2" : "1") + value.dropFirst()
                for replacement in try [[], ["\(pair[0])=\(changed)"]] {
                    var query = items
                    query.replaceSubrange(index...index, with: replacement)
                    try others.append(parts[0] + "?" + query.joined(separator: "&"))
                }
            }
            for other in others {
                for method in [HTTPRequest.Method.get, .head] {
                    try expect(try await alice.fetch(other, method).status == 403, "\(method) \(other)")
                }
            }
            for method in [HTTPRequest.Method.post, .put, .delete, .patch] {
                try expect(try await alice.fetch(location, method).status == 403, "\(method)")
            }
            // The spelling of the URL does not matter.
            for location in [location, location.spelledOtherwise] {
                try expect(try await alice.fetch(location).text, equals: "content")
            }
        },
        Scenario("A file is for its uploader and the chats that hold it", clause: "GET /files/{id}/download") {
            _, alice, bob, carol in
            let chat = try await alice.directChat(with: bob)
            let theirs = try await carol.directChat(with: bob)
            let file = try await alice.upload()
            let path = "/files/\(file)/download"
            for person in [bob, carol] { try await person.get(path).refused(404, "File not found") }
            for id in ["0", "9223372036854775807", "99999999999999999999"] {
                try await alice.get("/files/\(id)/download").refused(404, "File not found", id)
            }
            _ = try await alice.location(of: file.json)
            try await alice.send(Messenger.SendMessage(chat: chat, content: "", type: .file, file: file))
            try expect(try await bob.client.download(file), equals: Array("content".utf8))
            try await carol.get(path).refused(404, "File not found")
            // A user who may read a file may not send it on: only its uploader may.
            for (person, chat) in [(bob, theirs), (bob, chat), (carol, theirs)] {
                try await expectRefusal(404, "File not found") {
                    try await person.send(Messenger.SendMessage(chat: chat, content: "", type: .file, file: file))
                }
            }
            try await carol.get(path).refused(404, "File not found")
            let group = try await alice.group(with: carol)
            try await alice.send(Messenger.SendMessage(chat: group, content: "look", file: file))
            try expect(try await carol.client.download(file), equals: Array("content".utf8))
        },
    ]
}

extension HTTPField.Name {
    fileprivate static let nosniff = Self("X-Content-Type-Options")!
    fileprivate static let contentDisposition = Self("Content-Disposition")!
}
