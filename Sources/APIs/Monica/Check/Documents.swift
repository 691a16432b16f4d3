@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static let documents: [Scenario<MonicaWorld>] = [
        Scenario("A document is an attachment, whatever it is said to be", clause: "GET /documents/{id}") {
            world, owner in
            let john = try await owner.contact("John").id
            let octets = "application/octet-stream"
            for (content, name, suffix, type) in [
                (Array("<script>".utf8), "näme \"x\".HTML", "html", octets), ([], "none", nil, octets),
                (Samples.jpeg, "a.txt", "txt", "image/jpeg"), (Array("%PDF-1.7".utf8), "a", nil, "application/pdf"),
                (Array("<svg/>".utf8), "a.svg", "svg", octets), (SampleVideo.mp4, ".", nil, "video/mp4"),
            ] as [([UInt8], String, String?, String)] {
                let upload = Upload(.bytes(content), filename: name, contentType: "text/html")
                let document = try await owner.client.store(document: upload, of: john)
                try expect(document.mimeType, equals: type)
                try expect(document.type, equals: suffix)
                try expect(document.filesize, equals: content.count)
                let file = try await world.fetch(document.link)
                try expect(file.status, equals: 200)
                try expect(file.body == content, "another file than \(name)")
                try expect(file.headers[.contentType], equals: type)
                try expect(file.headers[.nosniff], equals: "nosniff")
                let disposition = file.headers[.contentDisposition] ?? ""
                try expect(disposition.hasPrefix("attachment"), disposition)
                if name.hasPrefix("n\u{E4}") {
                    try expect(disposition.contains("n%C3%A4me%20%22x%22.HTML"), disposition)
                }
            }
        },
        Scenario("A document is fetched in parts, by its link alone", clause: "GET /documents/{id}") { world, owner in
            let john = try await owner.contact("John").id
            let upload = Upload(.bytes(Array("0123456789".utf8)), filename: "a.txt")
            let link = try await owner.client.store(document: upload, of: john).link
            for (range, status, text) in [
                ("bytes=0-3", 206, "0123"), ("bytes=7-", 206, "789"), ("bytes=-2", 206, "89"),
            ] {
                let part = try await world.fetch(link, headers: [.range: range])
                try expect(part.status, equals: status)
                try expect(part.text, equals: text)
            }
            try expect(try await world.fetch(link, headers: [.range: "bytes=10-"]).status, equals: 416)
            let bare = String(link.prefix { $0 != "?" })
            for other in [bare, link + "x"] { try expect(try await world.fetch(other).status, equals: 403) }
        },
    ]
}

extension HTTPField.Name {
    fileprivate static let contentDisposition = Self("Content-Disposition")!
}
