import Contract
import ContractClient
import Foundation

/// Reads a form as the SDK writes it (RFC 7578), in memory.
struct MockForm {
    var fields: [(name: String, value: String)] = []
    var uploads: [String: [Upload]] = [:]

    /// - Throws: ``UploadRules/missing`` when the body is not a form or has no such file, ``UploadRules/unexpected``,
    ///   ``UploadRules/tooLarge``.
    init(_ request: TransportRequest, rules: UploadRules?) throws {
        let body: Data
        switch request.body {
        case .none: body = Data()
        case .bytes(let bytes): body = Data(bytes)
        case .file(let url): body = try Data(contentsOf: url)
        }
        let boundary = request.headers[.contentType]?.split(separator: "boundary=").dropFirst().first ?? ""
        for part in Self.parts(of: body, between: "--\(boundary)") { read(part) }
        guard let rules else {
            uploads = [:]
            return
        }
        if let unexpected = rules.unexpected, uploads.keys.contains(where: { $0 != rules.field }) {
            throw Problem(.badRequest, unexpected)
        }
        let files = uploads[rules.field] ?? []
        if files.isEmpty, let missing = rules.missing { throw Problem(.badRequest, missing) }
        for case .bytes(let content) in files.map(\.content) {
            guard content.count <= rules.maximumSize else { throw Problem(.contentTooLarge, rules.tooLarge) }
        }
    }

    /// Returns the parts between boundaries, without the line breaks that belong to the boundaries.
    private static func parts(of body: Data, between boundary: String) -> [Data] {
        var parts: [Data] = []
        var start = body.range(of: Data((boundary + "\r\n").utf8))?.upperBound
        while let from = start, let end = body.range(of: Data("\r\n\(boundary)".utf8), in: from..<body.endIndex) {
            parts.append(body[from..<end.lowerBound])
            start = body.range(of: Data("\r\n".utf8), in: end.upperBound..<body.endIndex)?.upperBound
        }
        return parts
    }

    private mutating func read(_ part: Data) {
        guard let end = part.range(of: Data("\r\n\r\n".utf8)) else { return }
        let head = String(decoding: part[..<end.lowerBound], as: UTF8.self)
        let content = part[end.upperBound...]
        let line = head.components(separatedBy: "\r\n").first ?? ""
        let disposition = HeaderParameters(line.drop { $0 != ":" }.dropFirst())
        guard let name = disposition.parameters["name"] else { return }
        guard let filename = disposition.formFilename.map(FileName.clean) else {
            return fields.append((name, String(decoding: content, as: UTF8.self)))
        }
        let type = head.components(separatedBy: "\r\nContent-Type: ").dropFirst().first
        let upload = Upload(
            .bytes([UInt8](content)), filename: filename, contentType: type ?? "application/octet-stream")
        uploads[name, default: []].append(upload)
    }
}
