import ArgumentParser
import Backend
import Foundation
import Identity
import Images
import Logging
import TimeZones

/// `concord config`: the settings that are in force, where each came from, and what is wrong with them.
struct Config: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Print the settings that are in force, and what is wrong with them.",
        discussion: """
            concord config --host 0.0.0.0 --data /var/lib/concord

            Takes the same options and variables as 'concord serve'. Prints each setting with the place that its value \
            came from: a flag, a variable, a file, or the default. Passwords and keys are hidden. Then prints what is \
            wrong: a public address without a public URL or TLS, a proxy that is not trusted, files that cannot be \
            read, a port that is taken, a PostgreSQL that does not answer, a database of a newer version, a \
            clock that is behind the database's times, and so on. If a server uses the data folder, its \
            settings that differ are printed, too: they are in force until it is restarted.

            The version of the system's time zone data is listed as tzdata, with their folder. A warning names data that are \
            missing, or older than a year.

            Nothing is started or changed, and the server may be running. Exits with 1 when something is wrong; warnings \
            alone change nothing.
            """)

    @OptionGroup var listing: ListOptions
    @OptionGroup var serve: Serve

    /// The object that the command prints with `--json`.
    private struct Report: Encodable {
        let settings: [Setting]
        let problems: [String]
        let warnings: [String]
        /// The settings of the server that uses the data folder; nil when none does.
        let running: [RunningServer.Setting]?
    }

    func run() async throws {
        let ledger = SettingsLedger()
        let environment = try serve.place.data.environment(ledger: ledger)
        let read = Self.read(serve, environment, into: ledger)
        var running: [RunningServer.Setting]?
        if let read {
            for problem in await problems(of: read.settings, serving: read.served, read.environment) {
                ledger.add(problem: problem)
            }
            for problem in read.environment.unknownVariables() { ledger.add(problem: problem) }
            do { running = try await RunningServer.settings(in: read.settings.folder) } catch {
                ledger.add(problem: "The running server cannot be asked for its settings: \(error)")
            }
        }
        let report = Report(
            settings: ledger.settings, problems: ledger.problems, warnings: ledger.warnings, running: running)
        print(try listing.json ? JSONLine.encode(report) + "\n" : text(of: report), terminator: "")
        if !report.problems.isEmpty { throw ExitCode(1) }
    }

    /// What reading the settings has given.
    struct Reading {
        let settings: ServerSettings
        let served: [any HostedAPI]
        let environment: Environment
    }

    /// Records the settings of a server, and what is wrong with each.
    ///
    /// - Returns: What was read; nil when a setting cannot be read at all.
    @discardableResult
    static func read(_ serve: Serve, _ environment: Environment, into ledger: SettingsLedger) -> Reading? {
        let environment = Environment(variables: environment.variables, files: environment.files, ledger: ledger)
        do {
            let settings = try serve.settings(environment, logger: Logger(label: "") { _ in SwiftLogNoOpLogHandler() })
            let served = try serve.hosted(environment).served
            recordKeys(of: served, settings, environment)
            recordZones(of: served, environment, into: ledger)
            return Reading(settings: settings, served: served, environment: environment)
        } catch {
            ledger.add(problem: (error as? ValidationError)?.message ?? "\(error)")
            return nil
        }
    }

    /// Records the keys and credentials, which have no flags.
    private static func recordKeys(
        of served: [any HostedAPI], _ settings: ServerSettings, _ environment: Environment
    ) {
        for key in served.flatMap(\.keys) {
            let path = "\(settings.folder)/keys/\(key.name)"
            let isThere = FileManager.default.fileExists(atPath: path)
            environment.record(
                key.variable, flag: nil, default: isThere ? "file \(path)" : "generated at the first start")
            let former = SecretKeys.formerVariable(of: key.variable)
            environment.record(former, flag: nil, default: "")
        }
        if settings.objects != "local" {
            for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"] {
                environment.record(name, flag: nil, default: "")
            }
        }
        environment.record("CONCORD_THUMBNAIL", flag: nil, default: "beside concord")
    }

    /// Records the version and the place of the system's time zone data, and what is wrong with them where an API's days
    /// depend on them.
    private static func recordZones(
        of served: [any HostedAPI], _ environment: Environment, into ledger: SettingsLedger
    ) {
        let zones = ZoneDatabase(environment: environment.variables)
        ledger.add(
            Setting(
                name: "tzdata", value: zones.version ?? (zones.folder == nil ? "missing" : "unknown"),
                origin: zones.folder.map { .system(path: $0) } ?? .fallback))
        guard served.contains(where: { $0.name == "gtsd" }) else { return }
        for warning in zones.warnings(at: TimeSource.system.seconds) { ledger.add(warning: warning) }
    }

    private func problems(
        of settings: ServerSettings, serving served: [any HostedAPI], _ environment: Environment
    ) async -> [String] {
        let hasProxies = (try? environment.trustedProxies(serve.trustedProxy))?.isEmpty == false
        var problems = await settings.problems(serving: served, behindProxies: hasProxies)
        let names = served.map(\.name)
        if names.contains("deuce-diary") || names.contains("dunbar") {
            do throws(ImageError) {
                let program = try Thumbnailer.locate(environment: environment.variables)
                let missing = try await Thumbnailer(executable: program).missingFormats()
                if !missing.isEmpty {
                    let formats = missing.map(\.rawValue).joined(separator: ", ")
                    problems.append("Pictures of these formats cannot be read on this machine: \(formats)")
                }
            } catch {
                problems.append("Uploads of pictures will be answered with 503: \(error)")
            }
        }
        let mailing = ["messenger", "gtsd", "dunbar"].filter(names.contains)
        let isPublic = !settings.isLocal || mailing.contains { settings.publicURLs[$0] != nil }
        if !mailing.isEmpty, isPublic, environment.variables["CONCORD_SMTP", default: ""].isEmpty,
            serve.mail.smtp == nil
        {
            problems.append(
                """
                E-mails are written to files in \(settings.folder)/mail, so users cannot verify their addresses or \
                replace a forgotten password: set CONCORD_SMTP
                """)
        }
        return problems
    }

    private func text(of report: Report) -> String {
        let width = (report.settings.map(\.name.count).max() ?? 0, report.settings.map(\.value.count).max() ?? 0)
        var lines = report.settings.map { setting in
            let value = setting.value.isEmpty ? "-" : setting.value
            return setting.name.padding(toLength: width.0 + 2, withPad: " ", startingAt: 0)
                + value.padding(toLength: max(min(width.1, 40), value.count) + 2, withPad: " ", startingAt: 0)
                + setting.source
        }
        lines.append("")
        lines += RunningServer.differences(of: report.running ?? [], from: report.settings)
        if !report.warnings.isEmpty { lines += ["Warnings:"] + report.warnings.map { "- " + $0 } + [""] }
        switch report.problems.count {
        case 0: lines.append("No problem found.")
        case 1: lines.append("1 problem:")
        default: lines.append("\(report.problems.count) problems:")
        }
        lines += report.problems.map { "- " + $0 }
        return lines.joined(separator: "\n") + "\n"
    }
}
