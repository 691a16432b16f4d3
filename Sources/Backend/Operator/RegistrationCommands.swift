import Contract
import ContractServer
import Database
import Foundation

extension ServerContext {
    /// Runs a closure with the database of each API that an operator has named, or of all with a registration if none is
    /// named.
    ///
    /// - Throws: ``OperatorError`` for an API without a registration or without a database, before anything is done.
    fileprivate func forEach(
        of names: [String], _ body: @Sendable (any HostedAPI, Database) async throws -> Void
    ) async throws {
        var chosen: [any HostedAPI] = []
        for api in source.known where names.isEmpty || names.contains(api.name) {
            if api.registrationKind == .byOperator {
                if names.isEmpty { continue }
                throw OperatorError("\(api.title) has no registration: the operator makes its accounts")
            }
            if try await source.openDatabase(of: api, { _ in true }) == nil {
                if names.isEmpty { continue }
                throw OperatorError("\(source.settings.folder) has no \(api.title) database")
            }
            chosen.append(api)
        }
        if chosen.isEmpty {
            throw OperatorError("\(source.settings.folder) has no database yet: start the server once")
        }
        for api in chosen { _ = try await source.openDatabase(of: api) { try await body(api, $0) } }
    }

    /// Prints an entry of a list.
    fileprivate func print<Entry: Encodable>(_ entry: Entry, as format: ListFormat, _ text: String) async throws {
        try await print(format == .json ? try JSONLine.encode(entry) : text)
    }
}

// MARK: The door

/// Opens or closes the registration of APIs.
public struct SetRegistration: ServerCommand {
    public static let name = "registration set"
    public static let role = OperatorRole.moderate

    private var state: RegistrationState
    private var apis: [String]

    /// - Parameter apis: The names of the APIs; none for all with a registration.
    public init(_ state: RegistrationState, of apis: [String]) {
        self.state = state
        self.apis = apis
    }

    public func run(in context: ServerContext) async throws {
        let cannot = context.source.known.filter { $0.registrationKind == .byToken && state == .invite }
        if let api = cannot.first(where: { apis.contains($0.name) }) {
            throw OperatorError(
                "\(api.title) has no invitation codes, because its users sign in elsewhere: it can be open or closed")
        }
        try await context.forEach(of: apis) { api, database in
            if cannot.contains(where: { $0.name == api.name }) {
                return try await context.print("\(api.name)\tunchanged: it has no invitation codes")
            }
            let (now, audit) = (TimeSource.system.milliseconds(), context.audit)
            try await database.write { db in
                try Registration.set(state, in: db)
                try audit.record(state.rawValue, at: now, in: db)
            }
            try await context.print("\(api.name)\t\(state.rawValue)")
        }
    }
}

/// Prints whether people may register.
public struct ShowRegistration: ServerCommand {
    public static let name = "registration show"
    public static let role = OperatorRole.moderate

    private var apis: [String]
    private var format: ListFormat

    /// - Parameter apis: The names of the APIs; none for all with a registration.
    public init(of apis: [String], format: ListFormat) {
        self.apis = apis
        self.format = format
    }

    private struct Line: Encodable {
        let api: String
        let state: RegistrationState
    }

    public func run(in context: ServerContext) async throws {
        try await context.forEach(of: apis) { api, database in
            let state = try await database.read { try Registration.state(in: $0) }
            try await context.print(
                Line(api: api.name, state: state), as: format, "\(api.name)\t\(state.rawValue)")
        }
    }
}

// MARK: Invitation codes

/// Makes a code with which people register, and prints it.
public struct MakeInvitationCode: ServerCommand {
    public static let name = "registration code"
    public static let role = OperatorRole.moderate

    private var api: String
    private var uses: Int
    private var expiresAt: Int64?
    private var format: ListFormat

    /// - Parameters:
    ///   - uses: The number of registrations with it.
    ///   - expires: The time at which it ends; nil for none.
    public init(for api: String, uses: Int, expires: Date?, format: ListFormat) {
        self.api = api
        self.uses = uses
        expiresAt = expires.map { Int64($0.timeIntervalSince1970 * 1000) }
        self.format = format
    }

    private struct Line: Encodable {
        let api: String
        let id: Int
        let code: String
        let uses: Int
        let expiresAt: PersonRecord.Moment?

        enum CodingKeys: String, CodingKey {
            case api, id, code, uses
            case expiresAt = "expires_at"
        }
    }

    public func run(in context: ServerContext) async throws {
        guard 1...InvitationCodes.mostUses ~= uses else {
            throw OperatorError("--uses must be 1 to \(InvitationCodes.mostUses)")
        }
        let now = TimeSource.system.milliseconds()
        if let expiresAt {
            guard expiresAt > now else { throw OperatorError("--expires is a time that has passed") }
            guard expiresAt <= now + InvitationCodes.longest else {
                throw OperatorError("--expires is more than 366 days ahead")
            }
        }
        try await context.forEach(of: [api]) { api, database in
            guard api.registrationKind == .byRequest else {
                throw OperatorError("\(api.title) has no invitation codes, because its users sign in elsewhere")
            }
            let (code, audit) = (TypedCode.make(), context.audit)
            let id = try await database.write { db in
                try InvitationCodes.sweep(at: now, in: db)
                guard try InvitationCodes.count(in: db) < InvitationCodes.most else {
                    throw OperatorError("There are \(InvitationCodes.most) codes: revoke some first")
                }
                let id = try InvitationCodes.insert(code, uses: uses, expiresAt: expiresAt, at: now, in: db)
                try audit.record("code \(id), uses: \(uses)", at: now, in: db)
                return id
            }
            let line = Line(
                api: api.name, id: id, code: code, uses: uses, expiresAt: expiresAt.map(PersonRecord.Moment.init))
            try await context.print(line, as: format, code)
        }
    }
}

/// Prints the invitation codes that there are, without what is typed.
public struct ListInvitationCodes: ServerCommand {
    public static let name = "registration list"
    public static let role = OperatorRole.moderate

    private var apis: [String]
    private var format: ListFormat

    /// - Parameter apis: The names of the APIs; none for all with a registration.
    public init(of apis: [String], format: ListFormat) {
        self.apis = apis
        self.format = format
    }

    private struct Line: Encodable, Sendable {
        let api: String
        let id: Int64
        let uses: Int64
        let used: Int64
        let expiresAt: PersonRecord.Moment?
        let createdAt: PersonRecord.Moment
        let isExpired: Bool

        init(_ entry: InvitationCodes.Entry, of api: String, at now: Int64) {
            self.api = api
            (id, uses, used) = (entry.id, entry.uses, entry.used)
            expiresAt = entry.expiresAt.map(PersonRecord.Moment.init)
            createdAt = PersonRecord.Moment(entry.createdAt)
            isExpired = entry.expiresAt.map { $0 <= now } ?? false
        }

        enum CodingKeys: String, CodingKey {
            case api, id, uses, used
            case expiresAt = "expires_at"
            case createdAt = "created_at"
            case isExpired = "expired"
        }

        var text: String {
            let end = expiresAt.map { "\t\(isExpired ? "expired" : "until") \($0)" } ?? ""
            return "\(api)\t\(id)\tused \(used) of \(uses)\tmade \(createdAt)\(end)"
        }
    }

    public func run(in context: ServerContext) async throws {
        let now = TimeSource.system.milliseconds()
        let total = EntryCount()
        try await context.forEach(of: apis) { api, database in
            let lines = try await database.read { db in
                try InvitationCodes.all(in: db).map { Line($0, of: api.name, at: now) }
            }
            for line in lines { try await context.print(line, as: format, line.text) }
            await total.add(lines.count)
        }
        if await total.count == 0, format == .text { try await context.print("No codes") }
    }
}

/// Counts the entries of the lists of several APIs.
private actor EntryCount {
    private(set) var count = 0
    func add(_ more: Int) { count += more }
}

/// Ends invitation codes.
public struct RevokeInvitationCodes: ServerCommand {
    public static let name = "registration revoke"
    public static let role = OperatorRole.moderate

    private var api: String
    private var ids: [Int64]

    public init(_ ids: [Int64], of api: String) {
        self.api = api
        self.ids = ids
    }

    public func run(in context: ServerContext) async throws {
        try await context.forEach(of: [api]) { api, database in
            let (now, audit) = (TimeSource.system.milliseconds(), context.audit)
            try await database.write { db in
                for id in ids {
                    guard try InvitationCodes.delete(id, in: db) else {
                        throw OperatorError("There is no code \(id) in \(api.title). Nothing was done")
                    }
                    try audit.record("code \(id)", at: now, in: db)
                }
            }
            for id in ids { try await context.print("\(api.name)\t\(id)\tis revoked") }
        }
    }
}

// MARK: Bars

/// Bars e-mail addresses, their domains or networks.
public struct AddBars: ServerCommand {
    public static let name = "bar add"
    public static let role = OperatorRole.moderate

    private var kind: Bars.Kind
    private var values: [String]
    private var reason: String
    private var apis: [String]

    /// - Parameter apis: The names of the APIs; none for all with a registration.
    public init(_ kind: Bars.Kind, _ values: [String], because reason: String, in apis: [String]) {
        self.kind = kind
        self.values = values
        self.reason = reason
        self.apis = apis
    }

    public func run(in context: ServerContext) async throws {
        let values = try values.map { try Bars.value(kind, of: $0) }
        if let twice = values.first(where: { value in values.filter { $0 == value }.count > 1 }) {
            throw OperatorError("\(twice) is there twice. Nothing was done")
        }
        let added = EntryCount()
        try await context.forEach(of: apis) { api, database in
            let (now, audit) = (TimeSource.system.milliseconds(), context.audit)
            let new = try await database.write { db in
                guard try Bars.count(in: db) + values.count <= Bars.most else {
                    throw OperatorError("\(api.title) would have more than \(Bars.most) bars. Remove some first")
                }
                return try values.filter { value in
                    guard try Bars.add(value, kind, because: reason, at: now, in: db) else { return false }
                    try audit.record("\(kind.rawValue) \(value): \(reason)", at: now, in: db)
                    return true
                }
            }
            await added.add(new.count)
            for value in values {
                let words = new.contains(value) ? "is barred" : "was barred already"
                try await context.print("\(api.name)\t\(kind.rawValue)\t\(value.quoted)\t\(words)")
            }
        }
        if await added.count == 0 { throw OperatorError("Nothing was done: all of it was barred already") }
    }
}

/// Lifts bars.
public struct RemoveBars: ServerCommand {
    public static let name = "bar remove"
    public static let role = OperatorRole.moderate

    private var kind: Bars.Kind
    private var values: [String]
    private var reason: String
    private var apis: [String]

    /// - Parameter apis: The names of the APIs; none for all with a registration.
    public init(_ kind: Bars.Kind, _ values: [String], because reason: String, in apis: [String]) {
        self.kind = kind
        self.values = values
        self.reason = reason
        self.apis = apis
    }

    public func run(in context: ServerContext) async throws {
        let values = try values.map { try Bars.value(kind, of: $0) }
        let removed = EntryCount()
        try await context.forEach(of: apis) { api, database in
            let (now, audit) = (TimeSource.system.milliseconds(), context.audit)
            let gone = try await database.write { db in
                try values.filter { value in
                    guard try Bars.remove(value, in: db) else { return false }
                    let why = reason.isEmpty ? "" : ": \(reason)"
                    try audit.record("\(kind.rawValue) \(value)\(why)", at: now, in: db)
                    return true
                }
            }
            await removed.add(gone.count)
            for value in gone {
                try await context.print("\(api.name)\t\(kind.rawValue)\t\(value.quoted)\tis no longer barred")
            }
        }
        if await removed.count == 0 { throw OperatorError("Nothing was done: none of it is barred") }
    }
}

/// Prints what is barred.
public struct ListBars: ServerCommand {
    public static let name = "bar list"
    public static let role = OperatorRole.moderate

    private var apis: [String]
    private var format: ListFormat

    /// - Parameter apis: The names of the APIs; none for all with a registration.
    public init(of apis: [String], format: ListFormat) {
        self.apis = apis
        self.format = format
    }

    private struct Line: Encodable, Sendable {
        let api: String
        let kind: String
        let value: String
        let reason: String
        let createdAt: PersonRecord.Moment

        init(_ entry: Bars.Entry, of api: String) {
            self.api = api
            (kind, value, reason) = (entry.kind, entry.value, entry.reason)
            createdAt = PersonRecord.Moment(entry.createdAt)
        }

        enum CodingKeys: String, CodingKey {
            case api, kind, value, reason
            case createdAt = "created_at"
        }

        var text: String { "\(api)\t\(kind)\t\(value.quoted)\tsince \(createdAt)\t\(reason.quoted)" }
    }

    public func run(in context: ServerContext) async throws {
        let total = EntryCount()
        try await context.forEach(of: apis) { api, database in
            let lines = try await database.read { db in try Bars.all(in: db).map { Line($0, of: api.name) } }
            for line in lines { try await context.print(line, as: format, line.text) }
            await total.add(lines.count)
        }
        if await total.count == 0, format == .text { try await context.print("Nothing is barred") }
    }
}
