import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

extension MessengerScenarios {
    static let files: [Scenario<MessengerWorld>] = [
        Scenario("An upload answers what it is kept as", clause: "POST /files") { world in
            let alice = try await world.person()
            let json = try await alice.upload(Form(filename: "photo.jpg", type: "image/jpeg")).succeeded(201)
            try expect((json["id"]?.integer ?? 0) > 0, "the id is not positive")
            try expectKey(json["object_key"], endsIn: "photo.jpg")
            try expect(
                json,
                equals: [
                    "id": json["id"] ?? .null, "filename": "photo.jpg", "mime_type": "image/jpeg",
                    "object_key": json["object_key"] ?? .null,
                ])
            // Fields beside the file, and files of other names, are not looked at.
            var form = Form(filename: "b.txt", content: "b")
            form.before = [Form(name: "note", filename: nil), Form(name: "files", filename: "c.txt", content: "c")]
            let second = try await alice.upload(form).succeeded(201)
            try expect(second["filename"], equals: "b.txt")
            try expect(try await alice.client.download(.init(second["id"]?.integer ?? 0)), equals: Array("b".utf8))
        },
        Scenario("Of a filename the last component is kept, without control characters, at most 255 bytes", clause: "§2") {
            world in
            let alice = try await world.person()
            let (long, wide) = (String(repeating: "a", count: 300), String(repeating: "é", count: 200))
            let table: [(declared: String?, kept: String, key: String)] = [
                ("../../etc/passwd", "passwd", "passwd"), ("/etc/passwd", "passwd", "passwd"),
                (#"C:\x\y.png"#, "y.png", "y.png"), (#"..\..\y z.png"#, "y z.png", "y_z.png"),
                ("a\u{7}b\u{7F}\u{85}c.txt", "abc.txt", "abc.txt"), ("\u{1}\u{2}", "file", "file"), ("", "file", "file"),
                (nil, "file", "file"), ("фото é-1_2.PNG", "фото é-1_2.PNG", "______-1_2.PNG"),
                ("a%2Fb&c;d=e.txt", "a%2Fb&c;d=e.txt", "a_2Fb_c_d_e.txt"),
                (long, String(long.prefix(255)), String(long.prefix(255))),
                (wide, String(wide.prefix(127)), String(repeating: "_", count: 127)),
            ]
            for (declared, kept, key) in table {
                let json = try await alice.upload(Form(filename: declared)).succeeded(201, declared ?? "none")
                try expect(json["filename"], equals: .string(kept))
                try expectKey(json["object_key"], endsIn: key)
                let download = try await alice.fetch(try await alice.location(of: json["id"]))
                try expect(download.text == "content", "\(kept): \(download.status) \(download.text)")
            }
        },
        Scenario("A well-formed type is kept in lower case, any other is octet-stream", clause: "§2") { world in
            let alice = try await world.person()
            let table: [(declared: String?, kept: JSONValue)] = [
                ("IMAGE/PNG", "image/png"), ("audio/m4a", "audio/m4a"), ("Application/vnd.X+JSON", "application/vnd.x+json"),
                (nil, "application/octet-stream"), ("", "application/octet-stream"), ("png", "application/octet-stream"),
                ("image/", "application/octet-stream"), ("/png", "application/octet-stream"),
                ("a/b/c", "application/octet-stream"), ("text/ht ml", "application/octet-stream"),
                ("text/<html>", "application/octet-stream"), ("image/pñg", "application/octet-stream"),
            ]
            for (declared, kept) in table {
                let json = try await alice.upload(Form(filename: "a", type: declared)).succeeded(201)
                try expect(json["mime_type"] == kept, "\(declared ?? "none") became \(json["mime_type"]?.text ?? "")")
            }
        },
        Scenario("A request without the file is refused", clause: "POST /files") { world in
            let alice = try await world.person()
            let form = Form(filename: "a.txt")
            let (type, body) = (form.contentType, String(decoding: form.body, as: UTF8.self))
            let table: [(type: String?, body: String)] = [
                (nil, ""), ("application/json", "{}"), ("application/json", body), (nil, body), (type, ""),
                ("multipart/form-data", body), ("multipart/form-data; boundary=other", body), ("multipart/mixed; x=y", body),
                (type, String(body.dropLast(12))), (type, "--\(Form.boundary)--\r\n"),
                (type, body.replacingOccurrences(of: "name=\"file\"", with: "name=\"upload\"")),
                (type, body.replacingOccurrences(of: "name=\"file\"", with: "name=\"File\"")),
                (type, body.replacingOccurrences(of: "Content-Disposition", with: "Disposition")),
            ]
            for (type, body) in table {
                var headers = HTTPFields()
                headers[.contentType] = type
                try await alice.raw(.post, "/files", headers: headers, body: body)
                    .refused(400, "No file uploaded (use multipart/form-data field 'file')", "\(type ?? "") \(body)")
            }
        },
        Scenario("A file may be empty, and has 50 MiB at most", clause: "§2 files") { world in
            let alice = try await world.person()
            for size in [0, 52_428_800] {
                let bytes = [UInt8](repeating: 0, count: size)
                let file = try await alice.client.upload(Upload(.bytes(bytes), filename: "zeros"))
                let head = try await alice.fetch(try await alice.location(of: file.id.json), .head)
                try expect(head.headers[.contentLength], equals: "\(size)")
            }
            try expect(try await alice.client.download(alice.upload("")), equals: [])
            try await expectRefusal(413, "File too large (max 50 MB)") {
                let bytes = [UInt8](repeating: 0, count: 52_428_801)
                _ = try await alice.client.upload(Upload(.bytes(bytes), filename: "zeros"))
            }
        },
        Scenario("A download redirects to a URL that anybody may fetch, as an attachment", clause: "§2 download") { world in
            let alice = try await world.person()
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
        Scenario("A download can be had in ranges", clause: "§2 download") { world in
            let alice = try await world.person()
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
        Scenario("A download's URL is good as it is, and no other", clause: "§2 download, 403") { world in
            let alice = try await world.person()
            let location = try await alice.location(of: alice.upload().json)
            let parts = location.split(separator: "?", maxSplits: 1).map(String.init)
            try expect(parts.count, equals: 2)
            let items = parts[1].split(separator: "&").map(String.init)
            var others = [parts[0], location + "&x=1", location + "&" + items[0], location + "x"]
            others.append(parts[0].dropLast() + (parts[0].hasSuffix("t") ? "u" : "t") + "?" + parts[1])
            for index in items.indices {
                let pair = items[index].split(separator: "=", maxSplits: 1).map(String.init)
                let value = pair.count > 1 ? pair[1] : ""
                let changed = (value.hasPrefix("1") ? "2" : "1") + value.dropFirst()
                for replacement in [[], ["\(pair[0])=\(changed)"]] {
                    var query = items
                    query.replaceSubrange(index...index, with: replacement)
                    others.append(parts[0] + "?" + query.joined(separator: "&"))
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
            try expect(try await alice.fetch(location).text, equals: "content")
        },
        Scenario("A file is for its uploader and the chats that hold it", clause: "§3, example 6") { world in
            let (alice, bob, carol) = try await world.trio()
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
            // What one may read one may not pass on: that is for the uploader.
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

    private static func expectKey(_ key: JSONValue?, endsIn name: String, line: UInt = #line) throws {
        let parts = (key?.string ?? "").split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, UUID(uuidString: String(parts[0])) != nil, parts[1] == name else {
            throw Broken("the object key is \(key?.text ?? "absent"), for \(name)", line: line)
        }
    }
}

/// A form with one file, written by hand.
struct Form {
    static let boundary = "----WebKitFormBoundary7MA4YWxk"

    var name = "file"
    var filename: String?
    var type: String? = "text/plain"
    var content = "content"
    var before: [Form] = []

    var contentType: String { "multipart/form-data; boundary=\(Self.boundary)" }
    var body: [UInt8] { Array("\((before + [self]).map(\.part).joined())--\(Self.boundary)--\r\n".utf8) }

    private var part: String {
        var header = #"Content-Disposition: form-data; name="\#(name)""#
        if let filename {
            header += #"; filename="\#(filename.replacingOccurrences(of: "\"", with: #"\""#))""#
        }
        if let type { header += "\r\nContent-Type: \(type)" }
        return "--\(Self.boundary)\r\n\(header)\r\n\r\n\(content)\r\n"
    }
}

extension Person {
    func upload(_ form: Form, headers: HTTPFields = [:]) async throws -> RawAnswer {
        var headers = headers
        headers[.contentType] = form.contentType
        return try await world.raw.send(.post, "/files", token: token, headers: headers, bytes: form.body)
    }

    /// Where a file's download leads.
    fileprivate func location(of file: JSONValue?, line: UInt = #line) async throws -> String {
        let answer = try await get("/files/\(file?.integer ?? 0)/download")
        guard answer.status == 302, answer.body.isEmpty, let location = answer.headers[.location],
            location.hasPrefix("http://") || location.hasPrefix("https://")
        else { throw Broken("no redirect: \(answer.status) \(answer.headers) \(answer.text)", line: line) }
        try expect(answer.headers[.cacheControl], equals: "no-store", line: line)
        return location
    }

    /// Asks for a URL without a token.
    fileprivate func fetch(
        _ location: String, _ method: HTTPRequest.Method = .get, headers: HTTPFields = [:]
    ) async throws -> RawAnswer {
        guard let url = URL(string: location) else { throw Broken("no URL: \(location)") }
        return try await RawClient(baseURL: url, transport: world.transport).send(method, "", headers: headers)
    }
}

extension HTTPField.Name {
    fileprivate static let nosniff = Self("X-Content-Type-Options")!
    fileprivate static let contentDisposition = Self("Content-Disposition")!
}
