import Database
import Foundation

/// Who does something, and what, for the audit in an API's database.
public struct Audit: Sendable {
    let actor: String
    let action: String

    /// - Parameters:
    ///   - actor: Who does it, such as `admin 7`.
    ///   - action: What is done, such as `post delete`.
    public init(actor: String, action: String) {
        self.actor = actor
        self.action = action
    }

    /// Records the action. The entry belongs to the transaction of the change that it reports.
    ///
    /// - Parameters:
    ///   - subject: To whom or what it is done.
    ///   - now: The time in Unix milliseconds.
    public func record(
        _ subject: String, at now: Int64 = TimeSource.system.milliseconds(), in db: Session
    ) throws { try db.audit(actor, action, subject, at: now) }
}

/// The person who gives a command.
enum OperatorName {
    /// The operator of this process: the user who called `sudo`, otherwise the process's user.
    ///
    /// The name is this process's own word. Those who can give commands can also write to the database.
    static func ofThisProcess(_ environment: [String: String]) -> String {
        let name = environment["SUDO_USER"].flatMap { $0.isEmpty ? nil : $0 } ?? userName() ?? "\(getuid())"
        return "operator \(name.prefix(64))"
    }

    private static func userName() -> String? {
        var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
        var room = [CChar](repeating: 0, count: 16_384)
        guard getpwuid_r(getuid(), &entry, &room, room.count, &found) == 0, found != nil else { return nil }
        return String(cString: entry.pw_name)
    }
}

/// An entry of the audit as an operator sees it.
package struct AuditRecord: Codable, Equatable, Sendable {
    /// The number within the API's audit.
    let id: Int64
    let time: PersonRecord.Moment
    let api: String
    let actor: String
    let action: String
    let subject: String

    fileprivate var line: String {
        let subject = subject.isEmpty ? "" : "\t" + subject.quoted
        return "\(time)\t\(api)\t\(actor.quoted)\t\(action)\(subject)"
    }
}

/// Prints what operators and admins have done, in the order of time.
public struct PrintAudit: ServerCommand, PrintingCommand {
    package typealias Entry = AuditRecord
    public static let name = "audit"
    public static let role = OperatorRole.all
    /// The entries that are read at once.
    private static let page = 500

    private var apis: [String]
    private var since: Int64
    /// The most entries that are printed, which are the newest; nil for all.
    private var last: Int?
    private var format: ListFormat

    /// - Parameters:
    ///   - apis: The names of the APIs; none for all.
    ///   - since: The time in Unix milliseconds at which the list begins.
    ///   - last: The most entries that are printed, which are the newest; nil for all.
    public init(of apis: [String], since: Int64, last: Int? = nil, format: ListFormat) {
        self.apis = apis
        self.since = since
        self.last = last
        self.format = format
    }

    public func run(in context: ServerContext) async throws {
        var lines: [AuditRecord] = []
        for api in context.source.known where apis.isEmpty || apis.contains(api.name) {
            let found = try await context.source.openDatabase(of: api) { try await entries(in: $0) }
            if found == nil, !apis.isEmpty {
                throw OperatorError("\(context.source.settings.folder) has no \(api.title) database")
            }
            lines += (found ?? []).filter { $0.time >= since }.map { AuditRecord($0, of: api.name) }
        }
        lines.sort { ($0.time, $0.api, $0.id) < ($1.time, $1.api, $1.id) }
        for line in lines.suffix(last ?? lines.count) {
            try await print(line, as: format, on: context.console) { [$0.line] }
        }
        if lines.isEmpty, format == .text { try await context.print("No entries") }
    }

    private func entries(in database: Database) async throws -> [AuditEntry] {
        if let last { return try await database.read { try $0.newestAuditEntries(limit: last) } }
        var entries: [AuditEntry] = []
        while true {
            let last = entries.last?.id ?? 0
            let page = try await database.read { try $0.auditEntries(after: last, limit: Self.page) }
            entries += page
            if page.count < Self.page { return entries }
        }
    }
}

extension AuditRecord {
    fileprivate init(_ entry: AuditEntry, of api: String) {
        self.init(
            id: entry.id, time: .init(entry.time), api: api, actor: entry.actor, action: entry.action,
            subject: entry.subject)
    }
}
