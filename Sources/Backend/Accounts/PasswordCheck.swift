import Contract
import ContractServer
import CoreMetrics
import Database
import Identity
import NIOConcurrencyHelpers

/// Verifies passwords, at a sign-in and when a signed-in user is asked again, within the limits on guessing.
///
/// An attempt counts before the password is verified. Only an attempt with a wrong password stays counted. The attempt
/// is refunded when the password was right or could not be verified, because the queue is full, the database cannot be
/// reached, or the client has disconnected.
public struct PasswordCheck: Sendable {
    /// An account whose password is to be verified.
    public struct Candidate<Account: Sendable>: Sendable {
        let account: Account?
        let name: String
        let password: String?

        /// Makes a candidate.
        ///
        /// - Parameters:
        ///   - account: The account; nil when there is none. The same work is then done, so that the time does not show
        ///     that.
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
        fileprivate let isCompleted = NIOLockedValueBox(false)

        fileprivate init(_ attempt: SignInThrottle.Attempt, _ throttle: SignInThrottle) {
            self.attempt = attempt
            self.throttle = throttle
        }

        /// Refunds the attempt, if the transaction commits, so that it does not count.
        ///
        /// - Parameter isSignIn: Whether the account remembers the client's address from now on.
        public func complete(isSignIn: Bool = true, at now: Int64, in db: Session) throws {
            try throttle.refund(attempt, in: db)
            if isSignIn { try throttle.remember(attempt.address, of: attempt.account, at: now, in: db) }
            db.afterCommit { [isCompleted] in isCompleted.withLockedValue { $0 = true } }
        }
    }

    /// The attempts whose refund has failed. The next attempt tries to refund them again.
    private final class FailedRefunds: Sendable {
        /// The most attempts that are kept. There are never as many at the same time.
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
    private let failedRefunds = FailedRefunds()
    private let refusals = Counter(label: "concord_sign_in_refusals_total")

    public init(database: Database, passwords: Passwords, throttle: SignInThrottle) {
        self.database = database
        self.passwords = passwords
        self.throttle = throttle
    }

    /// Verifies a password, and runs an action if it is right.
    ///
    /// - Parameters:
    ///   - refusal: The error for a wrong password or an unknown account.
    ///   - find: Finds the account. It may run more than once.
    ///   - proceed: Runs the action, and completes the attempt in the same transaction.
    /// - Throws: A `Problem` with 429 and `Retry-After`; the refusal; the errors of `find` and `proceed`.
    public func verify<Account: Sendable, Output: Sendable>(
        _ password: String, from address: ClientAddress, at now: Int64, refusal: Problem,
        find: @escaping @Sendable (Session) throws -> Candidate<Account>,
        proceed: (Account, Verified) async throws -> Output
    ) async throws -> Output {
        await retryRefunds()
        // The account is found and the attempt counted in one transaction. The password is verified outside, because
        // that takes long.
        let candidate: Candidate<Account>
        let attempt: SignInThrottle.Attempt
        do {
            (candidate, attempt) = try await database.write { [throttle] db in
                let candidate = try find(db)
                return (candidate, try throttle.count(signInTo: candidate.name, from: address, at: now, in: db))
            }
        } catch let problem as Problem where problem.status == .tooManyRequests {
            refusals.increment()
            throw problem
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
            let output = try await proceed(account, verified)
            // The action was done under an idempotency key before, so that this transaction has not completed the attempt.
            if !verified.isCompleted.withLockedValue({ $0 }) { await refund([attempt]) }
            return output
        } catch {
            if !isWrong, !verified.isCompleted.withLockedValue({ $0 }) { await refund([attempt]) }
            throw error
        }
    }

    /// Hashes a new password, in the queue of the client's address.
    public func hash(_ password: String, from address: ClientAddress) async throws -> String {
        try await passwords.hash(password, for: .init(address: address.network))
    }

    /// Refunds attempts, even when the request has been cancelled because its client has disconnected.
    private func refund(_ owed: [SignInThrottle.Attempt]) async {
        let isDone = await Task { [database, throttle] in
            do {
                try await database.write { db in for attempt in owed { try throttle.refund(attempt, in: db) } }
                return true
            } catch {
                return false
            }
        }.value
        if !isDone { failedRefunds.add(owed) }
    }

    private func retryRefunds() async {
        let owed = failedRefunds.take()
        if !owed.isEmpty { await refund(owed) }
    }
}
