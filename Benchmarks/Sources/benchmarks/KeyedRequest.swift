import Foundation
import NIOCore

/// A request that is sent again and again. Where it has an `Idempotency-Key`, each time has a key of its own, as the SDK's
/// requests do.
struct KeyedRequest {
    private var bytes: ByteBuffer
    /// The place of the key's last digit.
    private let end: Int?

    init(_ request: String) {
        let key = request.range(of: Exchange.unusedKey)
        end = key.map { request.utf8.distance(from: request.startIndex, to: $0.upperBound) - 1 }
        let fresh = String(UUID().uuidString.prefix(8)) + Exchange.unusedKey.dropFirst(8)
        bytes = ByteBuffer(string: key.map { request.replacingCharacters(in: $0, with: fresh) } ?? request)
    }

    mutating func next() -> ByteBuffer {
        guard var place = end else { return bytes }
        while bytes.getInteger(at: place, as: UInt8.self) == UInt8(ascii: "9") {
            bytes.setInteger(UInt8(ascii: "0"), at: place)
            place -= 1
        }
        bytes.setInteger((bytes.getInteger(at: place, as: UInt8.self) ?? 0) + 1, at: place)
        return bytes
    }
}
