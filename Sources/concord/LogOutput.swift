import ArgumentParser
import Backend
import Contract
import Foundation
import Logging

/// How log lines look.
enum LogFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case text
    case json
}

/// Writes log lines to standard error, each with one write, so that lines of several threads do not mix.
struct LogOutput: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    let format: LogFormat
    let label: String

    init(label: String, level: Logger.Level, format: LogFormat) {
        self.label = label
        self.logLevel = level
        self.format = format
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata
        if let more = event.metadata { fields.merge(more) { _, new in new } }
        let time: Timestamp<Milliseconds> = TimeSource.system.now()
        var line: String
        switch format {
        case .text:
            line = "\(time) \(event.level) \(event.message)"
            for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
                line += " \(key)=" + Self.plain("\(value)")
            }
        case .json:
            line = "{\"time\":\"\(time)\",\"level\":\"\(event.level)\",\"message\":" + Self.quoted("\(event.message)")
            for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
                line += "," + Self.quoted(key) + ":" + Self.quoted("\(value)")
            }
            line += "}"
        }
        line += "\n"
        line.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }

    /// A value that is no plain word goes in quotes, so that nothing a client sends can look like another field.
    private static func plain(_ text: String) -> String {
        let isWord = !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
        return isWord ? text : quoted(text)
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case _ where scalar.value < 0x20:
                result +=
                    "\\u00" + (scalar.value < 16 ? "0" : "")
                    + String(scalar.value, radix: 16)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
