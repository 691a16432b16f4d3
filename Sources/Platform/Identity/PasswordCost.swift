import Crypto
import CryptoExtras

extension Passwords {
    /// The parameters of scrypt (RFC 7914 §2). One hash takes 128·N·r bytes of memory and work in proportion to N·r·p.
    public struct Cost: Sendable, Equatable {
        /// The binary logarithm of the iteration count N.
        public let logN: Int
        /// The block size r.
        public let blockSize: Int
        /// The parallelisation p. The lanes run one after another, so p multiplies time, not memory.
        public let parallelism: Int

        /// The standard cost: N = 2^14, r = 8, p = 5. A hash takes 16 MiB; OWASP considers this equivalent to N = 2^17,
        /// with an eighth of its memory.
        public static let standard = Cost(unchecked: 14, blockSize: 8, parallelism: 5)

        /// The cost for tests with thousands of sign-ins: N = 2^4, r = 1, p = 1. It protects nothing.
        public static let testing = Cost(unchecked: 4, blockSize: 1, parallelism: 1)

        /// Makes a cost; nil outside `logN` 1…20, `blockSize` 1…16, `parallelism` 1…16, or above 128 MiB a hash. A
        /// damaged row in a database must not exhaust the server's memory.
        public init?(logN: Int, blockSize: Int, parallelism: Int) {
            guard 1...20 ~= logN, 1...16 ~= blockSize, 1...16 ~= parallelism else { return nil }
            guard logN < 16 * blockSize, blockSize << logN <= 1 << 20 else { return nil }
            self.init(unchecked: logN, blockSize: blockSize, parallelism: parallelism)
        }

        private init(unchecked logN: Int, blockSize: Int, parallelism: Int) {
            self.logN = logN
            self.blockSize = blockSize
            self.parallelism = parallelism
        }

        /// Runs scrypt, which blocks the calling thread for the whole computation.
        func deriveKey(from password: [UInt8], salt: [UInt8], length: Int) throws -> [UInt8] {
            let key = try KDF.Scrypt.deriveKey(
                from: password, salt: salt, outputByteCount: length,
                rounds: 1 << logN, blockSize: blockSize, parallelism: parallelism)
            return key.withUnsafeBytes { Array($0) }
        }
    }
}
