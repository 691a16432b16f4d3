import Identity
import NIOConcurrencyHelpers
import Testbed

@testable import Backend

extension TestNode {
    /// Performs an operator's command as the server does that serves the API, and returns what it prints.
    @discardableResult
    func perform(_ command: some OperatorCommand, by name: String = "anna") async throws -> String {
        try await performed(command, by: name, service: service)
    }

    /// Performs an operator's command as a process of its own does where no server is asked.
    @discardableResult
    func performElsewhere(_ command: some OperatorCommand, by name: String = "anna") async throws -> String {
        try await performed(command, by: name, service: nil)
    }

    private func performed(
        _ command: some OperatorCommand, by name: String, service: (any HostedService)?
    ) async throws -> String {
        let console = KeptConsole()
        try await command.run(
            in: OperatorContext(
                api, database: database, publicURL: baseURL.absoluteString, console: console, service: service,
                secrets: SecretKeys(folder: folder, environment: [:]),
                audit: Audit(actor: "operator \(name)", action: type(of: command).name)))
        return console.text.withLockedValue { $0 }
    }
}

/// A console that keeps what is written to it.
private struct KeptConsole: OperatorConsole {
    let text = NIOLockedValueBox("")

    func write(_ bytes: [UInt8]) async throws {
        text.withLockedValue { $0 += String(decoding: bytes, as: UTF8.self) }
    }
    func show(_ done: Int, of total: Int) async throws {}
    func read() async throws -> [UInt8]? { nil }
}
