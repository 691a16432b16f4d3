import Contract
import Crypto
import HTTPTypes
import Hummingbird
import NIOCore

/// Where uploads wait until a handler takes them: a disk, not the memory.
public protocol UploadSpool: Sendable {
    func begin() async throws -> any UploadWriter
}

/// One file on its way in. What is neither finished nor discarded is removed when it is let go of.
public protocol UploadWriter: Sendable {
    func append(_ chunk: ByteBuffer) async throws
    func finish() async throws -> any SpooledUpload
    func discard() async
}

/// A form with one file (RFC 7578), received as it streams in.
struct Multipart {
    /// Of all text fields together, in bytes.
    static let maximumText = 1_048_576
    static let maximumParts = 100

    var items: [(name: String, value: String)]
    var upload: Upload
    private var digest: [UInt8]

    /// Receives the form of a request.
    ///
    /// - Throws: ``UploadRules/missing`` when it is no form or has no such file, ``UploadRules/unexpected``,
    ///   ``UploadRules/tooLarge``.
    static func receive(
        _ request: Request, rules: UploadRules, into spool: any UploadSpool, phrases: Phrases
    ) async throws -> Multipart {
        let missing = Problem(.badRequest, rules.missing)
        let tooLarge = Problem(.contentTooLarge, rules.tooLarge, headers: [.connection: "close"])
        // The form around the file takes little; what is far beyond both is refused before a byte of it is read.
        if let declared = request.headers[.contentLength].flatMap(Int64.init),
            declared > rules.maximumSize + Int64(2 * maximumText)
        {
            throw tooLarge
        }
        guard let boundary = MultipartParser.boundary(request.headers[.contentType]) else { throw missing }

        var parser = MultipartParser(boundary: boundary)
        var items: [(name: String, value: String)] = []
        var text = ByteBuffer()
        var textSize = 0
        var parts = 0
        var current: MultipartParser.Part?
        var writer: (any UploadWriter)?
        var size: Int64 = 0
        var file: (part: MultipartParser.Part, content: any SpooledUpload)?
        do {
            for try await chunk in request.body {
                parser.append(chunk)
                while let event = try parser.next() {
                    switch event {
                    case .begin(let part):
                        parts += 1
                        guard parts <= maximumParts else { throw missing }
                        current = part
                        if part.filename != nil, part.name != rules.field, let unexpected = rules.unexpected {
                            throw Problem(.badRequest, unexpected, headers: [.connection: "close"])
                        }
                        if part.name == rules.field, file == nil { writer = try await spool.begin() }
                    case .data(let data):
                        if let writer {
                            size += Int64(data.readableBytes)
                            guard size <= rules.maximumSize else { throw tooLarge }
                            try await writer.append(data)
                        } else if current?.filename == nil {
                            textSize += data.readableBytes
                            guard textSize <= maximumText else {
                                throw Problem(.contentTooLarge, phrases.bodyTooLarge, headers: [.connection: "close"])
                            }
                            text.writeImmutableBuffer(data)
                        }
                    case .end:
                        if let finished = writer, let part = current {
                            writer = nil
                            file = (part, try await finished.finish())
                        } else if let part = current, part.filename == nil {
                            items.append((part.name, String(buffer: text)))
                            text.clear()
                        }
                        current = nil
                    }
                }
            }
        } catch {
            await writer?.discard()
            if error is MultipartParser.Malformed { throw missing }
            throw error
        }
        await writer?.discard()
        guard parser.isComplete, let (part, content) = file else { throw missing }
        return Multipart(
            items: items,
            upload: Upload(
                .spooled(content), filename: part.filename ?? "",
                contentType: part.contentType ?? "application/octet-stream"),
            digest: content.sha256)
    }

    func fingerprint(into hash: inout HMAC<SHA256>) {
        for item in items { hash.update(data: Array("\(item.name)=\(item.value)\0".utf8)) }
        hash.update(data: digest)
    }
}
