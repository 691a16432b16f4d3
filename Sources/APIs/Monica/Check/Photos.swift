@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    private static let noPhoto = "The requested photo was not found."

    static let photos: [Scenario<MonicaWorld>] = [
        Scenario("A photo is fetched by its link, in parts too, and by no other", clause: "GET /photos/{id}") {
            world, owner in
            let john = try await owner.contact("John").id
            let link = try await owner.client.store(photo: .photo, of: john).link
            let whole = try await world.fetch(link)
            try expect(whole.status, equals: 200)
            try expect(whole.headers[.contentType], equals: "image/jpeg")
            try expect(whole.headers[.nosniff], equals: "nosniff")
            try expect(whole.headers[.cacheControl]?.hasPrefix("private") == true, "others may keep it")
            try expect(whole.body.starts(with: [0xFF, 0xD8, 0xFF]), "no JPEG")
            let part = try await world.fetch(link, headers: [.range: "bytes=2-5"])
            try expect(part.status, equals: 206)
            try expect(part.headers[.contentRange], equals: "bytes 2-5/\(whole.body.count)")
            try expect(part.body, equals: Array(whole.body.dropFirst(2).prefix(4)))
            try expect(try await world.fetch(link, .head).body, equals: [])
            let parts = link.split(separator: "?", maxSplits: 1).map(String.init)
            for other in try [
                parts[0], link + "x", link.replacing("expires=", with: "expires=9"), parts[0] + "x?" + parts[1],
            ] {
                try expect(try await world.fetch(other).status == 403, "\(other) is answered")
            }
        },
        Scenario("What is no photo is refused, whatever its name and type", clause: "POST /photos") { _, owner in
            let john = try await owner.contact("John").id
            let cut = Array(Samples.jpeg.dropLast(2))
            let contents: [[UInt8]] = [
                Array("no picture".utf8), Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8),
                Array("%PDF-1.7".utf8), [0x89, 0x50, 0x4E, 0x47], SampleVideo.mp4, SampleVideo.webm,
                // A JPEG ends with a mark of two bytes.
                cut, [0],
            ]
            let text = "must be an image."
            for content in contents {
                let upload = Upload(.bytes(content), filename: "me.jpg", contentType: "image/jpeg")
                try await owner.store("photo", [("contact_id", "\(john)")], [("photo", upload)])
                    .refused(422, 32, "The photo " + text, "\(content.prefix(8))")
                let data = JSONValue.string(Data(content).base64EncodedString())
                let isCut = content == cut
                try await owner.raw(.post, "/photos", ["contact_id": john.json, "data": data])
                    .refused(422, 32, (isCut ? "The photo " : "The data ") + text, "\(data)")
            }
            for data in ["data:image/jpeg,x", "data:image/jpeg;base64", "data:image/jpeg;base64,", "ö", "%"] {
                try await owner.raw(.post, "/photos", ["contact_id": john.json, "data": .string(data)])
                    .refused(422, 32, "The data " + text, data)
            }
            try await owner.raw(.post, "/photos", ["contact_id": "x", "data": 1])
                .refused(422, 32, "The contact id must be an integer. The data must be a string.")
            try expect(try await owner.ids("/contacts/\(john)/photos"), equals: [])
        },
        Scenario("A photo may come as text", clause: "POST /photos") { world, owner in
            let john = try await owner.contact("John").id
            let bytes = Data(Samples.jpeg).base64EncodedString()
            for data in [bytes, "data:image/png;base64,\(bytes)", String(bytes.prefix(8)) + "\n" + bytes.dropFirst(8)] {
                let photo = try await owner.send(Monica.Store<Monica.Photo>(data: data, of: john)).data
                try expect(photo.mimeType, equals: "image/jpeg")
                try expect(try await world.fetch(photo.link).headers[.contentType], equals: "image/jpeg")
            }
            // A file goes before a text.
            let both = try await owner.store(
                "photo", [("contact_id", "\(john)"), ("data", "no picture")], [("photo", .photo)]
            ).succeeded(201)["data"]
            try expect(both?["original_filename"], equals: "me.jpg")
        },
        Scenario(
            "A contact's picture is one of its photos, until another is chosen", clause: "PUT /contacts/{id}/avatar"
        ) {
            world, owner in
            let (word, john) = (world.freshWord(), try await owner.contact("John"))
            let jane = try await owner.client.create(
                Monica.ContactDraft(firstName: "Jane", lastName: word, email: " John@Example.com"))
            let path = "/contacts/\(jane.id)"
            func avatar() async throws -> JSONValue {
                try await owner.get(path).succeeded(200)["data"]?["information"]?["avatar"] ?? nil
            }
            let first = try await avatar()
            try expect(first["source"], equals: "default")
            try expect(first["url"], equals: .null)
            let photo = try await owner.client.store(photo: .photo, of: jane.id)
            let theirs = try await owner.client.store(photo: .photo, of: john.id)
            try expect(try await avatar(), equals: first)
            func choose(_ body: JSONValue) async throws -> RawAnswer {
                try await owner.raw(.put, path + "/avatar", body)
            }
            let chosen = try await choose(["source": "photo", "photo_id": photo.id.json]).succeeded(200)["data"]
            let shown = chosen?["information"]?["avatar"]
            try expect(shown?["source"], equals: "photo")
            try expect(shown?["url"]?.unsigned, equals: JSONValue.string(photo.link).unsigned)
            try expect(shown?["default_avatar_color"], equals: first["default_avatar_color"])
            try expect(try await avatar().unsigned, equals: shown?.unsigned ?? nil)
            try expect(try await world.fetch(shown?["url"]?.string ?? "").status, equals: 200)
            let note = try await owner.client.create(Monica.NoteDraft(contactID: jane.id, body: "x"))
            try expect(note.contact?.information.avatar.source, equals: "photo")
            for list in ["/contacts?query=Jane%20\(word)", "/notes?contact_id=\(jane.id)"] {
                let row = try await owner.get(list).succeeded(200)["data"]?[0]
                let information = (row?["contact"] ?? row)?["information"]
                try expect(information?["avatar"]?.unsigned, equals: shown?.unsigned)
            }
            // Nothing else changes it, and what is refused does not.
            for (body, status, code, text) in [
                ([:], 422, 32, "The source field is required."),
                (["source": "x"], 422, 32, "The selected source is invalid."),
                (["source": "photo"], 422, 32, "The photo id field is required when source is photo."),
                (["source": "photo", "photo_id": "x"], 422, 32, "The photo id must be an integer."),
                (["source": "photo", "photo_id": 999_999_999], 404, 31, noPhoto),
                (["source": "photo", "photo_id": theirs.id.json], 404, 31, noPhoto),
            ] as [(JSONValue, Int, Int, String)] {
                try await choose(body).refused(status, code, text, "\(body)")
            }
            try await owner.client.update(jane.id, Monica.ContactDraft(firstName: "Jane", lastName: word))
            try expect(try await avatar().unsigned, equals: shown?.unsigned ?? nil)
            let digest = "855f96e983f1f8e8be944692b6f719fd54329826cb62e98015efee8e2e071dd4"
            for (source, url) in [
                ("gravatar", "https://www.gravatar.com/avatar/\(digest)"), ("adorable", nil), ("default", nil),
            ] as [(String, String?)] {
                try await choose(["source": .string(source)]).succeeded(200)
                let now = try await avatar()
                try expect(now["source"], equals: .string(source))
                try expect(now["url"]?.unsigned, equals: JSONValue.orNull(url))
            }
            try expect(try await avatar(), equals: first)
            try await owner.raw(.put, "/contacts/999999999/avatar", ["source": "default"])
                .refused(404, 31, "The requested contact was not found.")
        },
        Scenario("A photo that is deleted is nobody's picture, and no gift's", clause: "DELETE /photos/{id}") {
            world, owner in
            let john = try await owner.contact("John").id
            let (photo, other) = (
                try await owner.client.store(photo: .photo, of: john),
                try await owner.client.store(photo: .photo, of: john)
            )
            try await owner.send(Monica.SetAvatar(id: john, .photo(photo.id)))
            let gift = try await owner.client.create(Monica.GiftDraft(contactID: john, name: "x"))
            for id in [photo.id, other.id] {
                try await owner.send(Monica.AddPhotoToGift(gift: gift.id, photo: id))
            }
            try await owner.client.delete(Monica.Photo.self, id: photo.id)
            let avatar = try await owner.send(Monica.GetContact(id: john)).data.information.avatar
            try expect(avatar.source, equals: "default")
            try expect(avatar.url, equals: nil)
            let left = try await owner.send(Monica.Get<Monica.Gift>(id: gift.id)).data.photos
            try expect(left.map(\.id), equals: [other.id])
            try expect(try await world.fetch(photo.link).status, equals: 404)
            try expect(try await world.fetch(other.link).status, equals: 200)
            // A deleted gift leaves its photos to the contact.
            try await owner.client.delete(Monica.Gift.self, id: gift.id)
            try expect(try await owner.ids("/contacts/\(john)/photos"), equals: [Int64(other.id)])
        },
        Scenario("A gift has photos of its contact, at most ten", clause: "PUT /gifts/{gift}/photo/{photo}") {
            _, owner in
            let (john, jane) = (try await owner.contact("John").id, try await owner.contact("Jane").id)
            let gift = try await owner.client.create(Monica.GiftDraft(contactID: john, name: "x"))
            try expect(gift.photos.isEmpty, "a new gift has photos")
            let path = "/gifts/\(gift.id)"
            var photos: [Monica.Photo] = []
            for _ in 0..<11 { photos.append(try await owner.client.store(photo: .photo, of: john)) }
            for photo in photos.prefix(10).reversed() {
                // A photo that the gift has stays as it is.
                for _ in 0..<2 { try await owner.raw(.put, path + "/photo/\(photo.id)", [:]).succeeded(200) }
            }
            let eleventh = photos.last?.id ?? 0
            try await owner.raw(.put, path + "/photo/\(eleventh)", [:])
                .refused(422, 32, "The photos may not have more than 10 items.")
            let shown = try await owner.get(path).succeeded(200)["data"]
            let kept = try await owner.get("/contacts/\(john)/photos").succeeded(200)["data"]?.elements ?? []
            try expect(shown?["photos"]?.unsigned, equals: JSONValue.list(Array(kept.prefix(10))).unsigned)
            let list = try await owner.get("/contacts/\(john)/gifts").succeeded(200)["data"]
            try expect(list?.unsigned, equals: JSONValue.list([shown ?? nil]).unsigned)
            // A change of the gift leaves its photos as they are.
            let changed = try await owner.client.update(gift.id, Monica.GiftDraft(contactID: john, name: "y"))
            try expect(changed.photos.count, equals: 10)
            let theirs = try await owner.client.store(photo: .photo, of: jane)
            for (path, text) in [
                (path + "/photo/\(theirs.id)", noPhoto), (path + "/photo/999999999", noPhoto),
                (path + "/photo/x", noPhoto),
                ("/gifts/999999999/photo/\(theirs.id)", "The requested gift was not found."),
            ] { try await owner.raw(.put, path, [:]).refused(404, 31, text, path) }
        },
    ]
}

extension HTTPField.Name {
    static let nosniff = Self("X-Content-Type-Options")!
}
