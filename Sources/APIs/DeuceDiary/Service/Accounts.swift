import Backend
import Contract
import Database
import DeuceDiaryAPI
import HTTPTypes
import NIOConcurrencyHelpers

/// Who asks: somebody with an account, and what their token says.
public struct Caller: Sendable {
    public let user: DeuceDiary.User.ID
    let claims: DeuceDiaryService.Claims
}

/// The callers behind bearer tokens. Whoever comes for the first time gets an account and "Solo Deuces".
struct Accounts: Sendable {
    static let unauthorized = Problem(.unauthorized, "Unauthorized")
    static let invalidToken = Problem(.unauthorized, "Invalid token")

    private let database: Database
    private let read: DeuceDiaryService.TokenReader
    private let time: TimeSource
    private let makeID: @Sendable () -> String
    private let known: RecentlyTrue<Bearer>
    /// Up to when tokens were issued to those whose account was deleted lately, in Unix seconds. The database knows it for
    /// good, and is asked within a second.
    private let ended = NIOLockedValueBox<[DeuceDiary.User.ID: Int64]>([:])

    /// A user's tokens of one second, all of them before or after a deletion.
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
        known = RecentlyTrue(time: time)
    }

    /// The token in a header `Authorization: Bearer …`; nil for another scheme. The scheme's case does not matter.
    static func token(in header: String) -> String? {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.first?.lowercased() == "bearer" else { return nil }
        return parts.count > 1 ? String(parts[1].trimmingPrefix(while: { $0 == " " })) : ""
    }

    /// The caller behind a token.
    func caller(_ token: String) async throws -> Caller {
        guard let claims = try await read(token)?.withoutBlanks, 1...255 ~= claims.subject.length,
            !claims.subject.containsNUL
        else { throw Self.invalidToken }
        let caller = Caller(user: .init(claims.subject), claims: claims)
        _ = try await known.check(Bearer(user: caller.user, issuedAt: claims.issuedAt)) {
            let isKnown = try await database.read { db in
                try Users.requireToken(claims, in: db)
                return try Users.exists(caller.user, in: db)
            }
            if !isKnown { try await begin(claims) }
            return true
        }
        if isEnded(caller) { throw Self.unauthorized }
        return caller
    }

    /// Makes an account, and its first group.
    private func begin(_ claims: DeuceDiaryService.Claims) async throws {
        let now = time.milliseconds()
        try await database.write { [makeID] db in
            guard try Users.insert(claims, at: now, in: db) else { return }
            // Now that no deletion is on its way any more.
            try Users.requireToken(claims, in: db)
            try Groups.insertSolo(for: .init(claims.subject), id: .init(makeID()), at: now, in: db)
        }
    }

    /// Refuses a user's tokens that were issued up to a time, in Unix seconds: their account was deleted.
    func end(_ user: DeuceDiary.User.ID, issuedUntil: Int64) {
        ended.withLockedValue { ended in
            // Those of more than a second ago are known from the database alone.
            if ended.count >= 10_000 { ended.removeAll(keepingCapacity: true) }
            ended[user] = max(ended[user] ?? issuedUntil, issuedUntil)
        }
    }

    /// Whether the caller's account was deleted lately.
    func isEnded(_ caller: Caller) -> Bool {
        ended.withLockedValue { $0[caller.user] }.map { caller.claims.issuedAt <= $0 } ?? false
    }
}

extension DeuceDiaryService.Claims {
    /// What is blank, or cannot be kept, counts as not said.
    fileprivate var withoutBlanks: Self {
        func kept(_ text: String?) -> String? { text.flatMap { $0.isBlank || $0.containsNUL ? nil : $0 } }
        var copy = self
        copy.email = kept(email)
        copy.firstName = kept(firstName)
        copy.lastName = kept(lastName)
        return copy
    }
}
