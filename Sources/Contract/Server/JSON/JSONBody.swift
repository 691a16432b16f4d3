import Contract
import NIOCore

/// Encodes JSON for response bodies and socket frames: RFC 8259 text whose members have the order in which they are
/// encoded.
///
/// A value becomes text at the moment at which it is encoded, without an intermediate form. Members therefore keep the
/// order of their declaration, and a nested container or a super encoder has to be filled before its parent is written
/// to again; filling it later throws.
///
/// - Integers are exact. `Double` and `Float` are the shortest text that reads back as the same number; whole numbers
///   up to 2⁵³ have no fraction (`1`, not `1.0`). NaN and the infinities throw.
/// - Only `"`, `\` and the control characters are escaped.
/// - `UUID` is lower-case text, `URL` its absolute text, `Data` Base64, `Decimal` a number. `Date` throws, since each
///   contract has a format of its own: it belongs to a type such as `Timestamp`.
public enum JSONBody {
    /// Appends the JSON of `value` to `buffer`.
    ///
    /// - Throws: `EncodingError` with the path of a value that has no JSON, or what an `encode(to:)` on the way throws.
    ///   `buffer` is then as it was.
    public static func encode<T: Encodable>(_ value: T, into buffer: inout ByteBuffer) throws {
        _ = try text(of: value).withBytes { buffer.writeBytes($0) }
    }

    /// Returns the JSON of `value` in a new buffer of the size that it needs.
    ///
    /// - Throws: `EncodingError` with the path of a value that has no JSON, or the error of an `encode(to:)` on the
    ///   way.
    public static func encode<T: Encodable>(_ value: T, allocator: ByteBufferAllocator = .init()) throws -> ByteBuffer {
        try text(of: value).withBytes { allocator.buffer(bytes: $0) }
    }

    private static func text<T: Encodable>(of value: T) throws -> JSONText {
        let text = JSONText()
        try text.write(answer: value)
        if let failure = text.failure { throw failure }
        return text
    }
}
