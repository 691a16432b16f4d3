import ArgumentParser
import Backend
import ContractServer
import Foundation
import MonicaService
import NIOCore

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

            Reads vCard 3.0 and 4.0, and what other programs write of 2.1. All of the file is imported, or nothing. A \
            card whose UID is known already is passed over; so is one without a UID that says exactly what one said that \
            was imported before. What contacts have no place for, such as photos, is listed at the end. The server may \
            be running.
            """)

    @Argument(help: "The file; - reads standard input.")
    var file: String

    @Option(help: "Whose contacts they become; made when there is none of that name.")
    var account: String

    @OptionGroup var place: MonicaPlace

    func run() async throws {
        let bytes: [UInt8]
        do {
            bytes =
                file == "-"
                ? [UInt8](try FileHandle.standardInput.readToEnd() ?? Data())
                : [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        } catch {
            throw ValidationError("\(file) cannot be read: \(error.localizedDescription)")
        }
        let bar = ProgressBar()
        let result: MonicaService.Imported
        do {
            result = try await place.open { service in
                try await service.importVCards(bytes, into: account) { bar.show($0, of: $1) }
            }
        } catch let refusal as MonicaService.ImportRefused {
            bar.clear()
            throw ValidationError("Nothing was imported. \(file), \(refusal)")
        }
        bar.clear()
        print(Self.summary(of: result), terminator: "")
    }

    static func summary(of result: MonicaService.Imported) -> String {
        var lines = ["\(result.contacts) contact\(result.contacts == 1 ? "" : "s") imported"]
        if result.known > 0 { lines.append("\(result.known) cards passed over: their UIDs are known") }
        if result.repeated > 0 {
            lines.append("\(result.repeated) cards without a UID passed over: the same were imported before")
        }
        if result.groups > 0 { lines.append("\(result.groups) cards of groups left out") }
        if !result.nameless.isEmpty {
            let places = result.nameless.prefix(10).map(String.init).joined(separator: ", ")
            let more = result.nameless.count > 10 ? " …" : ""
            lines.append("\(result.nameless.count) cards without a name left out, at lines \(places)\(more)")
        }
        if result.cut > 0 { lines.append("\(result.cut) contacts had a text that was too long, and was cut") }
        if !result.leftOut.isEmpty {
            lines.append("Not kept, for contacts have no place for it (in how many cards):")
            let sorted = result.leftOut.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            lines += sorted.map { "  \($0.key): \($0.value)" }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

struct MonicaExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monica",
        abstract: "Write an account's data to standard output.",
        discussion: """
            concord export monica --account alice > alice.json
            concord export monica --account alice --format vcard > alice.vcf
            """)

    @Option(help: "Whose data.")
    var account: String

    @Option(help: "json: everything. vcard: contacts that are not partial, as vCard 4.0.")
    var format = MonicaService.ExportFormat.json

    @OptionGroup var place: MonicaPlace

    func run() async throws {
        let output = FileHandle.standardOutput
        let isThere = try await place.open { service in
            try await service.export(format, of: account) { try output.write(contentsOf: $0) }
        }
        guard isThere else { throw ValidationError("There is no account '\(account)'") }
        if format == .json { try output.write(contentsOf: Data("\n".utf8)) }
    }
}

extension MonicaService.ExportFormat: ExpressibleByArgument {}

/// How far something is, on a terminal: one line redrawn. Elsewhere it says nothing.
final class ProgressBar: Sendable {
    private static let width = 40
    private let isTerminal = isatty(STDERR_FILENO) == 1

    func show(_ done: Int, of total: Int) {
        // Not for each: a terminal is slower than what it is told of.
        guard isTerminal, done % max(1, total / 200) == 0 || done == total else { return }
        let full = total == 0 ? Self.width : done * Self.width / total
        let bar = String(repeating: "#", count: full) + String(repeating: "-", count: Self.width - full)
        FileHandle.standardError.write(Data("\r\u{1B}[K[\(bar)] \(done)/\(total)".utf8))
    }

    /// Leaves a clean line.
    func clear() { if isTerminal { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) } }
}
