@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MonicaClient

/// Scenarios of photos and documents alike.
extension MonicaScenarios {
    static let files: [Scenario<MonicaWorld>] = [
        Scenario("A photo is the same wherever shown, until it is deleted", clause: "POST /photos") { world, owner in
            let shown: JSONValue = ["object": "photo", "original_filename": "me.jpg", "mime_type": "image/jpeg"]
            try await owner.follow("photos", "photo", of: world.freshWord(), .photo, shown)
        },
        Scenario("A document is the same wherever shown, until it is deleted", clause: "POST /documents") {
            world, owner in
            let shown: JSONValue = [
                "object": "document", "original_filename": "Plan.PDF", "type": "pdf", "mime_type": "application/pdf",
                "filesize": 8, "number_of_downloads": 0,
            ]
            try await owner.follow("documents", "document", of: world.freshWord(), .document, shown)
        },
        Scenario("A file needs a contact of the account", clause: "POST /photos, /documents") { _, owner in
            for (kind, upload) in [("photo", Upload.photo), ("document", .document)] {
                for (contact, status, code, text) in [
                    (nil, 422, 32, "The contact id field is required."),
                    ("", 422, 32, "The contact id field is required."),
                    ("x", 422, 32, "The contact id must be an integer."),
                    ("999999999", 404, 31, "The requested contact was not found."),
                    ("0", 404, 31, "The requested contact was not found."),
                ] as [(String?, Int, Int, String)] {
                    try await owner.store(kind, contact.map { [("contact_id", $0)] } ?? [], [(kind, upload)])
                        .refused(status, code, text, "\(kind) of \(contact ?? "nobody")")
                }
            }
        },
        Scenario("An upload without a file is refused", clause: "POST /photos, /documents") { _, owner in
            let john = try await owner.contact("John").id
            let contact = [("contact_id", "\(john)")]
            let photo =
                "The photo field is required when data is not present. The data field is required when photo is not present."
            for (kind, text) in [("photo", photo), ("document", "The document field is required.")] {
                let path = "/\(kind)s"
                try await owner.store(kind, contact, []).refused(422, 32, text, "no file")
                try await owner.store(kind, contact, [("file", .photo)]).refused(422, 32, text, "another field")
                // Browsers send this for a field in which no file was chosen.
                let none = Upload(.bytes([]), filename: "", contentType: "application/octet-stream")
                try await owner.store(kind, contact, [(kind, none)]).refused(422, 32, text, "no file chosen")
                try await owner.raw(.post, path)
                    .refused(422, 32, "The contact id field is required. " + text, "an empty body")
                try expect(try await owner.ids("/contacts/\(john)\(path)"), equals: [])
            }
            try await owner.raw(.post, "/photos", ["contact_id": john.json]).refused(422, 32, photo, "JSON")
        },
        Scenario("Of several files the first is stored", clause: "POST /photos, /documents") { _, owner in
            let john = try await owner.contact("John").id
            for (kind, upload) in [("photo", Upload.photo), ("document", .document)] {
                var second = upload
                second.filename = "second"
                let made = try await owner.store(
                    kind, [("contact_id", "\(john)")], [(kind, upload), (kind, second), ("other", second)]
                ).succeeded(201)["data"]
                try expect(made?["original_filename"], equals: .string(upload.filename))
                try expect(try await owner.ids("/contacts/\(john)/\(kind)s").count, equals: 1)
            }
        },
        Scenario("A file of more than 10 MiB is refused", clause: "POST /photos, /documents") { _, owner in
            let john = try await owner.contact("John").id
            let zeros = [UInt8](repeating: 0, count: Int(Monica.maximumFileSize) - Samples.jpeg.count)
            for (kind, more) in [("photo", [0]), ("document", [0]), ("document", [])] as [(String, [UInt8])] {
                let upload = Upload(.bytes(Samples.jpeg + zeros + more), filename: "large", contentType: "image/jpeg")
                let answer = try await owner.store(kind, [("contact_id", "\(john)")], [(kind, upload)])
                if more.isEmpty {
                    let size = try answer.succeeded(201)["data"]?["filesize"]
                    try expect(size, equals: .integer(Monica.maximumFileSize))
                } else {
                    try answer.refused(413, 0, "File too large (max 10 MB)", kind)
                }
            }
        },
        Scenario("An upload that is repeated under its key is one file", clause: "§1 Idempotency-Key") { world, owner in
            let john = try await owner.contact("John").id
            for (kind, upload) in [("photo", Upload.photo), ("document", .document)] {
                let request = KeyedRequest("POST /\(kind)s") { usual, key in
                    var upload = upload
                    if !usual { upload.content = .bytes(SampleImage.jpeg(width: 24, height: 8)) }
                    return try await owner.store(kind, [("contact_id", "\(john)")], [(kind, upload)], headers: key)
                }
                try await world.check(request, repeats: 3) { $0.text.unsigned }
                try await world.refuseBadKeys(of: request)
                try expect(try await owner.ids("/contacts/\(john)/\(kind)s").count, equals: 1)
            }
        },
        Scenario("A deleted contact takes its files along", clause: "DELETE /contacts/{id}") { world, owner in
            let john = try await owner.contact("John").id
            let photo = try await owner.client.store(photo: .photo, of: john)
            let document = try await owner.client.store(document: .document, of: john)
            try await owner.send(Monica.SetAvatar(id: john, .photo(photo.id)))
            let gift = try await owner.client.create(Monica.GiftDraft(contactID: john, name: "x"))
            try await owner.send(Monica.AddPhotoToGift(gift: gift.id, photo: photo.id))
            for (kind, id, link) in [("photo", photo.id, photo.link), ("document", document.id, document.link)] {
                try await owner.get("/\(kind)s/\(id)").succeeded(200)
                try expect(try await owner.ids("/contacts/\(john)/\(kind)s"), equals: [Int64(id)])
                try expect(try await world.fetch(link).status, equals: 200)
            }
            try await owner.client.delete(Monica.Contact.self, id: john)
            for (kind, id, link) in [
                ("photo", photo.id, photo.link), ("document", document.id, document.link),
            ] {
                try await owner.get("/\(kind)s/\(id)").refused(404, 31, "The requested \(kind) was not found.")
                try await owner.get("/contacts/\(john)/\(kind)s")
                    .refused(404, 31, "The requested contact was not found.")
                try expect(try await world.fetch(link).status, equals: 404)
            }
        },
    ]
}

/// Files for uploads.
enum Samples {
    static let jpeg = SampleImage.jpeg(width: 16, height: 16)
}

extension Upload {
    static let photo = Upload(.bytes(Samples.jpeg), filename: "me.jpg", contentType: "text/plain")
    static let document = Upload(.bytes(Array("%PDF-1.7".utf8)), filename: "Plan.PDF", contentType: "text/html")
}

extension Owner {
    /// Sends a form with files.
    ///
    /// - Parameter kind: `photo` or `document`.
    func store(
        _ kind: String, _ fields: [(String, String)], _ files: [(String, Upload)],
        headers: HTTPFields = [:]
    ) async throws -> RawAnswer {
        let form = try MultipartBody(
            .form(
                fields: fields.map { (name: $0.0, value: $0.1) }, uploads: files.map { (name: $0.0, upload: $0.1) }))
        guard let form, case .bytes(let bytes) = form.body else { throw CheckFailure("no form") }
        var headers = headers
        headers[.contentType] = form.contentType
        return try await raw(.post, "/\(kind)s", headers: headers, bytes: bytes)
    }

    /// Checks two files of a contact, from their upload to their deletion.
    fileprivate func follow(
        _ plural: String, _ singular: String, of word: String, _ upload: Upload, _ shown: JSONValue
    ) async throws {
        let john = try await described(word)
        let id = john["id"] ?? nil
        let missing = "The requested \(singular) was not found."
        func stored() async throws -> JSONValue {
            try await store(singular, [("contact_id", "\(id)")], [(singular, upload)]).succeeded(201)["data"] ?? nil
        }
        let (made, other) = (try await stored().unsigned, try await stored().unsigned)
        for (member, value) in shown.members { try expect(made[member], equals: value) }
        try expect((made["filesize"]?.integer ?? 0) > 0, "the size of \(made)")
        try expect(made["new_filename"] != other["new_filename"], "two files have one name in the store")
        try expect(made["updated_at"], equals: made["created_at"])
        try made["contact"].refers(to: john)
        try expect(made["account"], equals: john["account"])
        if singular == "document" {
            let end = "/api/documents/\(made["id"] ?? nil)"
            try expect(made["url"]?.string?.hasSuffix(end) == true, "the URL of \(made)")
        }
        let own = "/\(plural)/\(made["id"] ?? nil)"
        try expect(try await get(own).succeeded(200)["data"]?.unsigned, equals: made)
        let lists = ["/\(plural)?contact_id=\(id)&", "/contacts/\(id)/\(plural)?"]
        for list in lists {
            let page = try await get(list).succeeded(200)
            try expect(page["data"]?.unsigned, equals: [made, other])
            try expect(page["meta"]?["total"], equals: 2)
            for row in page["data"]?.elements ?? [] {
                try expect(try await fetch(row["link"]?.string ?? "").status == 200, "the link of \(row)")
            }
            let latest = try await get(list + "sort=-created_at&limit=1").succeeded(200)
            try expect(latest["data"]?.unsigned, equals: [other])
            let second = try await get(list + "limit=1&page=2").succeeded(200)
            try expect(second["data"]?.unsigned, equals: [other])
        }
        try expect(try await ids("/\(plural)?contact_id=999999999"), equals: [])
        try expect(
            try await raw(.delete, own).succeeded(200), equals: ["deleted": true, "id": made["id"] ?? nil])
        try await raw(.delete, own).refused(404, 31, missing)
        try await get(own).refused(404, 31, missing)
        for list in lists { try expect(try await get(list).succeeded(200)["data"]?.unsigned, equals: [other]) }
        try await get("/contacts/999999999/\(plural)").refused(404, 31, "The requested contact was not found.")
    }
}

extension JSONValue {
    /// The value with links that lack their queries: a signature may differ from answer to answer.
    var unsigned: JSONValue {
        switch self {
        case .list(let elements): .list(elements.map(\.unsigned))
        case .object(let members): .object(members.mapValues(\.unsigned))
        case .string(let text) where text.hasPrefix("http"): .string(String(text.prefix { $0 != "?" }))
        default: self
        }
    }
}

extension String {
    /// The text of an answer without signatures of links.
    fileprivate var unsigned: [UInt8] { Array(replacing(#/\?[^"]*"/#, with: "\"").utf8) }
}
