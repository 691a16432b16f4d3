import ArgumentParser
import Backend
import Contract
import Foundation

/// Who runs the server, and on which terms: what `GET /about` answers, and what a person who registers must accept.
struct AboutOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The name of the service, or of who runs it. Like the four options after it, it is answered by GET /about of each "
                + "API; messenger=NAME is that of one API. Repeatable. [CONCORD_ABOUT_NAME, CONCORD_ABOUT_NAME_MESSENGER …] "
                + "(default: none)",
            valueName: "name"))
    var aboutName: [String] = []

    @Option(
        help: ArgumentHelp(
            "The way to who runs the server, such as an e-mail address. Repeatable. "
                + "[CONCORD_ABOUT_CONTACT, CONCORD_ABOUT_CONTACT_MESSENGER …] (default: none)",
            valueName: "contact"))
    var aboutContact: [String] = []

    @Option(
        help: ArgumentHelp(
            "The URL of the terms of use. Repeatable. [CONCORD_ABOUT_TERMS, CONCORD_ABOUT_TERMS_MESSENGER …] (default: none)",
            valueName: "url"))
    var aboutTerms: [String] = []

    @Option(
        help: ArgumentHelp(
            "The URL of the privacy policy. Repeatable. [CONCORD_ABOUT_PRIVACY, CONCORD_ABOUT_PRIVACY_MESSENGER …] "
                + "(default: none)",
            valueName: "url"))
    var aboutPrivacy: [String] = []

    @Option(
        help: ArgumentHelp(
            "The version of the terms, such as 2026-11, which a person accepts who registers. Repeatable. "
                + "[CONCORD_ABOUT_VERSION, CONCORD_ABOUT_VERSION_MESSENGER …] (default: none)",
            valueName: "version"))
    var aboutVersion: [String] = []

    @Flag(
        help: """
            Let only those register who send the version of the terms that they accept: in Messenger, GTSD and Dunbar. It \
            needs --about-version. [CONCORD_REQUIRE_TERMS=1]
            """)
    var requireTerms = false

    /// Returns what each API answers, by its name.
    func about(_ environment: Environment) throws -> [String: About] {
        let names = try values(
            aboutName, "NAME", environment, isRight: { $0.count <= 200 }, "longer than 200 characters")
        let contacts = try values(
            aboutContact, "CONTACT", environment, isRight: { $0.count <= 200 }, "longer than 200 characters")
        let terms = try values(aboutTerms, "TERMS", environment, isRight: Self.isURL, "not a URL")
        let policies = try values(aboutPrivacy, "PRIVACY", environment, isRight: Self.isURL, "not a URL")
        let versions = try values(
            aboutVersion, "VERSION", environment, isRight: { $0.unicodeScalars.count <= About.longestVersion },
            "longer than \(About.longestVersion) characters")
        return Dictionary(
            uniqueKeysWithValues: ConcordAPI.names.map { api in
                let about = About(
                    name: names[api], contact: contacts[api], terms: terms[api], privacy: policies[api],
                    version: versions[api])
                return (api, about)
            })
    }

    /// Returns whether people must accept the terms.
    func mustAccept(_ about: [String: About], _ environment: Environment) throws -> Bool {
        let isRequired = try environment.value(
            requireTerms ? true : nil, "CONCORD_REQUIRE_TERMS", { ["1": true, "0": false][$0] }, default: false)
        if isRequired, about.values.allSatisfy({ $0.version == nil }) {
            throw ValidationError("--require-terms needs --about-version, the version of the terms that are accepted")
        }
        return isRequired
    }

    private static func isURL(_ text: String) -> Bool {
        let parts = URLComponents(string: text)
        return ["http", "https"].contains(parts?.scheme?.lowercased() ?? "") && parts?.host?.isEmpty == false
            && text.utf8.count <= 2000
    }

    /// Returns the values of a setting by the names of the APIs: that of one API, else the one for all.
    private func values(
        _ flags: [String], _ word: String, _ environment: Environment, isRight: (String) -> Bool, _ mistake: String
    ) throws -> [String: String] {
        let variable = "CONCORD_ABOUT_\(word)"
        func name(in flag: String) -> String? {
            ConcordAPI.names.first { flag.hasPrefix($0 + "=") }
        }
        let common = try environment.value(flags.last { name(in: $0) == nil }, variable, { $0 }, default: "")
        var values: [String: String] = [:]
        for api in ConcordAPI.names {
            let own = "\(variable)_\(Environment.suffix(api))"
            let flag = flags.last { name(in: $0) == api }.map { String($0.dropFirst(api.count + 1)) }
            let given = flag ?? environment.variables[own].flatMap { $0.isEmpty ? nil : $0 }
            // Most servers have one value for all, and `concord config` shows one line.
            if given != nil { environment.record(own, of: api, flag: flag, default: common) }
            let value = (given ?? common).trimmingCharacters(in: .whitespacesAndNewlines)
            guard !value.isEmpty else { continue }
            guard isRight(value) else {
                throw ValidationError("--about-\(word.lowercased()) for \(api) is \(mistake): \(value.prefix(200))")
            }
            values[api] = value
        }
        return values
    }
}
