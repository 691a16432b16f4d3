import ArgumentParser
import Backend
import Foundation
import MonicaService
import NIOConcurrencyHelpers

struct MonicaImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import a file of vCards, or an export as JSON.",
        discussion: """
            concord monica import contacts.vcf --account alice
            concord monica import monica.json --account alice

            Reads vCard 3.0 and 4.0, and 2.1 as far as other programs still write it. All of the file is imported or \
            none of it; the contacts become visible together at the end. A card with a known UID changes that contact \
            if its REV is newer than that of the last card, unless the contact was changed here in the meantime: then \
            the card is skipped and listed. A card without a UID is skipped when its content was imported before. Data \
            that contacts cannot store, such as photos, is listed at the end. The server may be running.

            JSON is the export of a Monica 4, or that of concord monica export. It is imported record by record, and \
            what is imported is visible at once. A record whose UUID the account has is there already and stays as it is, \
            so an import that was interrupted is started again. Photos and documents of a Monica 4 are stored by the \
            running server; without one, they come when the file is imported again. At the end, the records are counted by their kinds, and \
            what has no place or is refused by a rule is listed.
            """)

    @Argument(help: "The file; - reads standard input.")
    var file: String

    @Option(help: "The account that gets the contacts; it is created when there is none of that name.")
    var account: String

    @Flag(help: "Skip and list unreadable lines instead of refusing the file.")
    var skipUnreadable = false

    @Flag(help: "Let newer cards also change contacts that were changed here.")
    var overwrite = false

    @OptionGroup var place: DatabaseOptions

    func validate() throws {
        guard 1...255 ~= account.unicodeScalars.count, !account.contains("\0") else {
            throw ValidationError("--account must have 1 to 255 characters")
        }
    }

    func run() async throws {
        let descriptor = file == "-" ? dup(STDIN_FILENO) : open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw OperatorError("\(file) cannot be read: \(String(cString: strerror(errno)))")
        }
        let bytes: Data
        do {
            bytes = try contents(of: FileHandle(fileDescriptor: descriptor, closeOnDealloc: true))
        } catch {
            throw OperatorError("\(file) cannot be read: it is a folder, or its disk cannot be read")
        }
        if ExportFile.isJSON(bytes) { return try await importRecords(bytes) }
        let read: CardFile
        do {
            read = try CardFile([UInt8](bytes), skippingUnreadable: skipUnreadable)
        } catch let refusal as MonicaService.ImportRefused {
            throw OperatorError("Nothing was imported. \(file), \(refusal)")
        }
        let pieces = Pieces(of: read.cards)
        try await place.perform(
            MonicaService.ImportCards(
                account: account, overwriting: overwrite, count: read.cards.count, findings: read.findings),
            on: .monica(), input: { try pieces.next() })
    }

    /// A file is mapped into memory, because an export may be larger than the memory that an import should take.
    private func contents(of handle: FileHandle) throws -> Data {
        if file != "-", let data = try? Data(contentsOf: URL(fileURLWithPath: file), options: .alwaysMapped) {
            return data
        }
        return try handle.readToEnd() ?? Data()
    }

    private func importRecords(_ bytes: Data) async throws {
        guard !skipUnreadable, !overwrite else {
            throw OperatorError("Nothing was imported. --skip-unreadable and --overwrite are for vCards alone")
        }
        let records: ExportRecords
        do {
            records = try ExportRecords(ExportFile(bytes))
        } catch let refusal as MonicaService.ImportRefused {
            throw OperatorError("Nothing was imported. \(file), \(refusal)")
        }
        let rest = NIOLockedValueBox(records)
        try await place.perform(
            MonicaService.ImportRecords(account: account, count: records.count), on: .monica(),
            input: {
                let some = try rest.withLockedValue { try $0.next() }
                return try some.map {
                    Array(
                        try JSONEncoder().encode(MonicaService.ImportRecords.Piece(done: $0.done, records: $0.records)))
                }
            })
    }
}

/// Passes cards to a command as its input, a hundred at a time.
private final class Pieces: Sendable {
    private let rest: NIOLockedValueBox<ArraySlice<CardReading>>
    private static let size = 100

    init(of cards: [CardReading]) { rest = NIOLockedValueBox(cards[...]) }

    func next() throws -> [UInt8]? {
        let piece = rest.withLockedValue { rest in
            defer { rest = rest.dropFirst(Self.size) }
            return Array(rest.prefix(Self.size))
        }
        return piece.isEmpty ? nil : Array(try JSONEncoder().encode(piece))
    }
}

struct MonicaExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write an account's data to standard output.",
        discussion: """
            concord monica export --account alice > alice.json
            concord monica export --account alice --format vcard > alice.vcf

            The URLs in the export are those of the running server. When no server runs, they begin with \
            CONCORD_PUBLIC_URL_MONICA.
            """)

    @Option(help: "The account's name.")
    var account: String

    @Option(help: "json: all data. vcard: contacts that are not partial, as vCard 4.0.")
    var format = MonicaService.ExportFormat.json

    @OptionGroup var place: DatabaseOptions

    func run() async throws {
        try await place.perform(MonicaService.ExportAccount(account: account, format: format), on: .monica())
    }
}

extension MonicaService.ExportFormat: ExpressibleByArgument {}
