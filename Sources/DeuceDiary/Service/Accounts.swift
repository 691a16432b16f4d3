import Backend
import Contract
import Database
import DeuceDiaryAPI
import HTTPTypes

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
    private let known: RecentlyTrue<DeuceDiary.User.ID>

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

    /// The caller behind `Authorization: Bearer …`; the scheme's case does not matter.
    func caller(_ headers: HTTPFields) async throws -> Caller {
        guard let header = headers[.authorization] else { throw Self.unauthorized }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.first?.lowercased() == "bearer" else { throw Self.unauthorized }
        return try await caller(parts.count > 1 ? parts[1].trimmingPrefix(while: { $0 == " " }) : "")
    }

    /// The caller behind a token.
    func caller(_ token: some StringProtocol) async throws -> Caller {
        guard let claims = try await read(String(token))?.withoutBlanks, 1...255 ~= claims.subject.length,
            !claims.subject.containsNUL
        else { throw Self.invalidToken }
        let caller = Caller(user: .init(claims.subject), claims: claims)
        _ = try await known.check(caller.user) {
            if try await database.read({ try Users.exists(caller.user, in: $0) }) { return true }
            let now = time.milliseconds()
            try await database.write { [makeID] db in
                if try Users.insert(claims, at: now, in: db) {
                    try Groups.insertSolo(for: caller.user, id: .init(makeID()), at: now, in: db)
                }
            }
            return true
        }
        return caller
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
