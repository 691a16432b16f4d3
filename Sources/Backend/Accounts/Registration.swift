import Contract
import ContractServer
import Database
import HTTPTypes
import Identity

/// How people come to an account of an API, for the commands that open and close its door (`concord registration`).
public enum RegistrationKind: Sendable {
    /// The operator makes the accounts.
    case byOperator
    /// The first token of an issuer makes an account. There is no request that could have a code.
    case byToken
    /// People register by themselves.
    case byRequest
}

/// Whether people may register.
public enum RegistrationState: String, Codable, Sendable, CaseIterable {
    case open
    /// Only those who have a code (``InvitationCodes``).
    case invite
    case closed
}

/// The fields of a registration that are not the account's own.
public struct Applicant: Sendable {
    var email: String?
    var acceptedTerms: String?
    var invitationCode: String?

    /// - Parameters:
    ///   - email: The address, as it was sent.
    ///   - acceptedTerms: The version of the terms that the person accepts (``Contract/About/version``).
    public init(email: String? = nil, acceptedTerms: String? = nil, invitationCode: String? = nil) {
        self.email = email
        self.acceptedTerms = acceptedTerms
        self.invitationCode = invitationCode
    }
}

/// The door of an API: who may register, as the operator has decided while the server runs, and what a person must accept.
///
/// The decisions are in the API's database, and each registration reads them: all nodes follow at once.
public struct Registration: Sendable {
    /// The refusals.
    public static let closed = Problem(.forbidden, "Registration is closed")
    public static let needsCode = Problem(.forbidden, "Registration needs an invitation code")
    public static let wrongCode = Problem(.forbidden, "Invitation code is not valid")

    private let requiredTerms: String?
    private let termsRefusal: @Sendable (String) -> Problem

    /// - Parameters:
    ///   - requiredTerms: The version of the terms that a person who registers must accept; nil for any or none.
    ///   - termsRefusal: Makes the refusal of one who has not, from its sentence.
    public init(
        requiredTerms: String?,
        termsRefusal: @escaping @Sendable (String) -> Problem = { Problem(.badRequest, $0) }
    ) {
        self.requiredTerms = requiredTerms
        self.termsRefusal = termsRefusal
    }

    /// The statements that create the tables, for a step of an API's schema.
    public static let tables =
        [
            // The row `registration` says whether people may register; without it they may.
            "CREATE TABLE doors (name {KEY} PRIMARY KEY, state TEXT NOT NULL)"
        ] + InvitationCodes.tables + Bars.tables

    /// The statement that adds the column for the terms that a person has accepted to a table of accounts.
    public static func termsColumn(of table: String) -> String { "ALTER TABLE \(table) ADD COLUMN accepted_terms TEXT" }

    /// The times of the tables.
    public static let times = InvitationCodes.times

    /// Deletes codes that have expired.
    public static func sweep(at now: Int64, in db: Session) throws { try InvitationCodes.sweep(at: now, in: db) }

    static func state(in db: Session) throws -> RegistrationState {
        let state: String? = try db.value("SELECT state FROM doors WHERE name = \("registration")")
        return state.flatMap(RegistrationState.init(rawValue:)) ?? .open
    }

    static func set(_ state: RegistrationState, in db: Session) throws {
        try db.run(
            """
            INSERT INTO doors (name, state) VALUES (\("registration"), \(state.rawValue))
            ON CONFLICT (name) DO UPDATE SET state = excluded.state
            """)
    }

    /// Refuses a person whose account would be made by an issuer's token.
    ///
    /// - Throws: A `Problem` with 403.
    public static func requireOpen(for email: String?, from address: ClientAddress, in db: Session) throws {
        try Bars.requireNone(against: email, from: address, in: db)
        guard try state(in: db) == .open else { throw closed }
    }

    /// Looks whether a person may register, before the work of hashing a password. A code that is wrong is counted.
    ///
    /// - Returns: The refusal. It is not thrown, because what was counted must stay.
    /// - Throws: A `Problem` with 429 and `Retry-After`.
    func refusal(
        of applicant: Applicant, from address: ClientAddress, _ throttle: SignInThrottle, at now: Int64, in db: Session
    ) throws -> Problem? {
        do {
            try Bars.requireNone(against: applicant.email, from: address, in: db)
        } catch let problem as Problem {
            return problem
        }
        switch try Self.state(in: db) {
        case .open: break
        case .closed: return Self.closed
        case .invite:
            guard let code = applicant.invitationCode else { return Self.needsCode }
            let guess = try throttle.countCode(from: address, at: now, in: db)
            guard try InvitationCodes.isValid(code, at: now, in: db) else { return Self.wrongCode }
            try throttle.refund(guess, in: db)
        }
        if let requiredTerms, applicant.acceptedTerms != requiredTerms {
            return termsRefusal("The terms of version \(requiredTerms) must be accepted")
        }
        return nil
    }

    /// Lets a person in, in the transaction that makes the account. A code is used up with it, or not at all.
    ///
    /// - Throws: A `Problem` with 403 when the operator has closed the door in the meantime, or others have used up the
    ///   code.
    func admit(_ applicant: Applicant, at now: Int64, in db: Session) throws {
        switch try Self.state(in: db) {
        case .open: break
        case .closed: throw Self.closed
        case .invite:
            guard let code = applicant.invitationCode else { throw Self.needsCode }
            guard try InvitationCodes.use(code, at: now, in: db) else { throw Self.wrongCode }
        }
    }
}

/// The codes with which people register while the door is open to those who are invited. They are random and stored as
/// hashes.
enum InvitationCodes {
    /// The most registrations with one code.
    static let mostUses = 100_000
    /// The most codes of one API.
    static let most = 1000
    /// The longest time in milliseconds for which a code is valid that expires.
    static let longest: Int64 = 366 * 24 * AttemptCounters.hour

    static let tables = [
        """
        CREATE TABLE invitation_codes (
            id {ID}, hash {BYTES} NOT NULL UNIQUE, uses BIGINT NOT NULL, used BIGINT NOT NULL, expires_at BIGINT,
            created_at BIGINT NOT NULL)
        """
    ]

    static let times = [StoredTime("invitation_codes", "expires_at", window: longest)]

    /// A code as an operator sees it: what was once printed is not kept.
    struct Entry: Sendable {
        let id: Int64
        let uses: Int64
        let used: Int64
        let expiresAt: Int64?
        let createdAt: Int64
    }

    static func insert(_ code: String, uses: Int, expiresAt: Int64?, at now: Int64, in db: Session) throws -> Int {
        let id: Int? = try db.insert(
            """
            INSERT INTO invitation_codes (hash, uses, used, expires_at, created_at)
            VALUES (\(TypedCode.digest(of: code)), \(uses), 0, \(expiresAt), \(now))
            """)
        guard let id else { throw OperatorError("The code could not be made: try again") }
        return id
    }

    static func count(in db: Session) throws -> Int { try db.value("SELECT COUNT(*) FROM invitation_codes") ?? 0 }

    static func all(in db: Session) throws -> [Entry] {
        try db.all(
            """
            SELECT id, uses, used, expires_at, created_at FROM invitation_codes ORDER BY id LIMIT \(most)
            """
        ) {
            Entry(
                id: try $0.get(0), uses: try $0.get(1), used: try $0.get(2), expiresAt: try $0.get(3),
                createdAt: try $0.get(4))
        }
    }

    /// - Returns: Whether there was such a code.
    static func delete(_ id: Int64, in db: Session) throws -> Bool {
        try db.run("DELETE FROM invitation_codes WHERE id = \(id)") > 0
    }

    private static func valid(_ code: String, at now: Int64) -> SQL {
        "hash = \(TypedCode.digest(of: code)) AND used < uses AND (expires_at IS NULL OR expires_at > \(now))"
    }

    static func isValid(_ code: String, at now: Int64, in db: Session) throws -> Bool {
        try db.exists("SELECT 1 FROM invitation_codes WHERE \(valid(code, at: now))")
    }

    /// Counts a use. One statement checks and counts, so that two registrations cannot both take the last use.
    ///
    /// - Returns: Whether the code is valid.
    static func use(_ code: String, at now: Int64, in db: Session) throws -> Bool {
        try db.run("UPDATE invitation_codes SET used = used + 1 WHERE \(valid(code, at: now))") > 0
    }

    static func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM invitation_codes WHERE expires_at <= \(now)")
    }
}
