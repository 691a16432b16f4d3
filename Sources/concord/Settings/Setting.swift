import NIOConcurrencyHelpers

/// A setting that is in force, and the place that its value came from.
struct Setting: Encodable, Sendable {
    enum Origin: Equatable, Sendable {
        /// The name of a flag: `--host`.
        case flag(String)
        /// The name of a variable: `CONCORD_HOST`.
        case variable(String)
        /// The variable that names a file, and the file's path: `CONCORD_SMTP_FILE`, `/run/secrets/smtp`.
        case file(variable: String, path: String)
        /// The path of something that the system has, and that no setting names.
        case system(path: String)
        case fallback
    }

    let name: String
    /// The value as an operator writes it; passwords are hidden.
    let value: String
    let origin: Origin

    /// The origin for a person.
    var source: String {
        switch origin {
        case .flag(let flag): flag
        case .variable(let variable): variable
        case .file(let variable, let path): "\(variable) (\(path))"
        case .system(let path): path
        case .fallback: "default"
        }
    }

    enum CodingKeys: String, CodingKey { case name, value, origin, source, file }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(value, forKey: .value)
        switch origin {
        case .flag(let flag):
            try container.encode("flag", forKey: .origin)
            try container.encode(flag, forKey: .source)
        case .variable(let variable):
            try container.encode("variable", forKey: .origin)
            try container.encode(variable, forKey: .source)
        case .file(let variable, let path):
            try container.encode("file", forKey: .origin)
            try container.encode(variable, forKey: .source)
            try container.encode(path, forKey: .file)
        case .system(let path):
            try container.encode("system", forKey: .origin)
            try container.encode(path, forKey: .file)
        case .fallback: try container.encode("default", forKey: .origin)
        }
    }
}

/// Collects the settings that a command reads, and what is wrong with them, for `concord config`.
///
/// ``Environment`` records each setting that is read through it, so that a new setting is listed by itself.
final class SettingsLedger: Sendable {
    private struct State {
        var settings: [Setting] = []
        var problems: [String] = []
        var warnings: [String] = []
        var variables: Set<String> = []
    }

    private let state = NIOLockedValueBox(State())

    var settings: [Setting] { state.withLockedValue { $0.settings } }
    var problems: [String] { state.withLockedValue { $0.problems } }
    var warnings: [String] { state.withLockedValue { $0.warnings } }

    /// The variables of the settings that were read.
    var variables: Set<String> { state.withLockedValue { $0.variables } }

    func note(variable: String) { state.withLockedValue { _ = $0.variables.insert(variable) } }

    /// Records a setting. A setting that is read twice has the place of the first time.
    func add(_ setting: Setting) {
        state.withLockedValue { state in
            if let index = state.settings.firstIndex(where: { $0.name == setting.name }) {
                state.settings[index] = setting
            } else {
                state.settings.append(setting)
            }
        }
    }

    func add(problem: String) { state.withLockedValue { $0.problems.append(problem) } }

    /// Records what the operator should know although nothing is wrong with the settings.
    func add(warning: String) { state.withLockedValue { $0.warnings.append(warning) } }
}
