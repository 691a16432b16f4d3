import Contract
import Database
import Foundation
import Identity
import ObjectStore

/// The commands on reports, which every API of a ``ModerationDesk`` has.
enum ReportCommands {
    static let all: [any OperatorCommand.Type] = [
        ShowReport.self, SaveReportedFile.self, ActOnReport.self, DismissReport.self, NoteReport.self,
    ]
}

extension OperatorContext {
    /// Returns the desk of an API with a public side.
    func moderation() throws -> any ModerationDesk {
        guard let desk = try people() as? any ModerationDesk else {
            throw OperatorError(
                "Nobody sees what the people of \(api.title) write: it has no reports and nothing to remove")
        }
        return desk
    }
}

/// A report as `show` prints it: with the present text.
package struct ShownReport: Codable, Equatable, Sendable {
    let report: FiledReport
    /// The text now; nil for a thing that is no longer there.
    let present: String?

    private enum CodingKeys: String, CodingKey { case present }

    init(report: FiledReport, present: String?) {
        self.report = report
        self.present = present
    }

    package init(from decoder: any Decoder) throws {
        report = try FiledReport(from: decoder)
        present = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .present)
    }

    package func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(present, forKey: .present)
    }
}

extension ModerationDesk {
    fileprivate typealias Queue = ReportQueue<Table>

    private static func require(
        _ report: Int64, _ context: OperatorContext, at now: Int64, in db: Session
    ) throws -> FiledReport {
        guard let found = try Queue.one(report, of: context.api.name, at: now, in: db) else {
            throw OperatorError("There is no report \(report) in \(context.api.title)")
        }
        return found
    }

    /// - Throws: ``OperatorError`` for a report that an operator has closed.
    private static func requireOpen(
        _ report: Int64, _ context: OperatorContext, at now: Int64, in db: Session
    ) throws -> FiledReport {
        let found = try require(report, context, at: now, in: db)
        guard found.state == .open else { throw OperatorError(found.closedSentence) }
        return found
    }

    fileprivate func shown(_ report: Int64, in context: OperatorContext) async throws -> ShownReport {
        let now = time.milliseconds()
        return try await context.database.read { db in
            let found = try Self.require(report, context, at: now, in: db)
            let present = found.thing.isEmpty ? nil : try self.text(of: found.kind, found.thing, in: db)
            return ShownReport(report: found, present: present)
        }
    }

    /// Writes a file of a report to the operator's console. That it was given away is in the audit.
    fileprivate func write(file number: Int, of report: Int64, in context: OperatorContext) async throws {
        let now = time.milliseconds()
        let file = try await context.database.write { [audit = context.audit] db in
            let found = try Self.require(report, context, at: now, in: db)
            guard found.files.indices.contains(number - 1) else {
                let count = found.files.count
                let there = count == 0 ? "no files" : count == 1 ? "1 file" : "\(count) files"
                throw OperatorError("Report \(report) has \(there)")
            }
            try audit.record("report \(report): file \(number)", at: now, in: db)
            return found.files[number - 1]
        }
        let gone = OperatorError(
            "The file is not in the store: if it is not in the data folder, give the command while the server runs")
        guard let key = ObjectKey(file.key), let size = try await reportedFiles.size(of: key) else { throw gone }
        var offset: Int64 = 0
        while offset < size {
            let range = offset..<min(size, offset + 262_144)
            guard let piece = try await reportedFiles.content(of: key, in: range), !piece.isEmpty else { throw gone }
            try await context.console.write(piece)
            offset += Int64(piece.count)
        }
    }

    fileprivate func note(_ text: String, on report: Int64, in context: OperatorContext) async throws {
        let now = time.milliseconds()
        try await context.database.write { [audit = context.audit] db in
            let found = try Self.require(report, context, at: now, in: db)
            try Queue.add(text, to: report, by: audit.actor, at: now, in: db)
            try audit.record(found.subject(because: text), at: now, in: db)
        }
    }

    fileprivate func dismiss(
        _ report: Int64, because reason: String, in context: OperatorContext
    ) async throws -> FiledReport {
        let now = time.milliseconds()
        return try await context.database.write { [audit = context.audit] db in
            let found = try Self.requireOpen(report, context, at: now, in: db)
            try Self.close(found, by: .dismiss, because: reason, context, at: now, in: db)
            try audit.record(found.subject(because: reason), at: now, in: db)
            return try Self.require(report, context, at: now, in: db)
        }
    }

    /// Does what an operator has decided, all of it or nothing.
    fileprivate func act(
        on report: Int64, _ acts: [ReportAct], until: Int64?, because reason: String, in context: OperatorContext
    ) async throws -> (report: FiledReport, remarks: [String]) {
        try requireAhead(until)
        let now = time.milliseconds()
        let done = try await context.database.write { [audit = context.audit] db in
            let found = try Self.requireOpen(report, context, at: now, in: db)
            var remarks: [String] = []
            var finish: @Sendable () async -> Void = {}
            var closed = [report]
            // What was written is locked before its author, as wherever something is deleted. The report is closed last.
            if acts.contains(.remove) {
                guard found.kind != .person else {
                    throw OperatorError("Report \(report) is about a person: --remove is for what somebody wrote")
                }
                let removal = try self.remove(found.kind, [found.written], at: now, in: db)
                finish = removal.finish
                // Another operator may have come first while this one waited for a lock.
                _ = try Self.requireOpen(report, context, at: now, in: db)
                if removal.things.isEmpty { remarks.append("\(found.kind) \(found.thing) was gone already") }
                closed = try Queue.open(aboutThingOf: found, in: db)
                if closed.count > 1 { remarks.append("\(closed.count - 1) other reports of it are closed, too") }
            }
            remarks += try self.act(on: found, acts, until: until, because: reason, context, at: now, in: db)
            for id in closed {
                let closedReport = id == report ? found : try Self.require(id, context, at: now, in: db)
                try Self.close(closedReport, by: .act(acts), because: reason, context, at: now, in: db)
                if let reporter = try Queue.person("reporter_id", of: id, in: db) {
                    _ = try self.send(.acted, to: reporter, at: now, in: db)
                }
            }
            let words = acts.map(\.rawValue).joined(separator: ", ")
            try audit.record(found.subject(words, because: reason), at: now, in: db)
            return (try Self.require(report, context, at: now, in: db), remarks, finish)
        }
        await done.2()
        return (done.0, done.1)
    }

    /// Suspends and warns the person whom a report is about.
    private func act(
        on report: FiledReport, _ acts: [ReportAct], until: Int64?, because reason: String,
        _ context: OperatorContext, at now: Int64, in db: Session
    ) throws -> [String] {
        guard acts.contains(.suspend) || acts.contains(.warn) else { return [] }
        guard let person = try Queue.person("person_id", of: report.id, in: db), try Table.lock(person, in: db) else {
            throw OperatorError("The account that report \(report.id) is about was deleted")
        }
        _ = try Self.requireOpen(report.id, context, at: now, in: db)
        var remarks: [String] = []
        if acts.contains(.suspend) {
            try requireSuspendable(person, at: now, in: db)
            try suspend(person, until: until, because: reason, at: now, in: db)
        }
        if acts.contains(.warn), try !send(.warning(reason: reason), to: person, at: now, in: db) {
            remarks.append("the warning is recorded, but there is no address for a letter")
        }
        return remarks
    }

    private static func close(
        _ report: FiledReport, by decision: ReportDecision, because reason: String, _ context: OperatorContext,
        at now: Int64, in db: Session
    ) throws {
        guard
            try Queue.close(
                report.id, by: decision, of: context.audit.actor, because: reason, at: now, in: db)
        else { throw OperatorError(try require(report.id, context, at: now, in: db).closedSentence) }
    }
}

extension FiledReport {
    /// The thing that was reported, for a removal.
    fileprivate var written: WrittenThing { WrittenThing(kind, thing, in: place, by: person?.id) }

    /// The words of the audit, which begin with the person, so that `people show` finds them.
    fileprivate func subject(_ acts: String = "", because reason: String) -> String {
        let who = person.map { "user \($0.id): " } ?? ""
        let more = acts.isEmpty ? "" : ", \(acts)"
        return "\(who)report \(id)\(more)" + (reason.isEmpty ? "" : ": \(reason)")
    }
}

// MARK: The commands

/// Prints the reports of all APIs, the oldest first.
public struct ListReports: ServerCommand, PrintingCommand {
    package typealias Entry = FiledReport
    public static let name = "reports list"
    public static let role = OperatorRole.moderate

    private var apis: [String]
    private var state: ReportState?
    private var limit: Int
    private var format: ListFormat

    /// - Parameters:
    ///   - apis: The names of the APIs; none for all.
    ///   - state: The state of all of them; nil for any.
    ///   - limit: The most reports that are printed.
    public init(of apis: [String], _ state: ReportState?, limit: Int, format: ListFormat) {
        self.apis = apis
        self.state = state
        self.limit = limit
        self.format = format
    }

    public func run(in context: ServerContext) async throws {
        var reports: [FiledReport] = []
        for api in context.source.known where apis.isEmpty || apis.contains(api.name) {
            guard let table = api.tableOfPeople, table.hasReports else {
                if apis.isEmpty { continue }
                throw OperatorError("\(api.title) has no reports")
            }
            guard let found = try await list(table, of: api, context) else {
                if apis.isEmpty { continue }
                throw OperatorError("\(context.source.settings.folder) has no \(api.title) database")
            }
            reports += found
        }
        reports.sort { ($0.createdAt, $0.api, $0.id) < ($1.createdAt, $1.api, $1.id) }
        for report in reports.prefix(limit) {
            try await print(report, as: format, on: context.console) { [$0.line] }
        }
        guard format == .text else { return }
        if reports.isEmpty { try await context.print("No reports") }
        if reports.count > limit { try await context.print("There are more: give --limit") }
    }

    private func list<Table: PeopleTable>(
        _: Table.Type, of api: any HostedAPI, _ context: ServerContext
    ) async throws -> [FiledReport]? {
        let now = TimeSource.system.milliseconds()
        return try await context.source.openDatabase(of: api) { [state, limit] database in
            try await database.read { db in
                try ReportQueue<Table>.list(state, of: api.name, limit: limit + 1, at: now, in: db)
            }
        }
    }
}

/// Prints a report, with what was reported as it was then and as it is now.
public struct ShowReport: OperatorCommand, PrintingCommand {
    package typealias Entry = ShownReport
    public static let name = "reports show"
    public static let role = OperatorRole.moderate

    var report: Int64
    var format: ListFormat

    public init(_ report: Int64, format: ListFormat) {
        self.report = report
        self.format = format
    }

    public func run(in context: OperatorContext) async throws {
        let shown = try await context.moderation().shown(report, in: context)
        try await print(shown, as: format, on: context.console) { $0.report.lines(present: $0.present) }
    }
}

/// Writes a file that a report keeps to standard output.
public struct SaveReportedFile: OperatorCommand {
    public static let name = "reports file"
    public static let role = OperatorRole.moderate

    var report: Int64
    /// The number of the file, from 1.
    var number: Int

    public init(_ number: Int, of report: Int64) {
        self.report = report
        self.number = number
    }

    public func run(in context: OperatorContext) async throws {
        try await context.moderation().write(file: number, of: report, in: context)
    }
}

/// Does something because of a report, and closes it.
public struct ActOnReport: OperatorCommand, PrintingCommand {
    package typealias Entry = FiledReport
    public static let name = "reports act"
    public static let role = OperatorRole.moderate

    var report: Int64
    var acts: [ReportAct]
    /// The end of a suspension in milliseconds since 1970; nil for none.
    var until: Int64?
    var reason: String
    var format: ListFormat

    /// - Parameter acts: What is done; at least one.
    public init(on report: Int64, _ acts: [ReportAct], until: Date?, because reason: String, format: ListFormat) {
        self.report = report
        self.acts = acts
        self.until = until.map { Int64($0.timeIntervalSince1970 * 1000) }
        self.reason = reason
        self.format = format
    }

    public func run(in context: OperatorContext) async throws {
        let done = try await context.moderation().act(on: report, acts, until: until, because: reason, in: context)
        try await print(done.report, as: format, on: context.console) { report in
            ["\(report.api) report \(report.id) is closed: \(acts.map(\.rawValue).joined(separator: ", "))"]
                + done.remarks
        }
    }
}

/// Closes a report because nothing needs to be done.
public struct DismissReport: OperatorCommand, PrintingCommand {
    package typealias Entry = FiledReport
    public static let name = "reports dismiss"
    public static let role = OperatorRole.moderate

    var report: Int64
    var reason: String
    var format: ListFormat

    public init(_ report: Int64, because reason: String, format: ListFormat) {
        self.report = report
        self.reason = reason
        self.format = format
    }

    public func run(in context: OperatorContext) async throws {
        let report = try await context.moderation().dismiss(report, because: reason, in: context)
        try await print(report, as: format, on: context.console) { ["\($0.api) report \($0.id) is dismissed"] }
    }
}

/// Adds a note for other operators to a report.
public struct NoteReport: OperatorCommand {
    public static let name = "reports note"
    public static let role = OperatorRole.moderate

    var report: Int64
    var text: String

    public init(_ text: String, on report: Int64) {
        self.report = report
        self.text = text
    }

    public func run(in context: OperatorContext) async throws {
        try await context.moderation().note(text, on: report, in: context)
        try await context.print("The note is on \(context.api.name) report \(report)")
    }
}
