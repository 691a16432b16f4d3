import Cores
import Crypto
import NIOCore

/// Hashes and checks passwords with scrypt (RFC 7914) on threads of its own.
///
/// A password is the UTF-8 bytes as sent, without Unicode normalisation. At the standard cost a hash takes 16 MiB and
/// some tenths of a second of one core, so the number of threads bounds both.
public struct Passwords: Sendable {
    /// The error when too many passwords wait to be hashed. The client should retry in a moment.
    public struct Overloaded: Error {
        /// The error has no details.
        public init() {}
    }

    /// The client for which a password is hashed.
    public struct Client: Sendable, Hashable {
        /// The client's address; nil for the server's own work.
        public let address: String?
        /// Whether the client has signed in to the account from this address before.
        public let isKnown: Bool

        public init(address: String?, isKnown: Bool = false) {
            self.address = address
            self.isKnown = isKnown
        }

        /// The server itself.
        public static let server = Client(address: nil)
    }

    /// Derives a key from a password, a salt, a cost and the length of the key in bytes: scrypt, or a test's
    /// replacement.
    typealias Derivation = @Sendable ([UInt8], [UInt8], Cost, Int) throws -> [UInt8]

    private static let saltLength = 16
    private static let keyLength = 32

    private let cost: Cost
    private let threads: HashingThreads
    private let derive: Derivation

    /// Makes a hasher.
    ///
    /// - Parameters:
    ///   - cost: The cost of new hashes; stored ones keep their own.
    ///   - threads: The number of hashes that run at the same time. Half of the cores leave the other half to requests
    ///     during a flood of sign-ins.
    ///   - queueLimit: The number of hashes that may wait for known clients, and for all others; beyond it
    ///     ``Overloaded`` is thrown. One address has a quarter of that at most.
    public init(cost: Cost = .standard, threads: Int = max(1, UsableCores.current.count / 2), queueLimit: Int = 128) {
        self.init(cost: cost, threads: threads, queueLimit: queueLimit) { password, salt, cost, length in
            try cost.deriveKey(from: password, salt: salt, length: length)
        }
    }

    /// The number of hashes that wait for a thread, for tests.
    package var waiting: Int { threads.waiting }

    init(cost: Cost, threads: Int, queueLimit: Int, derive: @escaping Derivation) {
        self.cost = cost
        self.threads = HashingThreads(count: threads, queueLimit: queueLimit)
        self.derive = derive
    }

    /// Hashes `password` with a random 16-byte salt, and returns a PHC string of about 90 ASCII characters:
    /// `$scrypt$ln=14,r=8,p=5$<salt>$<key>`.
    ///
    /// - Throws: ``Overloaded``.
    public func hash(_ password: String, for client: Client = .server) async throws -> String {
        let (cost, derive) = (cost, derive)
        return try await threads.run(for: client) {
            let salt = randomBytes(Self.saltLength)
            let key = try derive(Array(password.utf8), salt, cost, Self.keyLength)
            return PasswordHash(cost: cost, salt: salt, key: key).text
        }
    }

    /// Returns whether `stored` is a hash of `password`.
    ///
    /// For nil (no such user) and a string that is not a hash it returns false after the same work, so that the time of
    /// the answer does not show which user names exist.
    ///
    /// - Throws: ``Overloaded``.
    public func verify(
        _ password: String, against stored: String?, for client: Client = .server
    ) async throws -> Bool {
        let hash = stored.flatMap(PasswordHash.init)
        let decoy = PasswordHash(
            cost: cost, salt: Array(repeating: 0, count: Self.saltLength),
            key: Array(repeating: 0, count: Self.keyLength))
        let derive = derive
        return try await threads.run(for: client) {
            let expected = hash ?? decoy
            let key = try derive(Array(password.utf8), expected.salt, expected.cost, expected.key.count)
            // `SymmetricKey` compares in constant time.
            return SymmetricKey(data: key) == SymmetricKey(data: expected.key) && hash != nil
        }
    }
}
