import Foundation

/// The format in which a command prints a list.
public enum ListFormat: String, Codable, Sendable {
    /// Lines for a person.
    case text
    /// A line of JSON for each entry, for scripts.
    case json
}

/// A command that prints entries of one type: lines for a person, or with `--json` each as a line of JSON. The operator's page
/// answers the same entries.
package protocol PrintingCommand<Entry>: Sendable {
    associatedtype Entry: Codable & Sendable
}

extension PrintingCommand {
    /// Prints an entry.
    ///
    /// - Parameter lines: Returns the entry's lines for a person. Texts of users must be `quoted` there.
    package func print(
        _ entry: Entry, as format: ListFormat, on console: some OperatorConsole, _ lines: (Entry) -> [String]
    ) async throws { try await console.print(entry, as: format, lines) }
}

extension OperatorConsole {
    /// Writes a line.
    func print(_ line: String) async throws { try await write(Array((line + "\n").utf8)) }

    fileprivate func print<Entry: Encodable>(
        _ entry: Entry, as format: ListFormat, _ lines: (Entry) -> [String]
    ) async throws {
        switch format {
        case .json: try await print(try JSONLine.encode(entry))
        case .text: for line in lines(entry) { try await print(line) }
        }
    }
}

extension OperatorContext {
    /// Prints an entry of a list.
    ///
    /// - Parameter lines: Returns the entry's lines for a person. Texts of users must be `quoted` there.
    public func print<Entry: Encodable>(
        _ entry: Entry, as format: ListFormat, _ lines: (Entry) -> [String]
    ) async throws { try await console.print(entry, as: format, lines) }

    /// Says that a list is empty, where a person reads it.
    public func printNone(_ words: String, as format: ListFormat) async throws {
        if format == .text { try await print(words) }
    }
}

extension String {
    /// The text in quotes, as a terminal can show it. Characters that could move the cursor, or change the direction of
    /// writing, are escaped.
    public var quoted: String {
        debugDescription.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}

/// A value as one line of JSON, which a terminal can show: sorted keys, and control characters escaped.
public enum JSONLine {
    public static func encode(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return escaped(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Returns JSON in which control characters are escaped, because users' texts could otherwise control the terminal.
    private static func escaped(_ json: String) -> String {
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
