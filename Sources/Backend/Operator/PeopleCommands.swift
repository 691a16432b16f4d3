import Contract
import Database
import Foundation
import Identity

/// The commands on people, which every API of a ``PeopleDesk`` has.
enum PeopleCommands {
    static let all: [any OperatorCommand.Type] = [
        ShowPerson.self, SignOutPeople.self, MakeResetCode.self, SuspendPeople.self, RestorePeople.self,
        ExportPerson.self, DeletePeople.self, RemoveContent.self,
    ]
}

/// A person whom an operator has named by an id.
public struct NamedPerson: Codable, Sendable {
    let id: String
    /// The line of the file that has the id; nil for an id of the command line.
    let line: Int?

    public init(id: String, line: Int? = nil) {
        self.id = id
        self.line = line
    }

    /// Returns the reason why nothing is done, with the line that is wrong.
    func mistake(_ sentence: String, among count: Int) -> OperatorError {
        let place = line.map { "Line \($0): " } ?? ""
        return OperatorError(place + sentence + (count > 1 ? ". Nothing was done" : ""))
    }
}

/// A person to whom something was done, as a command prints them.
package struct PersonDeed: Codable, Equatable, Sendable {
    let api: String
    let id: String
    let name: String?
    /// The number of sessions that have ended.
    var sessions: Int?
    var suspension: Suspension?
    /// The address to which an e-mail goes.
    var email: String?
    /// The code for a new password.
    var code: String?
    /// The time up to which the code is valid.
    var expiresAt: PersonRecord.Moment?

    enum CodingKeys: String, CodingKey {
        case api, id, name, sessions, suspension, email, code
        case expiresAt = "expires_at"
    }
}

extension PeopleDesk {
    /// Does something with people in one transaction: with all, or with none.
    ///
    /// - Parameters:
    ///   - check: Refuses a person by an ``OperatorError``. It runs for all before the first change.
    ///   - act: Makes the change. The row is locked.
    func change<Result: Sendable>(
        _ named: [NamedPerson], because reason: String, in context: OperatorContext,
        if check: @escaping @Sendable (Table.ID, _ now: Int64, Session) throws -> Void = { _, _, _ in },
        _ act: @escaping @Sendable (Table.ID, _ now: Int64, Session) throws -> Result
    ) async throws -> [(person: PersonRecord, result: Result)] {
        let now = time.milliseconds()
        let ids = try Self.ids(of: named, context)
        return try await context.database.write { [audit = context.audit] db in
            let people = try Self.lock(ids, among: named.count, context, at: now, in: db, if: check)
            return try people.map { id, person in
                let result = try act(id, now, db)
                try audit.record(person, because: reason, at: now, in: db)
                return (person, result)
            }
        }
    }

    /// Reads the ids that an operator has given, in the order in which rows are locked.
    private static func ids(
        of named: [NamedPerson], _ context: OperatorContext
    ) throws -> [(id: Table.ID, named: NamedPerson)] {
        var ids: [(id: Table.ID, named: NamedPerson)] = []
        for person in named {
            guard let id = Table.id(written: person.id) else { throw unknown(person, among: named.count, context) }
            guard !ids.contains(where: { $0.id == id }) else {
                throw person.mistake("\(person.id) is there twice", among: named.count)
            }
            ids.append((id, person))
        }
        return ids.sorted { $0.id < $1.id }
    }

    private static func unknown(
        _ person: NamedPerson, among count: Int, _ context: OperatorContext
    ) -> OperatorError {
        person.mistake("There is no person \(person.id) in \(context.api.title)", among: count)
    }

    private static func lock(
        _ ids: [(id: Table.ID, named: NamedPerson)], among count: Int, _ context: OperatorContext, at now: Int64,
        in db: Session, if check: (Table.ID, _ now: Int64, Session) throws -> Void
    ) throws -> [(id: Table.ID, person: PersonRecord)] {
        try ids.map { id, named in
            guard try Table.lock(id, in: db),
                let person = try PeopleSearch.list([id], of: context.api.name, in: Table.self, at: now, db).first
            else { throw unknown(named, among: count, context) }
            do { try check(id, now, db) } catch let error as OperatorError {
                throw named.mistake(error.description, among: count)
            }
            return (id, person)
        }
    }

    fileprivate func signOut(
        _ people: [NamedPerson], because reason: String, in context: OperatorContext
    ) async throws -> [PersonDeed] {
        try await change(people, because: reason, in: context) { id, now, db in
            try self.endSessions(of: id, at: now, in: db)
        }.map { PersonDeed($0.person, sessions: $0.result) }
    }

    fileprivate func makeReset(
        of person: NamedPerson, isSent: Bool, in context: OperatorContext
    ) async throws -> PersonDeed {
        let token = RandomToken.make()
        let made = try await change([person], because: "", in: context) { id, now, db in
            if try Table.suspension(of: id, at: now, in: db) != nil {
                throw OperatorError("\(id.rawValue) is suspended: a password cannot be reset until it is restored")
            }
        } _: { id, now, db in
            let email = try self.makeReset(token, of: id, isSent: isSent, at: now, in: db)
            return (email: email, expiresAt: now + ResetToken.lifetimeOfHelp)
        }
        guard let (person, result) = made.first else { throw CancellationError() }
        var deed = PersonDeed(person)
        if isSent { deed.email = result.email } else { deed.code = token }
        deed.expiresAt = PersonRecord.Moment(result.expiresAt)
        return deed
    }

    /// - Throws: ``OperatorError`` for the end of a suspension that lies behind.
    func requireAhead(_ until: Int64?) throws {
        if let until, until <= time.milliseconds() { throw OperatorError("--until is a time that has passed") }
    }

    /// - Throws: ``OperatorError`` for a person who is suspended, or must not be.
    func requireSuspendable(_ person: Table.ID, at now: Int64, in db: Session) throws {
        if try Table.suspension(of: person, at: now, in: db) != nil {
            throw OperatorError("\(person.rawValue) is suspended already")
        }
        try requireDispensable(person, at: now, in: db)
    }

    /// Suspends a person whose row is locked.
    @discardableResult
    func suspend(
        _ person: Table.ID, until: Int64?, because reason: String, at now: Int64, in db: Session
    ) throws -> Suspension? {
        try Table.suspend(person, until: until, reason: reason, at: now, in: db)
        try closeSockets(of: person, at: now, in: db)
        return try Table.suspension(of: person, at: now, in: db)
    }

    fileprivate func suspend(
        _ people: [NamedPerson], until: Int64?, because reason: String, in context: OperatorContext
    ) async throws -> [PersonDeed] {
        try requireAhead(until)
        return try await change(people, because: reason, in: context) { id, now, db in
            try self.requireSuspendable(id, at: now, in: db)
        } _: { id, now, db in
            try self.suspend(id, until: until, because: reason, at: now, in: db)
        }.map { PersonDeed($0.person, suspension: $0.result) }
    }

    fileprivate func restore(
        _ people: [NamedPerson], because reason: String, in context: OperatorContext
    ) async throws -> [PersonDeed] {
        try await change(people, because: reason, in: context) { id, now, db in
            if try Table.suspension(of: id, at: now, in: db) == nil {
                throw OperatorError("\(id.rawValue) is not suspended")
            }
        } _: { id, _, db in
            try Table.restore(id, in: db)
        }.map { PersonDeed($0.person) }
    }

    fileprivate func delete(
        _ named: [NamedPerson], because reason: String, in context: OperatorContext
    ) async throws -> [PersonDeed] {
        let now = time.milliseconds()
        let ids = try Self.ids(of: named, context)
        let people = try await context.database.write { db in
            try Self.lock(ids, among: named.count, context, at: now, in: db) {
                try self.requireDispensable($0, at: $1, in: $2)
            }
        }
        for (id, person) in people {
            // Each is a transaction of its own, because a deletion locks what belongs to the person first.
            do {
                let finish = try await context.database.write { [audit = context.audit] db in
                    try self.requireDispensable(id, at: now, in: db)
                    let finish = try self.delete(id, at: now, in: db)
                    try audit.record(person, because: reason, at: now, in: db)
                    return finish
                }
                await finish()
            } catch let problem as Problem where problem.message == Table.gone.message {
                // The person has done the same in the meantime.
            }
        }
        return people.map { PersonDeed($0.person) }
    }

    /// Writes a person's archive to the operator's standard output. The entry of the audit comes before the data, because what
    /// has been written is known even if the rest fails.
    fileprivate func export(_ named: NamedPerson, because reason: String, in context: OperatorContext) async throws {
        guard let id = try Self.ids(of: [named], context).first?.id else { return }
        _ = try await change([named], because: reason, in: context) { _, _, _ in }
        try await archives.write(id) { try await context.console.write(Array($0.readableBytesView)) }
    }

    fileprivate func profile(of named: NamedPerson, in context: OperatorContext) async throws -> PersonProfile {
        let now = time.milliseconds()
        let api = context.api.name
        let profile = try await context.database.read { [signIns] db -> PersonProfile? in
            guard let id = Table.id(written: named.id),
                let person = try PeopleSearch.list([id], of: api, in: Table.self, at: now, db).first
            else { return nil }
            let sessions = try Table.sessions(of: id, at: now, in: db)
            let acts = try db.auditEntries(
                about: ["user \(person.id)"]
                    + [person.name, person.email].compactMap { $0?.isEmpty == false ? $0 : nil },
                beginning: ["user \(person.id): "], limit: PersonProfile.mostActs)
            return PersonProfile(
                person: person, lastSeenAt: sessions.compactMap(\.usedAt).max(), sessions: sessions,
                failedSignIns: try signIns?.failures(of: "user \(person.id)", at: now, in: db),
                acceptedTerms: try Table.termsColumn.flatMap {
                    try db.value("SELECT \($0) FROM \(Table.table) WHERE id = \(id)", as: String?.self) ?? nil
                },
                storage: try Table.storage(of: id, in: db), reports: try Table.reports(of: id, in: db),
                acts: acts.map { .init(time: .init($0.time), actor: $0.actor, action: $0.action, subject: $0.subject) })
        }
        guard let profile else { throw Self.unknown(named, among: 1, context) }
        return profile
    }
}

extension PersonRecord {
    /// The line of a list, with tabs between: API, id, name, address, the time of the sign-up, and a suspension.
    fileprivate var line: String {
        [
            api, id, name?.quoted ?? "-", email?.quoted ?? "-", "\(createdAt)",
            suspension.map { "suspended\($0.until.map { " until \($0)" } ?? "")" },
        ].compactMap(\.self).joined(separator: "\t")
    }
}

extension Audit {
    /// Records what is done to a person, and why. The person is named by the id alone, which a deletion leaves behind.
    func record(_ person: PersonRecord, because reason: String, at now: Int64, in db: Session) throws {
        try record("user \(person.id)" + (reason.isEmpty ? "" : ": \(reason)"), at: now, in: db)
    }
}

extension PersonDeed {
    fileprivate init(_ person: PersonRecord, sessions: Int? = nil, suspension: Suspension? = nil) {
        self.init(
            api: person.api, id: person.id, name: person.name, sessions: sessions, suspension: suspension)
    }

    fileprivate func line(_ words: String) -> String {
        "\(api) \(id)\(name.map { $0.isEmpty ? "" : " \($0.quoted)" } ?? "") \(words)"
    }
}

/// A person with all that an operator may know of them.
package struct PersonProfile: Codable, Equatable, Sendable {
    /// The number of acts that are shown.
    static let mostActs = 20

    let person: PersonRecord
    let lastSeenAt: PersonRecord.Moment?
    let sessions: [PersonRecord.Session]
    let failedSignIns: Int?
    /// The version of the terms that the person has accepted.
    let acceptedTerms: String?
    let storage: Int64?
    let reports: PersonRecord.Reports?
    let acts: [Act]

    /// An entry of the audit.
    package struct Act: Codable, Equatable, Sendable {
        let time: PersonRecord.Moment
        let actor: String
        let action: String
        let subject: String
    }

    enum CodingKeys: String, CodingKey {
        case lastSeenAt = "last_seen_at"
        case sessions
        case failedSignIns = "failed_sign_ins"
        case acceptedTerms = "accepted_terms"
        case storage = "storage_bytes"
        case reports, acts
    }
}

extension PersonProfile {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            person: try PersonRecord(from: decoder),
            lastSeenAt: try container.decodeIfPresent(PersonRecord.Moment.self, forKey: .lastSeenAt),
            sessions: try container.decode([PersonRecord.Session].self, forKey: .sessions),
            failedSignIns: try container.decodeIfPresent(Int.self, forKey: .failedSignIns),
            acceptedTerms: try container.decodeIfPresent(String.self, forKey: .acceptedTerms),
            storage: try container.decodeIfPresent(Int64.self, forKey: .storage),
            reports: try container.decodeIfPresent(PersonRecord.Reports.self, forKey: .reports),
            acts: try container.decode([Act].self, forKey: .acts))
    }

    package func encode(to encoder: any Encoder) throws {
        try person.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(lastSeenAt, forKey: .lastSeenAt)
        try container.encode(sessions, forKey: .sessions)
        try container.encodeIfPresent(failedSignIns, forKey: .failedSignIns)
        try container.encodeIfPresent(acceptedTerms, forKey: .acceptedTerms)
        try container.encodeIfPresent(storage, forKey: .storage)
        try container.encodeIfPresent(reports, forKey: .reports)
        try container.encode(acts, forKey: .acts)
    }

    var lines: [String] {
        var lines = ["\(person.api) \(person.id)\(person.name.map { " \($0.quoted)" } ?? "")"]
        if let email = person.email, !email.isEmpty {
            let verified = person.isVerified.map { $0 ? ", verified" : ", not verified" } ?? ""
            lines.append("address: \(email.quoted)\(verified)")
        }
        lines.append("made: \(person.createdAt)")
        if let acceptedTerms { lines.append("accepted terms: \(acceptedTerms.quoted)") }
        lines.append("last seen: \(lastSeenAt.map { "\($0)" } ?? "not known")")
        if let suspension = person.suspension {
            let end = suspension.until.map { " until \($0)" } ?? ""
            let reason = suspension.reason.isEmpty ? "" : ": \(suspension.reason.quoted)"
            lines.append("suspended since \(suspension.since)\(end)\(reason)")
        }
        lines.append("sessions: \(sessions.count)")
        lines += sessions.map { session in
            let parts = [
                session.device?.quoted, session.startedAt.map { "since \($0)" }, session.usedAt.map { "used \($0)" },
                session.address.map { "from \($0)" },
            ]
            return "    " + parts.compactMap(\.self).joined(separator: ", ")
        }
        if let failedSignIns { lines.append("failed sign-ins within the hour: \(failedSignIns)") }
        if let storage { lines.append("files: \(storage) bytes") }
        if let reports {
            lines.append("reports: \(reports.by) by, \(reports.about) about")
        }
        lines += acts.isEmpty ? [] : ["last acts:"]
        lines += acts.map { act in
            let subject = act.subject.isEmpty ? "" : " \(act.subject.quoted)"
            return "    \(act.time) \(act.actor.quoted) \(act.action)\(subject)"
        }
        return lines
    }
}

// MARK: The commands

/// Prints the people of all APIs whose id is a text, or one of whose names or addresses begins with it.
public struct FindPeople: ServerCommand, PrintingCommand {
    package typealias Entry = PersonRecord
    public static let name = "people find"
    public static let role = OperatorRole.moderate

    private var text: String
    private var apis: [String]
    private var limit: Int
    private var format: ListFormat

    /// - Parameters:
    ///   - apis: The names of the APIs; none for all.
    ///   - limit: The most people of each API.
    public init(_ text: String, in apis: [String], limit: Int, format: ListFormat) {
        self.text = text
        self.apis = apis
        self.limit = limit
        self.format = format
    }

    public func run(in context: ServerContext) async throws {
        var isEmpty = true
        for api in context.source.known where apis.isEmpty || apis.contains(api.name) {
            guard let table = api.tableOfPeople else { continue }
            guard let found = try await find(in: table, of: api, context) else {
                if apis.isEmpty { continue }
                throw OperatorError("\(context.source.settings.folder) has no \(api.title) database")
            }
            for person in found.prefix(limit) {
                isEmpty = false
                try await print(person, as: format, on: context.console) { [$0.line] }
            }
            if found.count > limit, format == .text {
                try await context.print("There are more in \(api.title): write more of the name, or give --limit")
            }
        }
        if isEmpty, format == .text { try await context.print("Nobody was found") }
    }

    private func find<Table: PeopleTable>(
        in _: Table.Type, of api: any HostedAPI, _ context: ServerContext
    ) async throws -> [PersonRecord]? {
        let now = TimeSource.system.milliseconds()
        return try await context.source.openDatabase(of: api) { [text, limit] database in
            try await database.read { db in
                let ids = try PeopleSearch.find(text, in: Table.self, limit: limit + 1, db)
                return try PeopleSearch.list(ids, of: api.name, in: Table.self, at: now, db)
            }
        }
    }
}

/// Prints what is known of a person.
public struct ShowPerson: OperatorCommand, PrintingCommand {
    package typealias Entry = PersonProfile
    public static let name = "people show"
    public static let role = OperatorRole.moderate

    var person: NamedPerson
    var format: ListFormat

    public init(_ person: NamedPerson, format: ListFormat) {
        self.person = person
        self.format = format
    }

    public func run(in context: OperatorContext) async throws {
        let profile = try await context.people().profile(of: person, in: context)
        try await print(profile, as: format, on: context.console, \.lines)
    }
}

/// Ends all sessions of people.
public struct SignOutPeople: OperatorCommand, PrintingCommand {
    package typealias Entry = PersonDeed
    public static let name = "people sign-out"
    public static let role = OperatorRole.moderate

    var people: [NamedPerson]
    var reason: String
    var format: ListFormat

    public init(_ people: [NamedPerson], because reason: String, format: ListFormat) {
        self.people = people
        self.reason = reason
        self.format = format
    }

    public func run(in context: OperatorContext) async throws {
        for deed in try await context.people().signOut(people, because: reason, in: context) {
            let ended = deed.sessions.map { $0 == 1 ? "is signed out: 1 session" : "is signed out: \($0) sessions" }
            try await print(deed, as: format, on: context.console) { [$0.line(ended ?? "is signed out")] }
        }
    }
}

/// Makes a code by which a person sets a new password, and prints it or sends it to the person's address.
public struct MakeResetCode: OperatorCommand, PrintingCommand {
    package typealias Entry = PersonDeed
    public static let name = "people reset-code"
    public static let role = OperatorRole.moderate

    var person: NamedPerson
    var isSent: Bool
    var format: ListFormat

    public init(_ person: NamedPerson, isSent: Bool, format: ListFormat) {
        self.person = person
        self.isSent = isSent
        self.format = format
    }

    public func run(in context: OperatorContext) async throws {
        let deed = try await context.people().makeReset(of: person, isSent: isSent, in: context)
        try await print(deed, as: format, on: context.console) { deed in
            [deed.code ?? deed.line("gets an e-mail to \(deed.email?.quoted ?? "")")]
        }
    }
}

/// Suspends people.
public struct SuspendPeople: OperatorCommand, PrintingCommand {
    package typealias Entry = PersonDeed
    public static let name = "people suspend"
    public static let role = OperatorRole.moderate

    var people: [NamedPerson]
    /// The end in milliseconds since 1970; nil for none.
    var until: Int64?
    var reason: String
    var format: ListFormat

    public init(_ people: [NamedPerson], until: Date?, because reason: String, format: ListFormat) {
        self.people = people
        self.until = until.map { Int64($0.timeIntervalSince1970 * 1000) }
        self.reason = reason
        self.format = format
    }

    public func run(in context: OperatorContext) async throws {
        for deed in try await context.people().suspend(people, until: until, because: reason, in: context) {
            let end = deed.suspension?.until.map { " until \($0)" } ?? ""
            try await print(deed, as: format, on: context.console) { [$0.line("is suspended\(end)")] }
        }
    }
}

/// Lifts the suspension of people.
public struct RestorePeople: OperatorCommand, PrintingCommand {
    package typealias Entry = PersonDeed
    public static let name = "people restore"
    public static let role = OperatorRole.moderate

    var people: [NamedPerson]
    var reason: String
    var format: ListFormat

    public init(_ people: [NamedPerson], because reason: String, format: ListFormat) {
        self.people = people
        self.reason = reason
        self.format = format
    }

    public func run(in context: OperatorContext) async throws {
        for deed in try await context.people().restore(people, because: reason, in: context) {
            try await print(deed, as: format, on: context.console) { [$0.line("is restored")] }
        }
    }
}

/// Writes all that the server keeps of a person to standard output, as a ZIP file.
public struct ExportPerson: OperatorCommand {
    public static let name = "people export"
    public static let role = OperatorRole.all

    var person: NamedPerson
    var reason: String

    public init(_ person: NamedPerson, because reason: String) {
        self.person = person
        self.reason = reason
    }

    public func run(in context: OperatorContext) async throws {
        try await context.people().export(person, because: reason, in: context)
    }
}

/// Deletes people.
public struct DeletePeople: OperatorCommand, PrintingCommand {
    package typealias Entry = PersonDeed
    public static let name = "people delete"
    public static let role = OperatorRole.all

    var people: [NamedPerson]
    var reason: String
    var format: ListFormat

    public init(_ people: [NamedPerson], because reason: String, format: ListFormat) {
        self.people = people
        self.reason = reason
        self.format = format
    }

    public func run(in context: OperatorContext) async throws {
        for deed in try await context.people().delete(people, because: reason, in: context) {
            try await print(deed, as: format, on: context.console) { [$0.line("is deleted")] }
        }
    }
}
