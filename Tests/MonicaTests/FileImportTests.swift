import Contract
import ContractCheck
import Database
import Foundation
import MonicaClient
import MonicaTestHost
import Synchronization
import Testbed
import Testing

@testable import MonicaCheck
@testable import MonicaService

/// Photos and documents of an export of Monica 4 come with their contacts.
@Suite(.timeLimit(.minutes(30))) struct MonicaFileImportTests {
    private static let jpeg = SampleImage.jpeg(width: 8, height: 8)
    private static let text = Array("0123456789".utf8)

    private static func person(_ number: Int) -> String { "11111111-0000-4000-8000-00000000000\(number)" }
    private static func photo(_ number: Int) -> String { "55555555-0000-4000-8000-00000000000\(number)" }
    private static func document(_ number: Int) -> String { "66666666-0000-4000-8000-00000000000\(number)" }
    private static let teapotID = "33333333-0000-4000-8000-000000000006"

    private static func dataURL(_ bytes: [UInt8], _ type: String) -> JSONValue {
        .string("data:\(type);base64,\(Data(bytes).base64EncodedString())")
    }

    private static func list(_ type: String, _ values: [JSONValue]) -> JSONValue {
        ["count": .integer(Int64(values.count)), "type": .string(type), "values": .list(values)]
    }

    private static func contact(_ uuid: String, _ name: String, avatar: JSONValue, _ data: [JSONValue]) -> JSONValue {
        [
            "uuid": .string(uuid), "created_at": "2020-01-02T03:04:05.000000Z",
            "updated_at": "2021-01-02T03:04:05.000000Z",
            "properties": ["first_name": .string(name), "is_partial": false, "avatar": avatar], "data": .list(data),
        ]
    }

    private static func file(_ uuid: String, _ name: String, _ content: JSONValue?) -> JSONValue {
        [
            "uuid": .string(uuid), "created_at": "2021-05-06T07:08:09.000000Z",
            "updated_at": "2021-05-06T07:08:09.000000Z",
            "properties": [
                "original_filename": .string(name), "filesize": 1, "mime_type": "image/jpeg", "type": "jpg",
                "number_of_downloads": 3, "dataUrl": content ?? nil,
            ],
        ]
    }

    /// An export of two contacts with files of all sorts.
    private static let export: String = {
        let gift: JSONValue = [
            "uuid": .string(teapotID),
            "properties": [
                "name": "Teapot", "status": "offered", "photos": [.string(photo(2)), .string(photo(1))],
            ],
        ]
        let john = contact(
            person(1), "John", avatar: ["avatar_source": "photo", "avatar_photo": .string(photo(1))],
            [
                list("gift", [gift]), list("photo", [1, 3, 4].map { .string(photo($0)) }),
                list("document", [1, 2].map { .string(document($0)) }),
            ])
        let jane = contact(
            person(2), "Jane",
            avatar: ["avatar_source": "gravatar", "avatar_external_url": "https://example.com/a"],
            [list("photo", [.string(photo(1))])])
        let photos = [
            file(photo(1), "../me\u{202E}.jpg", dataURL(jpeg, "image/jpeg")),
            file(photo(2), "", dataURL(jpeg, "image/jpeg")),
            file(photo(3), "none.jpg", dataURL(text, "image/jpeg")), file(photo(4), "gone.jpg", nil),
            file(photo(5), "alone.jpg", dataURL(jpeg, "image/jpeg")),
        ]
        let documents = [
            file(document(1), "a.txt", dataURL(text, "text/plain")), file(document(2), "b.txt", "data:text/plain,x"),
        ]
        let value: JSONValue = [
            "app_version": "4.0.0",
            "account": [
                "data": [
                    list("contact", [john, jane]), list("photo", photos), list("document", documents),
                ]
            ],
        ]
        return String(decoding: (try? JSONEncoder().encode(value)) ?? Data(), as: UTF8.self)
    }()

    private static func importing(
        _ text: String, into host: MonicaHost, storingFiles: Bool = true
    ) async throws -> MonicaService.RecordReport {
        var records = try ExportRecords(ExportFile(Data(text.utf8)))
        return try await host.service.importRecords(into: "alice", storingFiles: storingFiles) { try records.next() }
    }

    private static func expect(_ lines: [String], in report: MonicaService.RecordReport) {
        let text = RecordSummary(report: report).text
        for line in lines {
            #expect(text.split(separator: "\n").contains { $0 == line }, "\(line) in\n\(text)")
        }
    }

    @Test(arguments: Stack.Engine.available)
    func filesComeWithTheirContacts(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let report = try await Self.importing(Self.export, into: host)
            Self.expect(
                [
                    "2 contacts imported", "2 photos imported", "1 document imported", "  photo: its other contacts: 1",
                    "  contact: avatar_external_url: 1",
                    "  account.data[1].values[2]: the photo must be an image",
                    "  account.data[1].values[3]: the export has no content of it",
                    "  account.data[1].values[4]: no contact shows it",
                    "  account.data[2].values[1]: its content cannot be read",
                ], in: report)
            let (world, client) = (host.world(), try await host.client("alice"))
            let contacts = try await client.listContacts(page: 1, limit: 50, query: nil).data
            let (john, jane) = (try #require(contacts.first), try #require(contacts.last))
            let photos = try await client.send(Monica.ListOfContact<Monica.Photo>(contact: john.id)).data
            #expect(photos.map(\.uuid) == [Self.photo(1), Self.photo(2)])
            #expect(photos.map(\.originalFilename) == ["me.jpg", "photo.jpeg"])
            #expect(photos.map(\.createdAt) == Array(repeating: .init("2021-05-06T07:08:09Z")!, count: 2))
            #expect(try await world.fetch(photos[0].link).body.starts(with: Self.jpeg.prefix(64)))
            #expect(try await client.send(Monica.ListOfContact<Monica.Photo>(contact: jane.id)).data.isEmpty)
            let document = try #require(try await client.send(Monica.List<Monica.Document>()).data.first)
            #expect(document.originalFilename == "a.txt" && document.filesize == Self.text.count)
            #expect(try await world.fetch(document.link).body == Self.text)
            #expect(john.information.avatar.source == "photo" && john.information.avatar.url == photos[0].link)
            #expect(jane.information.avatar.source == "gravatar")
            let gift = try #require(try await client.listGifts(contactId: john.id, page: 1, limit: 10).data.first)
            #expect(gift.photos.map(\.uuid) == [Self.photo(1), Self.photo(2)])
            // A second import stores nothing, and changes no picture.
            try await client.send(Monica.SetAvatar(id: john.id, .initials))
            let keys = Set(try await host.objects.allKeys())
            #expect(keys.count == 3)
            let again = try await Self.importing(Self.export, into: host)
            Self.expect(["0 photos imported, 2 there already", "0 documents imported, 1 there already"], in: again)
            #expect(Set(try await host.objects.allKeys()) == keys)
            #expect(try await client.getContact(id: john.id).data.information.avatar.source == "default")
        }
    }

    /// An operator's process that has no server has no store: the files come with another import.
    @Test(arguments: Stack.Engine.available)
    func filesComeLater(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let first = try await Self.importing(Self.export, into: host, storingFiles: false)
            Self.expect(
                [
                    "2 contacts imported",
                    "4 photos and documents were not imported, because no server of this data folder runs that could store them: start it, and import the file again",
                ], in: first)
            #expect(try await host.objects.allKeys().isEmpty)
            let second = try await Self.importing(Self.export, into: host)
            Self.expect(["0 contacts imported, 2 there already", "2 photos imported"], in: second)
            let client = try await host.client("alice")
            let contacts = try await client.listContacts(page: 1, limit: 50, query: nil).data
            #expect(contacts.first?.information.avatar.source == "photo")
        }
    }

    /// A file without room is refused, and its object is not kept.
    @Test(arguments: Stack.Engine.available)
    func theQuotaHolds(_ engine: Stack.Engine) async throws {
        var limits = MonicaService.Limits.outOfTheWay
        // Each photo has room for itself, and a document beside one of them.
        limits.storageQuota = Int64(Self.jpeg.count)
        let size = Int64(64 + SampleImages.mark.count)
        try #require(2 * size > limits.storageQuota && size + 10 <= limits.storageQuota)
        try await withMonica(on: Stack(engine, .inProcess), limits: limits) { host in
            let report = try await Self.importing(Self.export, into: host)
            Self.expect(["1 photo imported", "1 document imported"], in: report)
            #expect(report.refused.count { $0.reason == "Storage quota exceeded" } == 1)
            #expect(try await host.objects.allKeys().count == 2)
        }
    }

    /// A photo that cannot be converted now, because its owner's others are, is tried again.
    @Test func anImportWaitsForItsTurn() async throws {
        let tries = Mutex(0)
        let photos: MonicaService.PhotoMaker = { path, _ in
            if tries.withLock({ number in
                number += 1
                return number == 1
            }) {
                throw Problem(.tooManyRequests, "too many at once")
            }
            return try SampleImages.processed(path)
        }
        try await withMonica(on: Stack(.sqlite, .inProcess), limits: Self.impatient, photos: photos) { host in
            let report = try await Self.importing(Self.export, into: host)
            Self.expect(["2 photos imported"], in: report)
            #expect(tries.withLock { $0 } == 3)
        }
    }

    private static let impatient: MonicaService.Limits = {
        var limits = MonicaService.Limits.outOfTheWay
        limits.pauseOfImports = .zero
        return limits
    }()

    @Test func anImportDoesNotWaitForEver() async throws {
        let tries = Mutex(0)
        let photos: MonicaService.PhotoMaker = { _, _ in
            tries.withLock { $0 += 1 }
            throw Problem(.tooManyRequests, "too many at once")
        }
        try await withMonica(on: Stack(.sqlite, .inProcess), limits: Self.impatient, photos: photos) { host in
            let report = try await Self.importing(Self.export, into: host)
            Self.expect(["2 contacts imported", "1 document imported"], in: report)
            #expect(report.refused.count { $0.reason == "too many at once" } == 2)
            #expect(tries.withLock { $0 } == 2 * (ImportedFiles.tries + 1))
        }
    }

    @Test func aFileThatIsTooLargeIsRefused() async throws {
        let john = Self.contact(
            Self.person(1), "John", avatar: [:],
            [Self.list("document", [1, 2, 3].map { .string(Self.document($0)) })])
        let files = [(1, 2000), (2, 101), (3, 100)].map { number, size in
            Self.file(
                Self.document(number), "a", Self.dataURL(Array(repeating: 0, count: size), "application/octet-stream"))
        }
        let value: JSONValue = [
            "app_version": "4.0.0",
            "account": ["data": [Self.list("contact", [john]), Self.list("document", files)]],
        ]
        let file = try ExportFile(JSONEncoder().encode(value))
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            var records = try ExportRecords(file, maximumFileSize: 100)
            let report = try await host.service.importRecords(into: "alice") { try records.next() }
            Self.expect(
                [
                    "1 document imported", "  account.data[1].values[0]: it is larger than 100 bytes",
                    "  account.data[1].values[1]: it is larger than 100 bytes",
                ], in: report)
        }
    }
}
