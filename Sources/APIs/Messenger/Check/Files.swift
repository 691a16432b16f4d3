@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

extension MessengerScenarios {
    static let files: [Scenario<MessengerWorld>] = [
        Scenario("An upload answers what it is kept as", clause: "POST /files") { _, alice in
            let json = try await alice.upload(Form(filename: "photo.jpg", type: "image/jpeg")).succeeded(201)
            try expect((json["id"]?.integer ?? 0) > 0, "the id is not positive")
            try expectKey(json["object_key"], endsIn: "photo.jpg")
            try expect(
                json,
                equals: [
                    "id": json["id"] ?? .null, "filename": "photo.jpg", "mime_type": "image/jpeg",
                    "object_key": json["object_key"] ?? .null,
                ])
            // Other fields, and files in other fields, are ignored.
            var form = Form(filename: "b.txt", content: "b")
            form.before = [Form(name: "note", filename: nil), Form(name: "files", filename: "c.txt", content: "c")]
            let second = try await alice.upload(form).succeeded(201)
            try expect(second["filename"], equals: "b.txt")
            try expect(try await alice.client.download(.init(second["id"]?.integer ?? 0)), equals: Array("b".utf8))
        },
        Scenario(
            "Of a filename the last component is kept, without hidden characters, at most 255 bytes with its extension",
            clause: "POST /files"
        ) { _, alice in
            let (long, wide) = (String(repeating: "a", count: 300), String(repeating: "é", count: 200))
            let table: [(declared: String?, kept: String, key: String)] = [
                ("../../etc/passwd", "passwd", "passwd"), ("/etc/passwd", "passwd", "passwd"),
                (#"C:\x\y.png"#, "y.png", "y.png"), (#"..\..\y z.png"#, "y z.png", "y_z.png"),
                ("a\u{7}b\u{7F}\u{85}c.txt", "abc.txt", "abc.txt"), ("\u{1}\u{2}", "file", "file"),
                ("", "file", "file"),
                (nil, "file", "file"), ("фото é-1_2.PNG", "фото é-1_2.PNG", "______-1_2.PNG"),
                ("a%2Fb&c;d=e.txt", "a%2Fb&c;d=e.txt", "a_2Fb_c_d_e.txt"),
                ("say %22hi%22%0D%0A.png", #"say "hi".png"#, "say__hi_.png"),
                ("say \"hi\".png", #"say "hi".png"#, "say__hi_.png"),
                ("gpj.\u{202E}a\u{2066}\u{2028}\u{61C}.exe", "gpj.a.exe", "gpj.a.exe"),
                ("👩‍👩‍👧.png", "👩‍👩‍👧.png", "_____.png"), ("\u{200B}\u{2800}", "file", "file"),
                (long, String(long.prefix(255)), String(long.prefix(255))),
                (wide, String(wide.prefix(127)), String(repeating: "_", count: 127)),
                (long + ".tar.gz", String(long.prefix(252)) + ".gz", String(long.prefix(252)) + ".gz"),
                (wide + ".jpeg", String(wide.prefix(125)) + ".jpeg", String(repeating: "_", count: 125) + ".jpeg"),
            ]
            for (declared, kept, key) in table {
                let json = try await alice.upload(Form(filename: declared)).succeeded(201, declared ?? "none")
                try expect(json["filename"], equals: .string(kept))
                try expectKey(json["object_key"], endsIn: key)
                let download = try await alice.fetch(try await alice.location(of: json["id"]))
                try expect(download.text == "content", "\(kept): \(download.status) \(download.text)")
            }
        },
        Scenario("A name that says its charset comes before the plain one", clause: "POST /files") { _, alice in
            for (parameters, kept) in [
                (#"filename="=?utf-8?B?w6k=?="; filename*=utf-8''%C3%A9%22.png"#, #"é".png"#),
                ("filename*=UTF-8'en'a%20b.png", "a b.png"),
                ("filename*=iso-8859-1''na%EFve.png; filename=x", "naïve.png"),
                (#"filename*=utf-8''%FF; filename="x.png""#, "x.png"),
                (#"filename="=?utf-8?B?w6k=?=""#, "=?utf-8?B?w6k=?="),
            ] {
                let part = "--b\r\nContent-Disposition: form-data; name=file; \(parameters)\r\n\r\nx\r\n--b--\r\n"
                let answer = try await alice.raw(
                    .post, "/files", headers: [.contentType: "multipart/form-data; boundary=b"], body: part)
                try expect(try answer.succeeded(201, parameters)["filename"], equals: .string(kept))
            }
        },
        Scenario("A well-formed type is kept in lower case, any other is octet-stream", clause: "POST /files") {
            _, alice in
            let table: [(declared: String?, kept: JSONValue)] = [
                ("IMAGE/PNG", "image/png"), ("audio/m4a", "audio/m4a"),
                ("Application/vnd.X+JSON", "application/vnd.x+json"),
                (nil, "application/octet-stream"), ("", "application/octet-stream"),
                ("png", "application/octet-stream"),
                ("image/", "application/octet-stream"), ("/png", "application/octet-stream"),
                ("a/b/c", "application/octet-stream"), ("text/ht ml", "application/octet-stream"),
                ("text/<html>", "application/octet-stream"), ("image/pñg", "application/octet-stream"),
            ]
            for (declared, kept) in table {
                let json = try await alice.upload(Form(filename: "a", type: declared)).succeeded(201)
                try expect(json["mime_type"] == kept, "\(declared ?? "none") became \(json)")
            }
        },
        Scenario("A request without the file is refused", clause: "POST /files") { _, alice in
            let form = Form(filename: "a.txt")
            let (type, body) = (form.contentType, String(decoding: form.body, as: UTF8.self))
            let table: [(type: String?, body: String)] = [
                (nil, ""), ("application/json", "{}"), ("application/json", body), (nil, body), (type, ""),
                ("multipart/form-data", body), ("multipart/form-data; boundary=other", body),
                ("multipart/mixed; x=y", body),
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
        Scenario("A file may be empty, and has 50 MiB at most", clause: "POST /files") { _, alice in
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
        Scenario("An upload that nothing uses is removed by its uploader", clause: "DELETE /files/{id}") {
            world, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let file = try await alice.upload()
            let path = "/files/\(file)"
            let location = try await alice.location(of: file.json)
            try await world.raw.send(.delete, path).refused(401, "Missing Authorization header")
            try await bob.raw(.delete, path).refused(404, "File not found")
            try expect(try await alice.fetch(location).text, equals: "content")
            let answer = try await alice.raw(.delete, path)
            try expect(answer.status == 204 && answer.body.isEmpty, "\(answer.status) \(answer.text)")
            try expect(try await alice.fetch(location).status, equals: 404)
            try await alice.get(path + "/download").refused(404, "File not found")
            try await alice.raw(.delete, path).refused(404, "File not found")
            for id in ["0", "9223372036854775807"] {
                try await alice.raw(.delete, "/files/\(id)").refused(404, "File not found", id)
            }
            // A file that a message or a profile uses stays.
            let sent = try await alice.upload()
            try await alice.send(Messenger.SendMessage(chat: chat, content: "", type: .file, file: sent))
            let picture = try await alice.client.upload(
                Upload(.bytes([1, 2]), filename: "a.png", contentType: "image/png")
            ).id
            try await alice.send(Messenger.UpdateMe(avatar: .to(picture)))
            for used in [sent, picture] {
                for person in [alice, bob] {
                    try await person.raw(.delete, "/files/\(used)").refused(404, "File not found")
                }
            }
            try expect(try await bob.client.download(sent), equals: Array("content".utf8))
            try expect(try await bob.client.download(picture), equals: [1, 2])
        },
    ]

    private static func expectKey(_ key: JSONValue?, endsIn name: String, line: UInt = #line) throws {
        let parts = (key?.string ?? "").split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, UUID(uuidString: String(try parts[0])) != nil, try parts[1] == name else {
            throw CheckFailure("the object key is \(key ?? "absent"), for \(name)", line: line)
        }
    }
}

/// A hand-written form with one file.
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
        return try await raw(.post, "/files", headers: headers, bytes: form.body)
    }

    /// Returns the URL of a file's download.
    func location(of file: JSONValue?, line: UInt = #line) async throws -> String {
        let answer = try await get("/files/\(file?.integer ?? 0)/download")
        guard answer.status == 302, answer.body.isEmpty, let location = answer.headers[.location],
            location.hasPrefix("http://") || location.hasPrefix("https://")
        else { throw CheckFailure("no redirect: \(answer.status) \(answer.headers) \(answer.text)", line: line) }
        try expect(answer.headers[.cacheControl], equals: "no-store", line: line)
        return location
    }
}
