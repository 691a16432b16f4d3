import Contract
import Crypto
import HTTPTypes
import Hummingbird
import NIOCore

/// Stores uploads on a disk until a handler takes them.
public protocol UploadSpool: Sendable {
    func begin() async throws -> any UploadWriter
}

/// Writes one uploaded file. A file that is neither finished nor discarded is removed when the writer is released.
public protocol UploadWriter: Sendable {
    func append(_ chunk: ByteBuffer) async throws
    func finish() async throws -> any SpooledUpload
    func discard() async
}

/// A form (RFC 7578), received as it streams in.
struct Multipart {
    /// The maximum size of all text fields together, in bytes.
    static let maximumText = 1_048_576
    static let maximumParts = 100

    var items: [(name: String, value: String)] = []
    /// The form field whose files are in ``uploads``.
    var field: String?
    /// The files in the order of the form. Their names are clean (``Contract/FileName``).
    var uploads: [Upload] = []
    private var digests: [[UInt8]] = []

    private init(_ rules: UploadRules?) { field = rules?.field }

    static func isForm(_ headers: HTTPFields) -> Bool {
        headers.value(of: .contentType)?.lowercased().hasPrefix("multipart/form-data") == true
    }

    /// Receives the form of a request.
    ///
    /// - Parameters:
    ///   - rules: The rules for files; nil when files are ignored.
    ///   - spool: Stores the files. An API with uploads has one.
    /// - Throws: ``UploadRules/missing`` when the body is not a form or has no such file, ``UploadRules/unexpected``,
    ///   ``UploadRules/tooLarge``.
    static func receive(
        _ request: Request, rules: UploadRules?, into spool: (any UploadSpool)?, errorMessages: ErrorMessages
    ) async throws -> Multipart {
        let malformed = Problem(.badRequest, rules?.missing ?? errorMessages.malformedForm)
        let textTooLarge = Problem(.contentTooLarge, errorMessages.bodyTooLarge, headers: [.connection: "close"])
        let tooLarge = rules.map { Problem(.contentTooLarge, $0.tooLarge, headers: [.connection: "close"]) }
        // The form takes little besides its files: a much larger body is refused before a byte of it is read.
        let limit = (rules.map { $0.maximumSize * Int64($0.maximumCount) } ?? 0) + Int64(2 * maximumText)
        if let declared = request.headers.value(of: .contentLength).flatMap(Int64.init), declared > limit {
            throw tooLarge ?? textTooLarge
        }
        var form = Multipart(rules)
        guard let boundary = MultipartParser.boundary(request.headers.value(of: .contentType)) else {
            guard rules?.missing == nil, !isForm(request.headers) else { throw malformed }
            return form
        }

        var parser = MultipartParser(boundary: boundary)
        var text = ByteBuffer()
        var (total, size, textSize): (Int64, Int64, Int) = (0, 0, 0)
        var parts = 0
        var current: MultipartParser.Part?
        var writer: (any UploadWriter)?
        do {
            for try await chunk in request.body {
                total += Int64(chunk.readableBytes)
                guard total <= limit else { throw tooLarge ?? textTooLarge }
                parser.append(chunk)
                while let event = try parser.next() {
                    switch event {
                    case .begin(let part):
                        parts += 1
                        guard parts <= maximumParts else { throw malformed }
                        current = part
                        guard let rules else { continue }
                        if part.filename != nil, part.name != rules.field, let unexpected = rules.unexpected {
                            throw Problem(.badRequest, unexpected, headers: [.connection: "close"])
                        }
                        guard part.name == rules.field else { continue }
                        size = 0
                        if form.uploads.count < rules.maximumCount {
                            guard let spool else { throw Problem(.internalServerError, errorMessages.internalError) }
                            writer = try await spool.begin()
                        } else if rules.maximumCount > 1 {
                            form.uploads.append(Upload(.bytes([]), filename: FileName.clean(part.filename ?? "")))
                        }
                    case .data(let data):
                        if let rules, current?.name == rules.field {
                            size += Int64(data.readableBytes)
                            guard size <= rules.maximumSize else { throw tooLarge ?? textTooLarge }
                            try await writer?.append(data)
                        } else if current?.filename == nil {
                            textSize += data.readableBytes
                            guard textSize <= maximumText else { throw textTooLarge }
                            text.writeImmutableBuffer(data)
                        }
                    case .end:
                        if let finished = writer, let part = current {
                            writer = nil
                            try await form.add(part, finished)
                        } else if let part = current, part.filename == nil, part.name != rules?.field {
                            form.items.append((part.name, String(buffer: text)))
                            text.clear()
                        }
                        current = nil
                    }
                }
            }
        } catch {
            await writer?.discard()
            if error is MultipartParser.Malformed { throw malformed }
            throw error
        }
        await writer?.discard()
        guard parser.isComplete, rules?.missing == nil || !form.uploads.isEmpty else { throw malformed }
        return form
    }

    private mutating func add(_ part: MultipartParser.Part, _ writer: any UploadWriter) async throws {
        let content = try await writer.finish()
        // Browsers send this for a field in which no file was chosen (WHATWG HTML, "constructing the entry list").
        if part.filename == "", content.count == 0 { return await writer.discard() }
        uploads.append(
            Upload(
                .spooled(content), filename: FileName.clean(part.filename ?? ""),
                contentType: part.contentType ?? "application/octet-stream"))
        digests.append(content.sha256)
    }

    func fingerprint(into hash: inout HMAC<SHA256>) {
        for item in items { hash.update(data: Array("\(item.name)=\(item.value)\0".utf8)) }
        for digest in digests { hash.update(data: digest) }
    }
}
