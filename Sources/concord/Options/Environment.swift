import ArgumentParser
import ContractServer
import Foundation

/// The settings of an operator: a flag, else an environment variable, else the default.
struct Environment: Sendable {
    let variables: [String: String]

    static let process = Environment(variables: ProcessInfo.processInfo.environment)

    /// Returns a flag's value, else the variable's, else the default.
    func value<T>(_ flag: T?, _ variable: String, _ read: (String) -> T?, default fallback: T) throws -> T {
        if let flag { return flag }
        guard let text = variables[variable], !text.isEmpty else { return fallback }
        guard let value = read(text) else { throw ValidationError("\(variable) has an invalid value: \(text)") }
        return value
    }

    /// Returns repeated flags, else the elements of the variable, which are separated by commas.
    func list(_ flags: [String], _ variable: String) -> [String] {
        if !flags.isEmpty { return flags }
        return (variables[variable] ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Returns the values of `--trusted-proxy`, else of `CONCORD_TRUSTED_PROXIES`.
    func trustedProxies(_ flags: [AddressRange]) throws -> [AddressRange] {
        if !flags.isEmpty { return flags }
        return try list([], "CONCORD_TRUSTED_PROXIES").map { text in
            do { return try AddressRange(text) } catch { throw ValidationError("CONCORD_TRUSTED_PROXIES: \(error)") }
        }
    }

    /// Returns a value for each API: from flags such as `messenger=8080`, else from variables such as
    /// `CONCORD_PORT_MESSENGER`.
    func perAPI(_ flags: [String], _ variable: String, names: [String]) throws -> [String: String] {
        var values: [String: String] = [:]
        for name in names { values[name] = variables["\(variable)_\(Self.suffix(name))"] }
        for flag in flags {
            let parts = flag.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, names.contains(parts[0]) else {
                throw ValidationError("'\(flag)' is not NAME=VALUE with one of: \(names.joined(separator: ", "))")
            }
            values[parts[0]] = parts[1]
        }
        return values
    }

    static func suffix(_ name: String) -> String {
        name.uppercased().replacingOccurrences(of: "-", with: "_")
    }
}
