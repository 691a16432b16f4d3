import Contract
import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testbed

extension Mutant {
    private static let upload = "POST /files"
    private static let download = "GET /files/{id}/download"
    private static let deletion = "DELETE /files/{id}"
    private static let objects = "/objects/*"

    static let uploads: [Mutant] = [
        .status("answers 200", upload, of: upload, 201, 200),
        .body("tells the size", upload, of: upload, #"\}$"#, #","size":7}"#),
        .body("leaves out the object's key", upload, of: upload, #","object_key":"[^"]*""#, ""),
        .body("has no UUID in the key", upload, of: upload, #""object_key":"[^_"]*_"#, #""object_key":""#),
        .body("keeps spaces in the key", upload, of: upload, #"(_[a-z]+)_([a-z.]+"\})"#, "$1 $2"),
        .answer("keeps a path in the name", upload, to: upload) { response, request in
            guard response.status == .created, let declared = request.declared("filename"), declared.contains("/")
            else { return }
            let name = JSONValue.string(declared).description
            response.text = response.text.replacingOccurrences(
                of: #""filename":"[^"]*""#, with: #""filename":\#(name)"#, options: .regularExpression)
        },
        .body(
            "cuts names at 100 bytes", upload, of: upload, #""filename":"(.{100}).{50,}?","mime"#,
            #""filename":"$1","mime"#),
        .answer("keeps the type as it was declared", upload, to: upload) { response, request in
            guard response.status == .created, let declared = request.declaredType else { return }
            response.text = response.text.replacingOccurrences(
                of: response.text[text: "mime_type"], with: declared)
        },
        .body(
            "takes every file for octets", upload, of: upload, #""mime_type":"[^"]*""#,
            #""mime_type":"application/octet-stream""#),
        .exchange("takes a field of any name", upload, upload) { request, forward in
            let response = try await forward(request)
            guard response.status == .badRequest, request.text.contains(#"name="upload""#) else { return response }
            var request = request
            request.text = request.text.replacingOccurrences(of: #"name="upload""#, with: #"name="file""#)
            return try await forward(request)
        },
        .refusal(
            "words a missing file otherwise", upload, "No file uploaded (use multipart/form-data field 'file')",
            "No file uploaded"),
        .exchange("takes what is too large", upload, upload) { request, forward in
            let response = try await forward(request)
            guard response.status == .contentTooLarge else { return response }
            return TransportResponse(
                status: .created, headers: [.contentType: "application/json"],
                body: Array(
                    #"{"id":9,"filename":"zeros","mime_type":"application/octet-stream","object_key":"x_zeros"}"#.utf8))
        },
        .refusal("words a large file otherwise", upload, "File too large (max 50 MB)", "Request body too large"),
        .refusing(
            "refuses an empty file", upload, of: upload, 400, "No file uploaded (use multipart/form-data field 'file')"
        ) {
            $0.isShort && $0.text.contains("\r\n\r\n\r\n--")
        },
        .refusing("refuses files above 32 MiB", upload, of: upload, 413, "File too large (max 50 MB)") { request in
            if case .bytes(let bytes) = request.body { bytes.count > 33_554_432 } else { false }
        },
    ]

    static let removals: [Mutant] = [
        .status("answers 200", deletion, of: deletion, 204, 200),
        .status("answers 403 to strangers", deletion, of: deletion, 404, 403),
        .leaking("lets strangers remove a file", deletion, deletion, [404]),
        .exchange("keeps the file", deletion, deletion) { request, forward in
            var look = request
            look.method = .get
            look.url.append(path: "download")
            return try await forward(look).status == .found
                ? TransportResponse(status: .noContent) : try await forward(request)
        },
        .exchange("removes what is in use", deletion, deletion) { request, forward in
            let response = try await forward(request)
            guard response.isRefusal("File not found") else { return response }
            var look = request
            look.method = .get
            look.url.append(path: "download")
            return try await forward(look).status == .found ? TransportResponse(status: .noContent) : response
        },
    ]

    static let downloads: [Mutant] = [
        .status("answers 307", download, of: download, 302, 307),
        .answer("answers 200 with the URL", download, to: download) { response, _ in
            guard response.status == .found, let location = response.headers[.location] else { return }
            response = TransportResponse(
                status: .ok, headers: [.contentType: "application/json"],
                body: Array(#"{"url":"\#(location)"}"#.utf8))
        },
        .header("leaves out the Location", download, of: download, .location, nil),
        .answer("has a Location without the host", download, to: download) { response, _ in
            if let location = response.headers[.location] {
                response.headers[.location] = location.replacingOccurrences(of: "http://test", with: "")
            }
        },
        .header("lets redirects be kept", download, of: download, .cacheControl, nil),
        .header("keeps redirects for a day", download, of: download, .cacheControl, "max-age=86400"),
        Mutant(download, "lets URLs live for a day") {
            let real = NIOLockedValueBox<[String: String]>([:])
            return Defect(exchange: { request, forward in
                var request = request
                if let genuine = real.withLockedValue({ $0[request.url.absoluteString] }) {
                    request.url = URL(string: genuine)!
                }
                var response = try await forward(request)
                guard let location = response.headers[.location], let range = location.range(of: "expires="),
                    let expires = Int64(location[range.upperBound...].prefix(while: \.isNumber))
                else { return response }
                let fake = location.replacingOccurrences(of: "expires=\(expires)", with: "expires=\(expires + 82_800)")
                real.withLockedValue { $0[fake] = location }
                response.headers[.location] = fake
                return response
            })
        },
        Mutant(download, "lets a URL be changed") {
            let good = NIOLockedValueBox<[String: URL]>([:])
            return Defect(exchange: { request, forward in
                var response = try await forward(request)
                if let location = response.headers[.location].flatMap(URL.init(string:)) {
                    good.withLockedValue { $0[location.path] = location }
                }
                if response.status == .forbidden, let url = good.withLockedValue({ $0[request.url.path] }),
                    request.method == .get
                {
                    var request = request
                    request.url = url
                    response = try await forward(request)
                }
                return response
            })
        },
        .refusing("wants a token for the content", download, of: objects, 401, "Missing Authorization header") {
            $0.headers[.authorization] == nil
        },
        .header("leaves out the disposition", download, of: objects, .contentDisposition, nil),
        .answer("shows content inline", download, to: objects) { response, _ in
            let field = HTTPField.Name.contentDisposition
            response.headers[field] = response.headers[field]?.replacingOccurrences(of: "attachment", with: "inline")
        },
        .header(
            "names every attachment alike", download, of: objects, .contentDisposition, "attachment; filename=\"file\""),
        .header("lets browsers guess", download, of: objects, HTTPField.Name("X-Content-Type-Options")!, nil),
        .answer("serves HTML as such", download, to: objects) { response, _ in
            if response.headers[.contentType] == "application/octet-stream" {
                response.headers[.contentType] = "text/html"
            }
        },
        .header("serves everything as octets", download, of: objects, .contentType, "application/octet-stream"),
        .request("does not know ranges", download, of: objects) { $0.headers[.range] = nil },
        .header("does not say that it knows ranges", download, of: objects, .acceptRanges, nil),
        .exchange("answers a range beyond the end whole", download, objects) { request, forward in
            let response = try await forward(request)
            guard response.status == .rangeNotSatisfiable else { return response }
            var request = request
            request.headers[.range] = nil
            return try await forward(request)
        },
        .answer("cuts content", download, to: objects) { response, request in
            if request.headers[.range] == nil { response.body = response.body.dropLast() }
        },
        .leaking("serves strangers", download, download, [404]),
        .status("answers 403 to strangers", download, of: download, 404, 403),
        .knowing("serves the uploader alone", download, download) { request, forward, people in
            let uploader = request.id.flatMap { people.uploader(of: $0) }
            let isOwn = uploader == nil || uploader == request.token
            return isOwn ? try await forward(request) : .refusal(404, "File not found")
        },
        .knowing("lets members pass a file on", download, "POST /chats/{id}/messages") { request, forward, people in
            let response = try await forward(request)
            guard response.isRefusal("File not found"), case .integer(let file)? = request.json["file_id"],
                people.uploader(of: file) != nil
            else { return response }
            var without = request
            without.json = ["content": "passed on"]
            return try await forward(without)
        },
    ]
}

extension HTTPField.Name {
    fileprivate static let contentDisposition = Self("Content-Disposition")!
}

extension TransportRequest {
    /// Whether the body is short enough to search. One of fifty megabytes would take long.
    fileprivate var isShort: Bool {
        if case .bytes(let bytes) = body { bytes.count < 65_536 } else { true }
    }

    /// Returns a parameter of the file's part.
    fileprivate func declared(_ parameter: String) -> String? {
        guard isShort, let range = text.range(of: "\(parameter)=\"") else { return nil }
        return String(text[range.upperBound...].prefix { $0 != "\"" })
    }

    /// The content type of the file's part.
    fileprivate var declaredType: String? {
        guard isShort, let range = text.range(of: "Content-Type: ") else { return nil }
        return String(text[range.upperBound...].prefix { $0 != "\r\n" })
    }
}
