import Backend
import Contract
import Foundation
import HTTPTypes
import MonicaAPI

/// The contents of the photos and documents among some records of an import, stored before the transaction that adds their
/// rows.
struct ImportedFiles {
    /// The outcome for one content.
    enum Content: Sendable {
        case stored(StoredContent)
        case refused(reason: String)
    }

    /// The contents by the places of their records.
    private(set) var contents: [String: Content] = [:]

    /// The keys of the objects.
    var keys: Set<String> {
        Set(
            contents.values.compactMap { content in
                if case .stored(let object) = content { object.key.rawValue } else { nil }
            })
    }

    /// The number of times that a photo is tried again.
    static let tries = 12

    /// Stores the contents, one after the other.
    ///
    /// - Parameters:
    ///   - storesFiles: Whether this process has a store. Without one, nothing is stored, and ``contents`` stays empty.
    ///   - isKnown: Returns whether the account has a record already.
    /// - Throws: `CancellationError`, and errors of the store.
    init(
        _ service: MonicaService, of account: AccountID, in records: [ImportedRecord], _ storesFiles: Bool,
        isKnown: (ImportedRecord.Kind, _ uuid: String) -> Bool
    ) async throws {
        guard storesFiles, records.contains(where: { $0.file != nil }) else { return }
        let stored = { try await service.database.read { try Files.storage(of: account, in: $0) } }
        var storage = try await stored()
        for record in records {
            guard let file = record.file, let uuid = record.uuid, !isKnown(record.kind, uuid) else { continue }
            // A file before it may get no row, and its owner may delete others. The transaction has the last word.
            if storage + Int64(file.content.count) > service.limits.storageQuota { storage = try await stored() }
            let content =
                record.kind == .photo
                ? try await Self.stored(Monica.Photo.self, file, beside: storage, service, account)
                : try await Self.stored(Monica.Document.self, file, beside: storage, service, account)
            if case .stored(let object) = content { storage += object.size }
            contents[record.path] = content
        }
    }

    private static func stored<Item: StoredFile>(
        _: Item.Type, _ file: ImportedFile, beside storage: Int64, _ service: MonicaService, _ account: AccountID
    ) async throws -> Content {
        do {
            try Files.requireRoom(
                for: Int64(file.content.count), beside: storage, quota: service.limits.storageQuota)
            let content = try await service.spooled(file.content)
            let filename = file.filename.isEmpty ? nil : FileName.clean(file.filename)
            guard let received = try Item.received(content, named: filename) else {
                return .refused(reason: "the \(Item.singular) \(Monica.Photo.mustBeImage)")
            }
            return .stored(try await stored(Item.self, received, service, account))
        } catch let problem as Problem {
            return .refused(reason: problem.message)
        }
    }

    /// Stores a content, and waits where too many of the owner's own photos are converted now.
    private static func stored<Item: StoredFile>(
        _: Item.Type, _ received: ReceivedFile, _ service: MonicaService, _ account: AccountID
    ) async throws -> StoredContent {
        var failures = 0
        while true {
            do {
                return try await service.storeObject(Item.self, received, of: account)
            } catch let problem as Problem where problem.status == .tooManyRequests && failures < tries {
                failures += 1
                try await Task.sleep(for: service.limits.pauseOfImports)
            }
        }
    }
}
