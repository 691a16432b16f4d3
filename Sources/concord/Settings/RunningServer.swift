import Backend
import Foundation
import NIOConcurrencyHelpers

/// The server that uses a data folder, as `concord config` sees it.
enum RunningServer {
    /// A setting that is in force there, as that server has encoded it.
    struct Setting: Codable, Equatable {
        let name: String
        let value: String
        let origin: String
        let source: String?
        let file: String?
    }

    /// Keeps what a command prints.
    private final class Answer: OperatorConsole {
        let bytes = NIOLockedValueBox<[UInt8]>([])

        func write(_ bytes: [UInt8]) async throws { self.bytes.withLockedValue { $0 += bytes } }
        func show(_ done: Int, of total: Int) async throws {}
        func read() async throws -> [UInt8]? { nil }
    }

    /// Asks the server for its settings; nil when none uses the folder.
    ///
    /// - Throws: `OperatorError`, whose description is for the operator.
    static func settings(in folder: String) async throws -> [Setting]? {
        let answer = Answer()
        let client = OperatorClient(folder: folder, database: nil, environment: [:])
        guard try await client.ask(PrintSettings(), console: answer) else { return nil }
        let bytes = answer.bytes.withLockedValue { Data($0) }
        return try JSONDecoder().decode([Setting].self, from: bytes)
    }

    /// Returns lines for a person on each setting that the server has otherwise; none when all are the same.
    static func differences(of running: [Setting], from settings: [concord.Setting]) -> [String] {
        let here = Dictionary(settings.map { ($0.name, $0) }) { first, _ in first }
        let others = running.filter { setting in
            guard let own = here[setting.name] else { return true }
            // The default of a key is where it was at the start.
            return own.value != setting.value && (own.origin != .fallback || setting.origin != "default")
        }
        guard !others.isEmpty else { return [] }
        let lines = others.map { setting in
            let value = setting.value.isEmpty ? "-" : setting.value
            return "  \(setting.name)  \(value)  \(setting.source ?? setting.origin)"
        }
        return ["A server uses this data folder. Until it is restarted, it has:"] + lines + [""]
    }
}
