import Contract
import ContractServer
import Database
import Identity
import NIOConcurrencyHelpers

/// Judges passwords, at a sign-in and wherever one is asked for again, within the limits on guessing.
///
/// An attempt counts before it is judged. Only a password that was looked at and is wrong stays counted: one that is
/// right, and one that could not be judged (the queue is full, the database is away, the client has gone), is given back.
public struct PasswordGate: Sendable {
    /// An account whose password is to be judged.
    public struct Candidate<Account: Sendable>: Sendable {
        let account: Account?
        let name: String
        let password: String?

        /// - Parameters:
        ///   - account: Nil when there is none. The same work is then done, so that the time does not tell.
        ///   - name: What attempts are counted under.
        ///   - password: What is kept of the account's.
        public init(_ account: Account?, countedAs name: String, password: String?) {
            self.account = account
            self.name = name
            self.password = password
        }
    }

    /// An attempt whose password was right.
    public final class Admission: Sendable {
        private let attempt: Attempts.SignIn
        private let attempts: Attempts
        fileprivate let isSettled = NIOLockedValueBox(false)

        fileprivate init(_ attempt: Attempts.SignIn, _ attempts: Attempts) {
            self.attempt = attempt
            self.attempts = attempts
        }

        /// Makes the attempt one that does not count, if the transaction commits.
        ///
        /// - Parameter isSignIn: Whether the address is known to the account from now on.
        public func settle(isSignIn: Bool = true, at now: Int64, in db: Session) throws {
            try attempts.giveBack(attempt, in: db)
            if isSignIn { try attempts.welcome(attempt.address, to: attempt.account, at: now, in: db) }
            db.afterCommit { [isSettled] in isSettled.withLockedValue { $0 = true } }
        }
    }

    /// What could not be given back when it should have been: until the next attempt.
    private final class Debts: Sendable {
        /// More than this many attempts are not under way at once.
        private static let limit = 10_000
        private let attempts = NIOLockedValueBox<[Attempts.SignIn]>([])

        func add(_ more: [Attempts.SignIn]) {
            attempts.withLockedValue { $0 = ($0 + more).suffix(Self.limit) }
        }

        func take() -> [Attempts.SignIn] {
            attempts.withLockedValue { attempts in
                defer { attempts = [] }
                return attempts
            }
        }
    }

    private let database: Database
    private let passwords: Passwords
    private let attempts: Attempts
    private let debts = Debts()

    public init(database: Database, passwords: Passwords, attempts: Attempts) {
        self.database = database
        self.passwords = passwords
        self.attempts = attempts
    }

    /// Judges a password, and goes on if it is right.
    ///
    /// - Parameters:
    ///   - refusal: What a wrong password is answered, and one of no account.
    ///   - find: Looks the account up. May be run again.
    ///   - proceed: Does what the password is for. It settles the admission in the transaction that does so.
    /// - Throws: 429 with `Retry-After`; the refusal; what `find` and `proceed` throw.
    public func judge<Account: Sendable, Output: Sendable>(
        _ password: String, from address: ClientAddress, at now: Int64, refusal: Problem,
        find: @escaping @Sendable (Session) throws -> Candidate<Account>,
        proceed: (Account, Admission) async throws -> Output
    ) async throws -> Output {
        await settleDebts()
        // Looked up and counted in one go; the password is looked at outside, since it takes long.
        let (candidate, attempt) = try await database.write { [attempts] db in
            let candidate = try find(db)
            return (candidate, try attempts.begin(account: candidate.name, from: address, at: now, in: db))
        }
        let admission = Admission(attempt, attempts)
        var isWrong = false
        do {
            let isRight = try await passwords.verify(
                password, against: candidate.account == nil ? nil : candidate.password,
                for: .init(address: address.network, isKnown: attempt.isFamiliar))
            guard isRight, let account = candidate.account else {
                isWrong = true
                throw refusal
            }
            return try await proceed(account, admission)
        } catch {
            if !isWrong, !admission.isSettled.withLockedValue({ $0 }) { await giveBack([attempt]) }
            throw error
        }
    }

    /// Hashes a new password, in the turn of the address that asks for it.
    public func hash(_ password: String, from address: ClientAddress) async throws -> String {
        try await passwords.hash(password, for: .init(address: address.network))
    }

    /// Not cancelled along with the request, whose client may be gone.
    private func giveBack(_ owed: [Attempts.SignIn]) async {
        let isDone = await Task { [database, attempts] in
            do {
                try await database.write { db in for attempt in owed { try attempts.giveBack(attempt, in: db) } }
                return true
            } catch {
                return false
            }
        }.value
        if !isDone { debts.add(owed) }
    }

    private func settleDebts() async {
        let owed = debts.take()
        if !owed.isEmpty { await giveBack(owed) }
    }
}
