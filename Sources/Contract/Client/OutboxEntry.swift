import Contract
import Foundation

/// An item of an outbox, with what is stored of it.
struct OutboxEntry<Content: Codable & Sendable>: Sendable {
    /// What never changes: `request.json`.
    struct Record: Codable, Sendable {
        struct File: Codable, Sendable {
            let filename: String
            let contentType: String
            let size: Int64
        }

        let account: String
        /// Milliseconds since 1970.
        let createdAt: Int64
        /// The first `Idempotency-Key`.
        let key: String
        let content: Content
        let files: [File]
    }

    /// The state of the attempts to send it: `attempt.json`.
    struct Attempt: Codable, Sendable {
        /// The `Idempotency-Key`; nil as long as it is the first one.
        var key: String?
        /// The time of the first attempt under the key that may have reached the server, in milliseconds since 1970.
        var firstAt: Int64?
        var failure: OutboxFailure?
        /// The state that the sender has saved between attempts.
        var memory: Data?
    }

    let id: OutboxItemID
    let record: Record
    let files: [OutboxFile]
    /// The bytes that the item takes on the disk.
    let size: Int64
    var attempt: Attempt
    /// Whether it is being sent, and how far its upload is.
    var sending: OutboxState?
    /// The number of attempts in a row that the server answered with an error of its own.
    var serverErrors = 0

    init(_ id: OutboxItemID, _ record: Record, _ attempt: Attempt, requestSize: Int, in folder: OutboxFolder) {
        self.id = id
        self.record = record
        self.attempt = attempt
        files = record.files.enumerated().map { index, file in
            OutboxFile(
                filename: file.filename, contentType: file.contentType, size: file.size,
                location: folder.file(index, of: id.name))
        }
        size = record.files.reduce(Int64(requestSize)) { $0 + $1.size }
    }

    var key: String { attempt.key ?? record.key }
    var isWaiting: Bool { sending == nil && attempt.failure == nil }
    var createdAt: Date { Date(timeIntervalSince1970: Double(record.createdAt) / 1000) }

    /// Returns the item as an app sees it.
    func item(_ state: OutboxState? = nil) -> OutboxItem<Content> {
        OutboxItem(
            id: id, content: record.content, files: files, createdAt: createdAt,
            state: state ?? sending ?? attempt.failure.map(OutboxState.failed) ?? .waiting)
    }
}

extension OutboxEntry {
    /// Reads an item.
    ///
    /// - Throws: The error of the damaged file.
    init(reading name: String, account: String, in folder: OutboxFolder) throws {
        let data = try folder.request(of: name)
        let record = try JSONDecoder().decode(Record.self, from: data)
        guard record.account == account else { throw CocoaError(.fileReadCorruptFile) }
        var attempt = Attempt()
        do {
            if let data = try folder.attempt(of: name) { attempt = try JSONDecoder().decode(Attempt.self, from: data) }
        } catch {
            // It is not known whether, and under which key, the item was sent.
            attempt = Attempt(key: nil, firstAt: record.createdAt, failure: .uncertain, memory: nil)
        }
        self.init(OutboxItemID(name: name), record, attempt, requestSize: data.count, in: folder)
    }
}

extension Upload {
    /// The size in bytes.
    func outboxSize() throws -> Int64 {
        switch content {
        case .bytes(let bytes): return Int64(bytes.count)
        case .file(let url):
            let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber
            guard let size else { throw CocoaError(.fileReadUnknown) }
            return size.int64Value
        case .spooled: throw CocoaError(.fileReadUnsupportedScheme)
        }
    }
}
