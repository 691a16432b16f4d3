import Backend
import Contract
import ContractServer
import Database
import DeuceDiaryAPI
import HTTPTypes
import Identity

/// The account behind a bearer token, and the token's claims.
public struct Caller: Sendable {
    public let user: DeuceDiary.User.ID
    let claims: BearerClaims
}

/// Finds the accounts behind the bearer tokens of issuers. A new user gets an account and the group "Solo Deuces".
struct IssuerAccounts: Sendable {
    static let unauthorized = Problem(.unauthorized, "Unauthorized")
    static let invalidToken = Problem(.unauthorized, "Invalid token")

    private let database: Database
    private let read: DeuceDiaryService.TokenReader
    private let time: TimeSource
    private let makeID: @Sendable () -> String
    private let known: TTLCache<Bearer, Bool>
    /// For recently deleted accounts, the Unix second up to which their tokens are refused. The database keeps it for
    /// good, and is queried within a second.
    private let ended = BoundedCache<DeuceDiary.User.ID, Int64>(capacity: 10_000)
    /// The time in milliseconds at which this node received a suspension, for accounts that were suspended recently.
    private let suspended = BoundedCache<DeuceDiary.User.ID, Int64>(capacity: 10_000)

    /// The tokens of a user that were issued in one second, which are all before or all after a deletion.
    private struct Bearer: Hashable {
        let user: DeuceDiary.User.ID
        let issuedAt: Int64
    }

    init(
        database: Database, read: @escaping DeuceDiaryService.TokenReader, time: TimeSource,
        makeID: @escaping @Sendable () -> String
    ) {
        self.database = database
        self.read = read
        self.time = time
        self.makeID = makeID
        known = TTLCache("tokens", time: time)
    }

    /// Returns the caller behind a token.
    ///
    /// - Throws: A `Problem` with 401; with 403 for a user who is suspended, and for a new one who may not register.
    func caller(_ token: String, from address: ClientAddress) async throws -> Caller {
        guard let claims = try await read(token)?.withoutBlanks, 1...255 ~= claims.subject.length,
            !claims.subject.containsNUL
        else { throw Self.invalidToken }
        let caller = Caller(user: .init(claims.subject), claims: claims)
        let bearer = Bearer(user: caller.user, issuedAt: claims.issuedAt)
        // The cached account may be older than the suspension.
        if wasJustSuspended(caller.user) { known.remove(bearer) }
        let now = time.milliseconds()
        _ = try await known.check(bearer) {
            let isKnown = try await database.read { db in
                try Users.requireToken(claims, in: db)
                try Users.requireUsable(caller.user, at: now, in: db)
                if try Users.exists(caller.user, in: db) { return true }
                try Registration.requireOpen(for: claims.email, from: address, in: db)
                return false
            }
            if !isKnown { try await begin(claims) }
            return true
        }
        if isDeleted(caller) { throw Self.unauthorized }
        return caller
    }

    /// Creates an account and its first group.
    private func begin(_ claims: BearerClaims) async throws {
        let now = time.milliseconds()
        try await database.write { [makeID] db in
            guard try Users.insert(claims, at: now, in: db) else { return }
            // This is checked again, because a deletion that was in progress has ended by now.
            try Users.requireToken(claims, in: db)
            try Groups.insertSolo(for: .init(claims.subject), id: .init(makeID()), at: now, in: db)
        }
    }

    /// Refuses the tokens of a deleted account that were issued up to a time, in Unix seconds.
    func refuseTokens(of user: DeuceDiary.User.ID, issuedUntil: Int64) {
        ended.update(user) { $0 = max($0 ?? issuedUntil, issuedUntil) }
    }

    /// Makes requests of a user ask the database again, for as long as this node may know the user from before.
    func noteSuspension(of user: DeuceDiary.User.ID, at now: Int64) { suspended.insert(now, for: user) }

    /// Returns whether the user was suspended within the last two seconds.
    func wasJustSuspended(_ user: DeuceDiary.User.ID) -> Bool {
        suspended.value(for: user).map { abs(time.milliseconds() - $0) < 2000 } ?? false
    }

    /// Returns whether the caller's account was deleted recently.
    func isDeleted(_ caller: Caller) -> Bool {
        guard let until = ended.value(for: caller.user) else { return false }
        // A deletion while the clock was ahead is decided by the database, which a sweep corrects.
        return caller.claims.issuedAt <= until && until <= time.seconds + StoredTimes.tolerance / 1000
    }
}

extension BearerClaims {
    /// The claims without those that are blank or cannot be stored; these count as absent.
    fileprivate var withoutBlanks: Self {
        func kept(_ text: String?) -> String? { text.flatMap { $0.isBlank || $0.containsNUL ? nil : $0 } }
        var copy = self
        copy.email = kept(email)
        copy.firstName = kept(firstName)
        copy.lastName = kept(lastName)
        return copy
    }
}
