import ArgumentParser
import Backend
import ContractCheck
import ContractClient
import Foundation
import GuestbookCheck
import GuestbookService
import NIOSockets

@main
struct GuestbookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guestbook", abstract: "Serves a guestbook, or checks one.", subcommands: [Serve.self, Check.self])
}

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Serves a guestbook until Ctrl-C or SIGTERM.")
    @Option(help: "sqlite, or the URL of a PostgreSQL database: postgres://user@host/name") var database = "sqlite"
    @Option(help: "The folder for the database and the keys.") var data = "./guestbook"
    @Option(help: "The port to listen on; 0 takes a free one.") var port: UInt16 = 8085
    func run() async throws {
        var settings = ServerSettings(folder: data)
        guard let location = DatabaseLocation(database) else {
            throw ValidationError("'\(database)' is no database: sqlite, or postgres://user@host/name")
        }
        (settings.database, settings.ports) = (location, ["guestbook": Int(port)])
        try await Backend.Server([HostedGuestbook()], settings: settings).run()
    }
}

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Holds a running guestbook to the contract.")
    @Argument(help: "The base URL, such as http://127.0.0.1:8085", transform: Checker.baseURL) var url: URL

    func run() async throws {
        let report = try await Checker(GuestbookScenarios.checklist).run(
            on: .init(baseURL: url, transport: URLSessionTransport(), sockets: NIOSocketTransport()))
        print(report.text, terminator: "")
        if report.failed > 0 || report.ended != nil { throw ExitCode(1) }
    }
}
