import ArgumentParser
import Backend
import ContractServer
import Database
import Foundation
import Identity

/// The settings of an operator: a flag, else an environment variable, else the default.
///
/// A variable that holds a secret can also be given as a file: `CONCORD_SMTP_FILE` is the path of a file that contains
/// the value of `CONCORD_SMTP`, as Docker, Kubernetes and systemd hand secrets to a process.
struct Environment: Sendable {
    /// The variables, with those that were given as files.
    let variables: [String: String]
    /// The paths of the files from which variables were read, by the names of the variables.
    let files: [String: String]
    /// The record of the settings that are read, and of those that are wrong; nil where a wrong setting is an error.
    private let ledger: SettingsLedger?

    init(variables: [String: String], files: [String: String] = [:], ledger: SettingsLedger? = nil) {
        self.variables = variables
        self.files = files
        self.ledger = ledger
    }

    /// Reads the files of secrets.
    ///
    /// - Parameters:
    ///   - given: The variables of a process.
    ///   - ledger: Receives what is wrong, instead of an error that is thrown.
    /// - Throws: ``UnreadableSecret``, or `ValidationError` when a variable is given twice.
    init(reading given: [String: String], ledger: SettingsLedger? = nil) throws {
        var (variables, files) = (given, [String: String]())
        for name in Self.secrets {
            guard let path = given[name + "_FILE"], !path.isEmpty else { continue }
            files[name] = path
            do {
                guard given[name, default: ""].isEmpty else {
                    throw ValidationError("\(name) and \(name)_FILE are both set: give one of them")
                }
                variables[name] = try Self.secret(name + "_FILE", in: path)
            } catch {
                guard let ledger else { throw error }
                ledger.add(problem: "\(error)")
            }
        }
        self.init(variables: variables, files: files, ledger: ledger)
    }

    /// The variables that hold secrets, or URLs with a password in them.
    static let secrets =
        ConcordAPI.all.flatMap(\.hosted.keys).flatMap { key in
            [key.variable, SecretKeys.formerVariable(of: key.variable)]
        }
        + [
            "CONCORD_DATABASE", "CONCORD_DATABASE_POOLER", "CONCORD_DATABASE_REPLICA", "CONCORD_BUS", "CONCORD_SMTP",
            "CONCORD_APNS_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
        ]

    /// Returns the secret in the file that a flag names, else that of the variable, else "".
    ///
    /// - Throws: ``UnreadableSecret``.
    func secret(file path: String?, of flag: String, _ variable: String) throws -> String {
        record(variable, flag: path, default: "")
        guard let path else { return variables[variable, default: ""] }
        return try Self.secret(flag, in: path)
    }

    /// Returns the content of a file without one newline at its end.
    ///
    /// - Parameter name: The setting that names the file.
    private static func secret(_ name: String, in path: String) throws(UnreadableSecret) -> String {
        let data: Data
        do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
            let reason = FileManager.default.fileExists(atPath: path) ? "it cannot be read" : "there is no such file"
            throw UnreadableSecret(description: "\(name) is \(path): \(reason)")
        }
        guard var text = String(data: data, encoding: .utf8), data.count <= 64 << 10 else {
            throw UnreadableSecret(description: "\(name) is \(path): it is not a text of at most 64 KiB")
        }
        if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
        guard !text.isEmpty else { throw UnreadableSecret(description: "\(name) is \(path): it is empty") }
        return text
    }

    /// Returns a flag's value, else the variable's, else the default.
    ///
    /// - Parameter shown: The default as the record of settings shows it; nil for its description.
    func value<T>(
        _ flag: T?, _ variable: String, _ read: (String) -> T?, default fallback: T, shown: String? = nil
    ) throws -> T {
        let text = variables[variable, default: ""]
        // Describing a value of any type takes long, and a start has no ledger.
        if ledger != nil { record(variable, flag: flag.map { "\($0)" }, default: shown ?? "\(fallback)") }
        if let flag { return flag }
        guard !text.isEmpty else { return fallback }
        guard let value = read(text) else {
            let shown = Self.secrets.contains(variable) ? "" : ": \(text)"
            let error = ValidationError("\(variable) has an invalid value\(shown)")
            guard let ledger else { throw error }
            ledger.add(problem: error.message)
            return fallback
        }
        return value
    }

    /// Returns repeated flags, else the elements of the variable, which are separated by commas.
    ///
    /// - Parameter api: The API that the setting is for; its name is the end of the variable's.
    func list(_ flags: [String], _ variable: String, of api: String? = nil) -> [String] {
        record(variable, of: api, flag: flags.isEmpty ? nil : flags.joined(separator: ","), default: "")
        if !flags.isEmpty { return flags }
        return (variables[variable] ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Returns the values of `--trusted-proxy`, else of `CONCORD_TRUSTED_PROXIES`.
    func trustedProxies(_ flags: [AddressRange]) throws -> [AddressRange] {
        let texts = list(flags.map { "\($0)" }, "CONCORD_TRUSTED_PROXIES")
        if !flags.isEmpty { return flags }
        return try texts.map { text in
            do { return try AddressRange(text) } catch { throw ValidationError("CONCORD_TRUSTED_PROXIES: \(error)") }
        }
    }

    /// Returns a value for each API: from flags such as `messenger=8080`, else from variables such as
    /// `CONCORD_PORT_MESSENGER`.
    ///
    /// - Parameter fallback: Returns the value of an API that has neither, for the record of settings.
    func perAPI(
        _ flags: [String], _ variable: String, names: [String], default fallback: (String) -> String = { _ in "" }
    ) throws -> [String: String] {
        var given: [String: String] = [:]
        for flag in flags {
            let parts = flag.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, names.contains(parts[0]) else {
                throw ValidationError("'\(flag)' is not NAME=VALUE with one of: \(names.joined(separator: ", "))")
            }
            given[parts[0]] = parts[1]
        }
        var values: [String: String] = [:]
        for name in names {
            let own = "\(variable)_\(Self.suffix(name))"
            record(own, of: name, flag: given[name], default: fallback(name))
            values[name] = given[name] ?? variables[own].flatMap { $0.isEmpty ? nil : $0 }
        }
        return values
    }

    /// Returns words that name the variable from which an API's value came, to stand behind an error about the value; "" for
    /// a flag, which the operator has just typed.
    ///
    /// - Parameter flags: The flags that precede the variable, such as `messenger=8080`.
    func source(_ variable: String, of api: String, flags: [String]) -> String {
        flags.contains { $0.hasPrefix(api + "=") } ? "" : " (\(variable)_\(Self.suffix(api)))"
    }

    static func suffix(_ name: String) -> String {
        String(name.uppercased().map { $0 == "-" ? "_" : $0 })
    }

    // MARK: The record of settings

    /// Returns the variables that look like settings and are none, one sentence each, once all settings have been recorded.
    func unknownVariables() -> [String] {
        guard let ledger else { return [] }
        let known = ledger.variables.union(Self.secrets).union(Self.secrets.map { $0 + "_FILE" })
            .union(["CONCORD_DATA", "CONCORD_DATABASE", "CONCORD_BUS"])
        let unknown = variables.keys.filter { name in
            name.hasPrefix("CONCORD_") && !name.hasPrefix("CONCORD_TEST_") && !known.contains(name)
        }
        return unknown.sorted().map { name in
            let nearest = known.filter { $0.hasPrefix("CONCORD_") }.map {
                (name: $0, distance: Self.distance($0, name))
            }
            .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
            let advice = nearest.map { $0.distance <= 4 ? ": did you mean \($0.name)?" : "" } ?? ""
            return "\(name) is not a setting\(advice)"
        }
    }

    /// Returns the number of characters to insert, remove, replace or swap with their neighbour to make one text of another.
    static func distance(_ first: String, _ second: String) -> Int {
        let (first, second) = (Array(first.utf8), Array(second.utf8))
        var rows = [Array(0...second.count)]
        for (i, byte) in first.enumerated() {
            var row = [i + 1]
            for (j, other) in second.enumerated() {
                var least = min(rows[i][j] + (byte == other ? 0 : 1), rows[i][j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, byte == second[j - 1], first[i - 1] == other {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[first.count][second.count]
    }

    /// Records a setting and the place that its value came from.
    ///
    /// - Parameters:
    ///   - api: The API that the setting is for; its name is the end of the variable's.
    ///   - flag: The value of the flag, if it was given.
    ///   - fallback: The value that holds when neither is given.
    func record(_ variable: String, of api: String? = nil, flag: String?, default fallback: String) {
        guard let ledger else { return }
        ledger.note(variable: variable)
        let name = Self.name(of: variable, api)
        let text = variables[variable, default: ""]
        let origin: Setting.Origin =
            if flag != nil {
                .flag("--" + name.prefix { $0 != " " })
            } else if let path = files[variable] {
                .file(variable: variable + "_FILE", path: path)
            } else {
                text.isEmpty ? .fallback : .variable(variable)
            }
        let given = flag ?? (text.isEmpty ? nil : text)
        let shown = Self.secrets.contains(variable) ? given.map(Self.hidden) : given
        ledger.add(Setting(name: name, value: shown ?? fallback, origin: origin))
    }

    /// Returns the name of a setting as its flag has it: `log-level`, `port messenger`.
    private static func name(of variable: String, _ api: String?) -> String {
        var words = String(variable.lowercased().map { $0 == "_" ? "-" : $0 })
        if words.hasPrefix("concord-") { words.removeFirst("concord-".count) }
        if let api, words.hasSuffix("-" + api) { return words.dropLast(api.count + 1) + " " + api }
        // A variable has all values of a flag that is repeated.
        for (plural, singular) in [("proxies", "proxy"), ("parties", "party"), ("origins", "origin")]
        where words.hasSuffix(plural) {
            return words.dropLast(plural.count) + singular
        }
        return words
    }

    /// Returns a secret as it may be shown: a URL without its password, anything else not at all.
    static func hidden(_ secret: String) -> String {
        if ["", "sqlite", "local", "postgres"].contains(secret) { return secret }
        // PostgreSQL's URLs may name several hosts, which no other URL does.
        if let masked = PostgreSQLURL.masked(secret) { return masked }
        guard var url = URLComponents(string: secret), url.scheme != nil, url.host != nil else { return "(hidden)" }
        if url.password != nil { url.password = "hidden" }
        url.queryItems = url.queryItems?.map {
            $0.name.lowercased().contains("password") ? URLQueryItem(name: $0.name, value: "hidden") : $0
        }
        return url.string ?? "(hidden)"
    }
}

/// The error for a secret whose file cannot be used. Its description is for the operator.
struct UnreadableSecret: Error, CustomStringConvertible {
    let description: String
}
