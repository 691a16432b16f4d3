import ArgumentParser
import Backend

/// The apps that open an API's links.
struct AppLinkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An app that opens the links of an API on Apple's systems (universal links), by its id: the team's id, a dot and "
                + "the bundle's id. One of: \(Self.linked.joined(separator: ", ")). Repeatable. "
                + "[CONCORD_APP_ID_DEUCE_DIARY …, separated by commas] (default: none)",
            valueName: "name=id"))
    var appID: [String] = []

    /// The names of the APIs that have such links.
    private static let linked = ConcordAPI.all.filter { !$0.hosted.linkPaths.isEmpty }.map(\.name)

    /// Returns the apps, by the names of the APIs.
    func links(_ environment: Environment) throws -> [String: AppLinks] {
        let variable = "CONCORD_APP_ID"
        var given: [String: [String]] = [:]
        for flag in appID {
            let parts = flag.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw ValidationError("--app-id must be NAME=ID, not '\(flag)'") }
            try check(parts[0], "--app-id \(flag)")
            given[parts[0], default: []].append(parts[1])
        }
        for name in ConcordAPI.names where !Self.linked.contains(name) {
            let own = "\(variable)_\(Environment.suffix(name))"
            if environment.variables[own]?.isEmpty == false { try check(name, own) }
        }
        var links: [String: AppLinks] = [:]
        for name in Self.linked {
            let ids = environment.list(given[name] ?? [], "\(variable)_\(Environment.suffix(name))", of: name)
            for id in ids where !AppLinks.isAppID(id) {
                throw ValidationError(
                    "'\(id)' is not the id of an app for \(name): it is the team's id, a dot and the bundle's id, such as "
                        + "ABCDE12345.com.example.app")
            }
            if !ids.isEmpty { links[name] = AppLinks(appIDs: ids) }
        }
        return links
    }

    private func check(_ name: String, _ setting: String) throws {
        guard !Self.linked.contains(name) else { return }
        let known = Self.linked.joined(separator: ", ")
        guard ConcordAPI.names.contains(name) else {
            throw ValidationError(
                "\(setting): there is no API '\(name)'. Those with links that an app can open: \(known)")
        }
        throw ValidationError("\(setting): \(name) has no links that an app can open. Those that have: \(known)")
    }
}
