import Crypto
import NIOCore

/// Hashes and checks passwords with scrypt (RFC 7914) on threads of its own.
///
/// A password is the UTF-8 bytes as sent, without Unicode normalisation. At the standard cost a hash takes 16 MiB
/// and some tenths of a second of one core; the number of threads therefore bounds both.
public struct Passwords: Sendable {
    /// Too many passwords wait to be hashed; the client should try again in a moment.
    public struct Overloaded: Error {
        /// The error has no details.
        public init() {}
    }

    /// For whom a password is hashed.
    public struct Client: Sendable, Hashable {
        /// Where it comes from; nil for the server's own work.
        public let address: String?
        /// Whether it has signed in before, from there, to the account that it asks for.
        public let isKnown: Bool

        public init(address: String?, isKnown: Bool = false) {
            self.address = address
            self.isKnown = isKnown
        }

        /// The server itself.
        public static let server = Client(address: nil)
    }

    /// (password, salt, cost, length of the key in bytes): scrypt, or a stand-in that tests count or hold up.
    typealias Derivation = @Sendable ([UInt8], [UInt8], Cost, Int) throws -> [UInt8]

    private static let saltLength = 16
    private static let keyLength = 32

    private let cost: Cost
    private let threads: HashingThreads
    private let derive: Derivation

    /// - Parameters:
    ///   - cost: the cost of new hashes; stored ones keep theirs.
    ///   - threads: how many hashes run at once. Half the cores leave the other half to requests during a flood
    ///     of sign-ins.
    ///   - queueLimit: how many more may wait of known clients, and of all others; ``Overloaded`` is thrown beyond. One
    ///     address has a quarter of that at most.
    public init(cost: Cost = .standard, threads: Int = max(1, System.coreCount / 2), queueLimit: Int = 128) {
        self.init(cost: cost, threads: threads, queueLimit: queueLimit) { password, salt, cost, length in
            try cost.deriveKey(from: password, salt: salt, length: length)
        }
    }

    /// How many wait for a thread, for tests.
    package var waiting: Int { threads.waiting }

    init(cost: Cost, threads: Int, queueLimit: Int, derive: @escaping Derivation) {
        self.cost = cost
        self.threads = HashingThreads(count: threads, queueLimit: queueLimit)
        self.derive = derive
    }

    /// The hash of `password` under a fresh 16-byte salt, as a PHC string of about 90 ASCII characters:
    /// `$scrypt$ln=14,r=8,p=5$<salt>$<key>`.
    ///
    /// Throws ``Overloaded``.
    public func hash(_ password: String, for client: Client = .server) async throws -> String {
        let (cost, derive) = (cost, derive)
        return try await threads.run(for: client) {
            let salt = randomBytes(Self.saltLength)
            let key = try derive(Array(password.utf8), salt, cost, Self.keyLength)
            return PasswordHash(cost: cost, salt: salt, key: key).text
        }
    }

    /// Whether `stored` is a hash of `password`.
    ///
    /// Nil (no such user) and a string that is no hash are false after the same work, so that the time of the
    /// answer does not tell which user names exist. Throws ``Overloaded``.
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
