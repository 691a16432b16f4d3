import Contract
import Foundation
import Testing

/// Days and moments are converted by the zone whose clocks count.
@Suite(.timeLimit(.minutes(30))) struct DayZoneTests {
    private func zone(_ name: String) throws -> TimeZone { try #require(TimeZone(identifier: name)) }

    @Test(arguments: [
        ("2026-02-23T10:59:59Z", "Pacific/Auckland", "2026-02-23"),
        ("2026-02-23T11:00:00Z", "Pacific/Auckland", "2026-02-24"),
        ("2026-02-23T07:59:59Z", "America/Los_Angeles", "2026-02-22"),
        ("2026-02-23T08:00:00Z", "America/Los_Angeles", "2026-02-23"),
        ("1969-12-31T23:59:59Z", "UTC", "1969-12-31"),
        ("1970-01-01T00:00:00Z", "UTC", "1970-01-01"),
        ("1899-12-31T23:00:00Z", "UTC", "1899-12-31"),
    ])
    func aMomentFallsOnADayOfTheZone(_ moment: String, _ name: String, _ day: String) throws {
        let date = try #require(ISO8601DateFormatter().date(from: moment))
        #expect(Day(date, in: try zone(name)).description == day)
    }

    @Test func aMomentJustBefore1970FallsOnTheDayBefore() throws {
        #expect(Day(Date(timeIntervalSince1970: -0.001), in: try zone("UTC")).description == "1969-12-31")
    }

    @Test(arguments: [
        ("2026-02-23", "UTC", "2026-02-23T00:00:00Z"),
        ("2026-02-23", "Pacific/Kiritimati", "2026-02-22T10:00:00Z"),
        ("2026-02-23", "Pacific/Pago_Pago", "2026-02-23T11:00:00Z"),
        // The clocks went forward at midnight, so the day began at one o'clock.
        ("2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00:00Z"),
        ("2026-03-29", "Europe/Berlin", "2026-03-28T23:00:00Z"),
    ])
    func aDayBeginsInAZone(_ day: String, _ name: String, _ moment: String) throws {
        let date = try #require(Day(day)).date(in: try zone(name))
        #expect(date == ISO8601DateFormatter().date(from: moment))
    }

    @Test(arguments: ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Asia/Kathmandu", "America/Sao_Paulo"])
    func everyDayIsTheDayOfItsBeginning(_ name: String) throws {
        let zone = try zone(name)
        for number in stride(from: Int64(-800), through: 25_000, by: 7) {
            let day = Day(daysSince1970: number)
            #expect(Day(day.date(in: zone), in: zone) == day)
        }
    }
}

/// An upload of a file takes name and type from the file.
@Suite(.timeLimit(.minutes(30))) struct UploadFileTests {
    @Test(arguments: [
        ("photo.jpg", "image/jpeg"), ("Photo.HEIC", "image/heic"), ("voice.m4a", "audio/m4a"), ("a.b.png", "image/png"),
        ("clip.mov", "video/quicktime"), ("notes", "application/octet-stream"), (".png", "application/octet-stream"),
        ("archive.unknown", "application/octet-stream"), ("dot.", "application/octet-stream"),
    ])
    func theTypeIsThatOfTheExtension(_ name: String, _ type: String) {
        let upload = Upload(fileAt: URL(fileURLWithPath: "/folder/\(name)"))
        #expect(upload.filename == name)
        #expect(upload.contentType == type)
        guard case .file(let url) = upload.content else { return #expect(Bool(false), "no file") }
        #expect(url.path == "/folder/\(name)")
    }

    @Test func theCallerMayKnowBetter() {
        let upload = Upload(fileAt: URL(fileURLWithPath: "/tmp/x.bin"), filename: "me.jpg", contentType: "image/x-mine")
        #expect(upload.filename == "me.jpg")
        #expect(upload.contentType == "image/x-mine")
        #expect(Upload(fileAt: URL(fileURLWithPath: "/tmp/x.bin"), filename: "me.jpg").contentType == "image/jpeg")
    }
}
