import ArgumentParser
import Backend
import Foundation
import MonicaService
import NIOConcurrencyHelpers

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
            throw OperatorError("\(file) cannot be read: \(error.localizedDescription)")
        }
        let read: CardFile
        do {
            read = try CardFile(bytes, skippingUnreadable: skipUnreadable)
        } catch let refusal as MonicaService.ImportRefused {
            throw OperatorError("Nothing was imported. \(file), \(refusal)")
        }
        let pieces = Pieces(of: read.cards)
        try await place.perform(
            MonicaService.ImportCards(
                account: account, overwriting: overwrite, count: read.cards.count, findings: read.findings),
            on: .monica, input: { try pieces.next() })
    }
}

/// Cards as a command's input, a hundred at a time.
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

    func run() async throws {
        try await place.perform(MonicaService.ExportAccount(account: account, format: format), on: .monica)
    }
}

extension MonicaService.ExportFormat: ExpressibleByArgument {}
