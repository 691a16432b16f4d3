import ArgumentParser
import Database
import Foundation
import MessengerAPI
import MessengerService

struct MessengerAdmin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messenger",
        abstract: "Read what users of Messenger have reported.",
        discussion: """
            concord admin messenger --reports | jq

            A line of JSON for each report, oldest first: who reports whom or which message, and why. What a message said \
            is as it was then. The server may be running.
            """)

    @Flag(help: "Print the reports.")
    var reports = false

    @Option(help: ArgumentHelp("Only those behind this one.", valueName: "id"))
    var after: Int64 = 0

    @Option(help: "The server's data folder. [CONCORD_DATA] (default: ./data)")
    var data: String?

    @Option(
        help: ArgumentHelp(
            "Where the server's database is. [CONCORD_DATABASE] (default: sqlite)", valueName: "sqlite|postgres://…"))
    var database: String?

    func validate() throws {
        guard reports else { throw ValidationError("What? --reports") }
        if let database, Serve.place(database) == nil {
            throw ValidationError("--database is 'sqlite' or 'postgres://…', not '\(database)'")
        }
    }

    func run() async throws {
        let database = try open()
        let result: Result<Void, any Error>
        do { result = .success(try await printReports(in: database)) } catch { result = .failure(error) }
        try await database.close()
        try result.get()
    }

    private func open() throws -> Database {
        let environment = Environment.process
        let folder = try environment.value(data, "CONCORD_DATA", { $0 }, default: "./data")
        let place = try environment.value(database, "CONCORD_DATABASE", Serve.place, default: "sqlite")
        guard place == "sqlite" else {
            return try .postgreSQL(url: place, schema: MessengerService.schema, connections: 1)
        }
        let file = "\(folder)/\(Messenger.name).sqlite"
        guard FileManager.default.fileExists(atPath: file) else {
            throw ValidationError("\(folder) has no Messenger database: is it the server's data folder (--data)?")
        }
        return try .sqlite(path: file, schema: MessengerService.schema, readers: 1)
    }

    private func printReports(in database: Database) async throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var last = Messenger.Report.ID(after)
        while true {
            let page = try await MessengerService.reports(after: last, limit: 200, in: database)
            for report in page {
                print(Self.harmless(String(decoding: try encoder.encode(report), as: UTF8.self)))
            }
            guard let newest = page.last else { return }
            last = newest.id
        }
    }

    /// What strangers have written, with nothing in it that a terminal obeys: escaped, as JSON may be.
    private static func harmless(_ json: String) -> String {
        json.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
