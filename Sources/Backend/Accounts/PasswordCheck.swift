import Contract
import ContractServer
import Database
import Identity
import NIOConcurrencyHelpers

/// Verifies passwords, at a sign-in and wherever one is asked for again, within the limits on guessing.
///
/// An attempt counts before it is checked. Only a password that was looked at and is wrong stays counted: one that is
/// right, and one that could not be checked (the queue is full, the database is away, the client has gone), is taken back.
public struct PasswordCheck: Sendable {
    /// An account whose password is to be verified.
    public struct Candidate<Account: Sendable>: Sendable {
        let account: Account?
        let name: String
        let password: String?

        /// - Parameters:
        ///   - account: Nil when there is none. The same work is then done, so that the time it takes tells nothing.
        ///   - name: The name under which attempts are counted.
        ///   - password: The account's password hash.
        public init(_ account: Account?, countedAs name: String, password: String?) {
            self.account = account
            self.name = name
            self.password = password
        }
    }

    /// An attempt whose password was right.
    public final class Verified: Sendable {
        private let attempt: SignInThrottle.Attempt
        private let throttle: SignInThrottle
        fileprivate let isSettled = NIOLockedValueBox(false)

        fileprivate init(_ attempt: SignInThrottle.Attempt, _ throttle: SignInThrottle) {
            self.attempt = attempt
            self.throttle = throttle
        }

        /// Takes the attempt back, if the transaction commits: it does not count.
        ///
        /// - Parameter isSignIn: Whether the address is known to the account from now on.
        public func settle(isSignIn: Bool = true, at now: Int64, in db: Session) throws {
            try throttle.refund(attempt, in: db)
            if isSignIn { try throttle.remember(attempt.address, of: attempt.account, at: now, in: db) }
            db.afterCommit { [isSettled] in isSettled.withLockedValue { $0 = true } }
        }
    }

    /// Attempts that could not be taken back when they should have been. The next attempt tries again.
    private final class Debts: Sendable {
        /// More than this many attempts are not under way at once.
        private static let limit = 10_000
        private let attempts = NIOLockedValueBox<[SignInThrottle.Attempt]>([])

        func add(_ more: [SignInThrottle.Attempt]) {
            attempts.withLockedValue { $0 = ($0 + more).suffix(Self.limit) }
        }

        func take() -> [SignInThrottle.Attempt] {
            attempts.withLockedValue { attempts in
                defer { attempts = [] }
                return attempts
            }
        }
    }

    private let database: Database
    private let passwords: Passwords
    private let throttle: SignInThrottle
    private let debts = Debts()

    public init(database: Database, passwords: Passwords, throttle: SignInThrottle) {
        self.database = database
        self.passwords = passwords
        self.throttle = throttle
    }

    /// Verifies a password, and goes on if it is right.
    ///
    /// - Parameters:
    ///   - refusal: The answer to a wrong password, and to one of no account.
    ///   - find: Looks the account up. May be run again.
    ///   - proceed: Does what the password is for, and settles the attempt in the transaction that does so.
    /// - Throws: 429 with `Retry-After`; the refusal; what `find` and `proceed` throw.
    public func verify<Account: Sendable, Output: Sendable>(
        _ password: String, from address: ClientAddress, at now: Int64, refusal: Problem,
        find: @escaping @Sendable (Session) throws -> Candidate<Account>,
        proceed: (Account, Verified) async throws -> Output
    ) async throws -> Output {
        await settleDebts()
        // Looked up and counted in one transaction; the password is verified outside, since that takes long.
        let (candidate, attempt) = try await database.write { [throttle] db in
            let candidate = try find(db)
            return (candidate, try throttle.count(signInTo: candidate.name, from: address, at: now, in: db))
        }
        let verified = Verified(attempt, throttle)
        var isWrong = false
        do {
            let isRight = try await passwords.verify(
                password, against: candidate.account == nil ? nil : candidate.password,
                for: .init(address: address.network, isKnown: attempt.isFamiliar))
            guard isRight, let account = candidate.account else {
                isWrong = true
                throw refusal
            }
            return try await proceed(account, verified)
        } catch {
            if !isWrong, !verified.isSettled.withLockedValue({ $0 }) { await refund([attempt]) }
            throw error
        }
    }

    /// Hashes a new password, in the queue of the address that asks for it.
    public func hash(_ password: String, from address: ClientAddress) async throws -> String {
        try await passwords.hash(password, for: .init(address: address.network))
    }

    /// Takes attempts back, even when the request has been cancelled because its client has gone.
    private func refund(_ owed: [SignInThrottle.Attempt]) async {
        let isDone = await Task { [database, throttle] in
            do {
                try await database.write { db in for attempt in owed { try throttle.refund(attempt, in: db) } }
                return true
            } catch {
                return false
            }
        }.value
        if !isDone { debts.add(owed) }
    }

    private func settleDebts() async {
        let owed = debts.take()
        if !owed.isEmpty { await refund(owed) }
    }
}
