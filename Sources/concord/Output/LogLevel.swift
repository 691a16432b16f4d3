import Foundation
import Logging
import NIOConcurrencyHelpers

/// The least level of log lines. An operator may change it while the server runs: a file in the data folder, which is read
/// at the start and on SIGHUP, has precedence over the setting.
final class LogLevel: Sendable {
    static let fileName = "log-level"

    private let usual: Logger.Level
    private let path: String
    private let current: NIOLockedValueBox<Logger.Level>

    /// - Parameter usual: The level while there is no file.
    init(_ usual: Logger.Level, folder: String) {
        self.usual = usual
        path = folder + "/" + Self.fileName
        current = NIOLockedValueBox(usual)
        _ = read()
    }

    var value: Logger.Level { current.withLockedValue { $0 } }

    /// Reads the file again.
    ///
    /// - Returns: The text of the file when it is not a level; the level then stays as it is.
    func read() -> String? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            current.withLockedValue { $0 = usual }
            return nil
        }
        let word = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let level = Logger.Level(rawValue: word) else { return word }
        current.withLockedValue { $0 = level }
        return nil
    }
}
