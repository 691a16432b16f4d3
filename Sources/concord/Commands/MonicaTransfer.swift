import ArgumentParser
import Foundation
import MonicaService
import NIOConcurrencyHelpers

/// `concord import`
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring data into an API.", subcommands: [MonicaImport.self])
}

/// `concord export`
struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take an account's data out of an API.", subcommands: [MonicaExport.self])
}

struct MonicaImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monica",
        abstract: "Make contacts of a file of vCards.",
        discussion: """
            concord import monica contacts.vcf --account alice

            Reads vCard 3.0 and 4.0, and what other programs write of 2.1. All of the file is imported, or nothing; \
            nothing of it can be seen before its end. A card whose UID is known changes that contact if its REV is newer \
            than that of the card before, unless the contact was changed here meanwhile: then it is listed. A card without \
            a UID that says exactly what one said that was imported before is passed over. What contacts have no place for, \
            such as photos, is listed at the end. The server may be running.
            """)

    @Argument(help: "The file; - reads standard input.")
    var file: String

    @Option(help: "Whose contacts they become; made when there is none of that name.")
    var account: String

    @Flag(help: "Leave out what cannot be read, and list it, instead of refusing the file.")
    var skipUnreadable = false

    @Flag(help: "Let newer cards change contacts that were changed here, too.")
    var overwrite = false

    @OptionGroup var place: DatabaseOptions

    func validate() throws {
        guard 1...255 ~= account.unicodeScalars.count, !account.contains("\0") else {
            throw ValidationError("--account is 1 to 255 characters")
        }
    }

    func run() async throws {
        let bytes: [UInt8]
        do {
            let input =
                file == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
            bytes = [UInt8](try input.readToEnd() ?? Data())
        } catch {
            throw OperationRefused("\(file) cannot be read: \(error.localizedDescription)")
        }
        let read: CardFile
        do {
            read = try CardFile(bytes, skippingUnreadable: skipUnreadable)
        } catch let refusal as MonicaService.ImportRefused {
            throw OperationRefused("Nothing was imported. \(file), \(refusal)")
        }
        let pieces = Pieces(of: read.cards)
        try await place.perform(
            Work(account: account, overwrite: overwrite, count: read.cards.count, findings: read.findings),
            input: { try pieces.next() })
    }

    struct Work: Operation {
        static let name = "import monica"
        static let api = OperatedAPI.monica
        static let makesDatabase = true

        var account: String
        var overwrite: Bool
        /// How many cards there are.
        var count: Int
        /// What was found while the file was read.
        var findings: CardFile.Findings

        func run(in context: OperationContext) async throws {
            let next = {
                try await context.console.read().map { try JSONDecoder().decode([CardReading].self, from: Data($0)) }
            }
            do {
                let result = try await context.monica.importCards(
                    into: account, overwriting: overwrite,
                    progress: { try await context.console.show($0, of: count) }, next: next)
                try await context.console.write(Array(ImportSummary(result, findings).text.utf8))
            } catch let refusal as MonicaService.ImportRefused {
                throw OperationRefused("Nothing was imported. \(refusal)")
            } catch is CancellationError {
                throw OperationRefused("Nothing was imported: the server was stopped")
            }
        }
    }
}

/// Cards as an operation's input, some at a time.
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
        commandName: "monica",
        abstract: "Write an account's data to standard output.",
        discussion: """
            concord export monica --account alice > alice.json
            concord export monica --account alice --format vcard > alice.vcf

            The URLs in it are those of the server that runs; without one, CONCORD_PUBLIC_URL_MONICA says what they \
            begin with.
            """)

    @Option(help: "Whose data.")
    var account: String

    @Option(help: "json: everything. vcard: contacts that are not partial, as vCard 4.0.")
    var format = MonicaService.ExportFormat.json

    @OptionGroup var place: DatabaseOptions

    func run() async throws { try await place.perform(Work(account: account, format: format)) }

    struct Work: Operation {
        static let name = "export monica"
        static let api = OperatedAPI.monica

        var account: String
        var format: MonicaService.ExportFormat

        func run(in context: OperationContext) async throws {
            let isThere = try await context.monica.export(format, of: account) { try await context.console.write($0) }
            guard isThere else { throw OperationRefused("There is no account '\(account)'") }
            if format == .json { try await context.print("") }
        }
    }
}

extension MonicaService.ExportFormat: ExpressibleByArgument {}

/// How far something is, on a terminal: one line redrawn. Elsewhere it says nothing.
final class ProgressBar: Sendable {
    private static let width = 40
    private let isTerminal = isatty(STDERR_FILENO) == 1

    func show(_ done: Int, of total: Int) {
        guard isTerminal else { return }
        let full = total == 0 ? Self.width : done * Self.width / total
        let bar = String(repeating: "#", count: full) + String(repeating: "-", count: Self.width - full)
        FileHandle.standardError.write(Data("\r\u{1B}[K[\(bar)] \(done)/\(total)".utf8))
    }

    /// Leaves a clean line.
    func clear() { if isTerminal { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) } }
}
