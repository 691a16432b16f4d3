import ContractCheck
import Foundation
import GTSDCheck
import GTSDClient
import Testbed
import Testing

/// Upload URLs work with a stock client.
@Suite(.timeLimit(.minutes(30))) struct PresignedTests {
    /// Uploads a file with curl, and returns the status of the answer.
    private func curl(_ url: String, file: String, _ more: [String] = []) async throws -> String {
        let arguments = ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-T", file] + more + [url]
        let (status, output) = try await StockTools.run("/usr/bin/curl", arguments)
        #expect(status == 0, "curl ended with \(status)")
        return output
    }

    @Test(arguments: Stack.Engine.available)
    func everyComponentIsSigned(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .live)) { host in
            try await withTemporaryFolder { folder in
                let bytes = SampleImage.jpeg(width: 8, height: 8)
                let (file, larger) = (folder + "/front.jpg", folder + "/larger.jpg")
                try Data(bytes).write(to: URL(fileURLWithPath: file))
                try Data(bytes + [0]).write(to: URL(fileURLWithPath: larger))
                let (anna, berta) = try await host.world().pair()
                func presign(_ person: Person) async throws -> GTSD.PresignedUpload {
                    try await person.send(
                        GTSD.PresignPhoto(fileName: "front.jpg", contentType: "image/jpeg", fileSize: bytes.count))
                }
                let (place, foreign) = (try await presign(anna), try await presign(berta))
                let url = place.uploadUrl
                let parts = try #require(URLComponents(string: url))
                let items = try #require(parts.queryItems)
                #expect(items.map(\.name) == ["expires", "size", "signature"])
                func with(_ name: String, _ value: String) -> String {
                    var other = parts
                    other.queryItems = items.map { $0.name == name ? URLQueryItem(name: name, value: value) : $0 }
                    return other.string ?? ""
                }
                let signature = items[2].value ?? ""
                let tampered = [
                    "the key": url.replacingOccurrences(of: place.fileKey, with: foreign.fileKey),
                    "the user": url.replacingOccurrences(
                        of: "progress-photos/\(anna.id)/", with: "progress-photos/\(berta.id)/"),
                    "the file's name": url.replacingOccurrences(of: "front.jpg", with: "front2.jpg"),
                    "a step back": url.replacingOccurrences(of: "/progress-photos", with: "/x/../progress-photos"),
                    "the expiry": with("expires", "99999999999"), "the size": with("size", "10485760"),
                    "the signature": with("signature", String(signature.reversed())),
                    "a part of the signature": with("signature", String(signature.dropLast())),
                    "no signature": with("signature", ""), "no query": String(url.prefix { $0 != "?" }),
                    "a parameter more": url + "&x=1",
                    "the order": url.replacingOccurrences(
                        of: "expires=\(items[0].value ?? "")&size=\(items[1].value ?? "")",
                        with: "size=\(items[1].value ?? "")&expires=\(items[0].value ?? "")"),
                ]
                for (what, other) in tampered {
                    #expect(other != url)
                    let answer = try await curl(other, file: file, ["--path-as-is"])
                    #expect(answer == "403", "\(what): \(answer)")
                }
                for method in ["POST", "GET", "DELETE", "PATCH"] {
                    let answer = try await curl(url, file: file, ["-X", method])
                    #expect(answer == "403", "\(method): \(answer)")
                }
                #expect(try await curl(url, file: larger) == "413")
                #expect(try await curl(url, file: larger, ["-H", "Transfer-Encoding: chunked"]) == "413")
                // None of the refused uploads has stored anything.
                let confirm = GTSD.ConfirmPhoto(
                    fileKey: place.fileKey, fileSize: bytes.count, contentType: "image/jpeg")
                try await expectRefusal(404, "File not found in storage: \(place.fileKey)") {
                    let _: GTSD.ConfirmedPhoto = try await anna.send(confirm)
                }
                #expect(try await curl(url, file: file) == "200")
                #expect(try await curl(url, file: file) == "200")
                let photo: GTSD.ConfirmedPhoto = try await anna.send(confirm)
                let fetched = folder + "/fetched.jpg"
                _ = try await StockTools.run("/usr/bin/curl", ["-s", "-o", fetched, photo.downloadUrl])
                #expect(try Data(contentsOf: URL(fileURLWithPath: fetched)) == Data(bytes))
                // A confirmed photo cannot be replaced.
                try Data(bytes.dropLast() + [0]).write(to: URL(fileURLWithPath: larger))
                #expect(try await curl(url, file: larger) == "409")
                host.clock.advance(by: .seconds(3600))
                #expect(try await curl(url, file: file) == "403")
                #expect(try await curl(foreign.uploadUrl, file: file) == "403")
            }
        }
    }
}
