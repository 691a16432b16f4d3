import Contract
import ContractServer
import Database
import NIOCore
import ObjectStore
import ZIPArchives

/// Writes a person's archive: each document and each file goes to a temporary file first, because an entry begins with its size
/// and checksum. So pieces alone are in memory, whatever the archive's size.
struct ArchiveWriter {
    let objects: any ObjectStore
    /// The time of the archive in Unix seconds, which all entries have.
    let now: Int64

    /// Writes an archive.
    ///
    /// Files that the store does not have any more are listed in `missing-files.json`.
    ///
    /// - Parameter write: Receives the archive.
    func write<Person>(
        _ contents: ArchiveContents<Person>, of person: Person, in database: Database,
        to write: @escaping ZIPWriter.Write
    ) async throws {
        let zip = ZIPWriter(to: write)
        let documents =
            contents.documents(person) + contents.rows.map { $0.document(of: person, in: database) }
        for document in documents { try await add(document, to: zip) }
        var missing: [String] = []
        var last: ArchivedFile?
        while case let files = try await contents.files(person, last), let end = files.last {
            for file in files where try await !add(file, to: zip) { missing.append(file.name) }
            last = end
        }
        if !missing.isEmpty {
            let list = Array(try JSONBody.encode(missing).readableBytesView)
            try await add(ArchiveDocument("missing-files.json") { try await $0(list) }, to: zip)
        }
        try await zip.finish()
    }

    private func add(_ document: ArchiveDocument, to zip: ZIPWriter) async throws {
        try await add(document.name, to: zip) { append in
            let waiting = Collector(append)
            try await document.write { try await waiting.add($0) }
            try await waiting.flush()
        }
    }

    /// Adds a stored file.
    ///
    /// - Returns: False when the store does not have it.
    private func add(_ file: ArchivedFile, to zip: ZIPWriter) async throws -> Bool {
        guard let key = ObjectKey(file.key), let size = try await objects.size(of: key),
            let content = try await objects.open(key, in: 0..<size)
        else { return false }
        try await add(file.name, to: zip) { append in
            try await content.send { piece in
                try Task.checkCancellation()
                try await append(piece)
            }
        }
        return true
    }

    private func add(
        _ name: String, to zip: ZIPWriter,
        _ content: (_ append: @escaping ZIPWriter.Write) async throws -> Void
    ) async throws {
        let file = try await objects.spool()
        let checksum = Checksum()
        do {
            try await content { piece in
                await checksum.add(piece)
                try await file.append(piece)
            }
            try await zip.begin(name, modified: now, size: file.count, checksum: await checksum.value)
            try await file.send { piece in
                try Task.checkCancellation()
                try await zip.append(piece)
            }
        } catch {
            // A file that cannot be removed now is removed with the last reference to it.
            try? await file.discard()
            throw error
        }
        try? await file.discard()
    }

    private actor Checksum {
        private(set) var value = CRC32()

        func add(_ piece: ByteBuffer) { value.update(piece) }
    }

    /// Collects the pieces of a document, which are small, so that few writes are made.
    private actor Collector {
        private let write: ZIPWriter.Write
        private var waiting = ByteBuffer()

        init(_ write: @escaping ZIPWriter.Write) { self.write = write }

        func add(_ piece: [UInt8]) async throws {
            waiting.writeBytes(piece)
            if waiting.readableBytes >= 1 << 17 { try await flush() }
        }

        func flush() async throws {
            let piece = waiting
            waiting = ByteBuffer()
            try await write(piece)
        }
    }
}
