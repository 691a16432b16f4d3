import ArgumentParser
import Foundation

/// The service that the Debian package installs, as operators' commands on its machine find it.
///
/// A command that is given neither a data folder nor a file of settings works on this service, if there is no `./data`.
struct InstalledService {
    /// The service's data folder.
    let folder: String
    /// The service's settings, which systemd reads for it.
    let settings: String

    /// - Parameter root: The folder below which the machine's files are; "" for those of this machine.
    init(root: String = "") {
        folder = root + "/var/lib/concord"
        settings = root + "/etc/concord/concord.env"
    }

    /// The service of this machine. Tests of debug builds give it another root.
    static func ofThisMachine(_ variables: [String: String]) -> InstalledService {
        #if DEBUG
        if let root = variables["CONCORD_TEST_ROOT"] { return InstalledService(root: root) }
        #endif
        return InstalledService()
    }

    var isInstalled: Bool { FileManager.default.fileExists(atPath: folder) }

    /// Returns the variables with those of the service's settings, and the service's folder as the data folder. What the
    /// process was given has precedence.
    ///
    /// - Throws: `ValidationError`, whose message is for the operator.
    func completing(_ variables: [String: String]) throws -> [String: String] {
        var all = ["CONCORD_DATA": folder]
        if FileManager.default.fileExists(atPath: settings) {
            let given = try EnvironmentFile(settings).variables.filter { name, path in
                // systemd keeps credentials only while the service runs, and then the server does the work.
                !(name.hasSuffix("_FILE") && path.hasPrefix("/run/credentials/")
                    && !FileManager.default.fileExists(atPath: path))
            }
            all.merge(given) { _, own in own }
        }
        return all.merging(variables) { service, own in own.isEmpty ? service : own }
    }
}

/// A file of variables as systemd's `EnvironmentFile=` reads it (systemd.exec(5)): lines `NAME=VALUE`, comments that begin
/// with `#` or `;`, values in quotes, and `\` before the end of a line that goes on in the next.
struct EnvironmentFile {
    let variables: [String: String]

    /// - Throws: `ValidationError`, whose message names the file.
    init(_ path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            let reason = String(cString: strerror(errno))
            throw ValidationError(
                FileManager.default.fileExists(atPath: path)
                    ? "The settings in \(path) cannot be read (\(reason)): run the command as root, with sudo"
                    : "There is no file \(path)")
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw ValidationError("\(path) is not a text in UTF-8")
        }
        do { variables = try Self.parse(text) } catch {
            throw ValidationError("\(path), line \(error.line): expected NAME=VALUE")
        }
    }

    /// The error for a line that sets no variable.
    struct UnreadableLine: Error, Equatable {
        /// The line's number, from 1.
        let line: Int
    }

    /// Returns the variables of a file's text. The last of several values of one name counts.
    static func parse(_ text: String) throws(UnreadableLine) -> [String: String] {
        var variables: [String: String] = [:]
        let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
        var index = 0
        while index < lines.count {
            let first = index
            var line = String(lines[index])
            index += 1
            let begun = line.drop { $0 == " " || $0 == "\t" }
            if begun.isEmpty || begun.hasPrefix("#") || begun.hasPrefix(";") { continue }
            while line.hasSuffix("\\"), index < lines.count {
                line.removeLast()
                line += lines[index]
                index += 1
            }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].trimmingCharacters(in: .whitespaces)
            guard parts.count == 2, isName(name) else { throw UnreadableLine(line: first + 1) }
            variables[name] = unquoted(parts[1])
        }
        return variables
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39 ~= first) else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
            default: false
            }
        }
    }

    /// Returns a value without its quotes. Within double quotes a backslash stands before `"`, `\`, `` ` `` and `$`; outside
    /// of quotes, before any character.
    private static func unquoted(_ text: Substring) -> String {
        var (value, quote, isEscaped, end): (String, Character?, Bool, String.Index?) = ("", nil, false, nil)
        for character in text.drop(while: { $0 == " " || $0 == "\t" }) {
            if isEscaped {
                if quote == "\"", !"\"\\`$".contains(character) { value.append("\\") }
                value.append(character)
                (isEscaped, end) = (false, value.endIndex)
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if character == quote {
                (quote, end) = (nil, value.endIndex)
            } else if quote == nil, character == "\"" || character == "'" {
                quote = character
            } else {
                value.append(character)
                if quote != nil || !(character == " " || character == "\t") { end = value.endIndex }
            }
        }
        // Blanks behind the value are not part of it.
        return end.map { String(value[..<$0]) } ?? ""
    }
}
