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

            Reads vCard 3.0 and 4.0, and what other programs write of 2.1. All of the file is imported, or nothing; a \
            card whose UID is known already is passed over, one without a UID is another contact each time. The server \
            may be running.
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
        print("\(result.contacts) contacts imported")
        if result.known > 0 { print("\(result.known) cards passed over: their UIDs are known") }
        if result.cut > 0 { print("\(result.cut) contacts had a text of more than 255 characters, which was cut") }
        if !result.nameless.isEmpty {
            let lines = result.nameless.prefix(10).map(String.init).joined(separator: ", ")
            let more = result.nameless.count > 10 ? " …" : ""
            print("\(result.nameless.count) cards without a name left out, at lines \(lines)\(more)")
        }
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

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case json, vcard
    }

    @Option(help: "Whose data.")
    var account: String

    @Option(help: "json: everything. vcard: contacts that are not partial, as vCard 4.0.")
    var format = Format.json

    @OptionGroup var place: MonicaPlace

    func run() async throws {
        let text = try await place.open { service in
            switch format {
            case .json: try await service.exportJSON(of: account).map { String(buffer: try JSONBody.encode($0)) + "\n" }
            case .vcard: try await service.exportVCards(of: account)
            }
        }
        guard let text else { throw ValidationError("There is no account '\(account)'") }
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}

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
