import ArgumentParser
import Backend
import Contract
import Foundation
import Logging

/// The format of log lines.
enum LogFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case text
    case json
}

/// Formats log events as lines.
struct LogOutput: LogHandler {
    /// The level of all loggers but those that have one of their own.
    private let common: LogLevel
    private var own: Logger.Level?
    var metadata: Logger.Metadata = [:]
    let format: LogFormat
    let writer: LogWriter

    init(level: LogLevel, format: LogFormat, writer: LogWriter) {
        common = level
        self.format = format
        self.writer = writer
    }

    var logLevel: Logger.Level {
        get { own ?? common.value }
        set { own = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata
        if let more = event.metadata { fields.merge(more) { _, new in new } }
        writer.write(Self.line(event.level, "\(event.message)", fields, format), event.level, of: Self.person(fields))
    }

    /// Returns the person whom the fields of a request's line name.
    static func person(_ fields: Logger.Metadata) -> RecentLines.Person? {
        guard let api = fields["api"], let user = fields["user"] else { return nil }
        return RecentLines.Person(api: "\(api)", id: "\(user)")
    }

    /// Returns one line, with its line end.
    ///
    /// - Parameter time: The time of the event; nil for a line that is made before its event.
    static func line(
        _ level: Logger.Level, _ message: String, _ fields: Logger.Metadata, _ format: LogFormat,
        at time: Timestamp<Milliseconds>? = TimeSource.system.now()
    ) -> String {
        var line: String
        switch format {
        case .text:
            line = (time.map { "\($0) " } ?? "") + "\(level) \(message)"
            for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
                line += " \(key)=" + plain("\(value)")
            }
        case .json:
            line =
                "{" + (time.map { "\"time\":\"\($0)\"," } ?? "") + "\"level\":\"\(level)\",\"message\":"
                + quoted(message)
            for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
                line += "," + quoted(key) + ":" + json(value)
            }
            line += "}"
        }
        return line + "\n"
    }

    /// Returns a value, quoted unless it is a plain word, so that no text of a client can look like another field.
    private static func plain(_ text: String) -> String {
        let isWord = !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
        return isWord ? text : quoted(text)
    }

    /// Returns a value as JSON. Numbers and truths are those that were logged as such: a request's id is a text, also when
    /// a client has chosen digits for it.
    private static func json(_ value: Logger.MetadataValue) -> String {
        if case .stringConvertible(let value) = value {
            switch value {
            case let number as any BinaryInteger: return "\(number)"
            case let number as Double where number.isFinite: return "\(number)"
            case let truth as Bool: return "\(truth)"
            default: break
            }
        }
        return quoted("\(value)")
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
