import Contract
import Foundation

/// A form with files as it goes on the wire (RFC 7578). Bytes stay in memory. A file is copied piece by piece into a
/// form on disk, so that a large upload is never whole in memory.
package struct MultipartBody: Sendable {
    package let contentType: String
    package let body: TransportRequest.Body
    private let temporary: URL?

    /// Fails when the request is not a form.
    package init?(_ encoded: RequestCoding.Encoded.Body) throws {
        guard case .form(let fields, let uploads) = encoded else { return nil }
        let boundary = "concord-\(UUID().uuidString)"
        contentType = "multipart/form-data; boundary=\(boundary)"
        let inMemory = uploads.allSatisfy { if case .bytes = $0.upload.content { true } else { false } }
        if inMemory {
            var bytes: [UInt8] = []
            try Self.write(fields, uploads, boundary) { bytes += $0 }
            body = .bytes(bytes)
            temporary = nil
        } else {
            let url = FileManager.default.temporaryDirectory.appendingPathComponent(boundary)
            guard
                FileManager.default.createFile(
                    atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
            else { throw CocoaError(.fileWriteUnknown) }
            temporary = url
            body = .file(url)
            let file = try FileHandle(forWritingTo: url)
            do {
                try Self.write(fields, uploads, boundary) { try file.write(contentsOf: $0) }
                try file.close()
            } catch {
                try? file.close()
                remove()
                throw error
            }
        }
    }

    /// Removes the form from the disk. It must stay there while it is sent.
    package func remove() {
        if let temporary { try? FileManager.default.removeItem(at: temporary) }
    }

    private static func write(
        _ fields: [(name: String, value: String)], _ uploads: [(name: String, upload: Upload)], _ boundary: String,
        to sink: ([UInt8]) throws -> Void
    ) throws {
        for field in fields {
            try sink(
                Array(
                    "--\(boundary)\r\nContent-Disposition: form-data; name=\(quoted(field.name))\r\n\r\n\(field.value)\r\n"
                        .utf8))
        }
        for (name, upload) in uploads {
            let type = upload.contentType.filter { $0 != "\r" && $0 != "\n" && $0 != "\r\n" }
            try sink(
                Array(
                    """
                    --\(boundary)\r
                    Content-Disposition: form-data; name=\(quoted(name)); filename=\(quoted(upload.filename))\r
                    Content-Type: \(type)\r
                    \r

                    """.utf8))
            switch upload.content {
            case .bytes(let bytes):
                try sink(bytes)
            case .file(let url):
                let file = try FileHandle(forReadingFrom: url)
                defer { try? file.close() }
                while let piece = try file.read(upToCount: 262_144), !piece.isEmpty { try sink([UInt8](piece)) }
            case .spooled:
                throw CocoaError(.fileReadUnsupportedScheme)
            }
            try sink(Array("\r\n".utf8))
        }
        try sink(Array("--\(boundary)--\r\n".utf8))
    }

    /// Escapes a name as HTML forms do (WHATWG HTML §4.10.21.8): percent-encodes characters that would end the quotes
    /// or the line.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "%22"
            case "\r": result += "%0D"
            case "\n": result += "%0A"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
