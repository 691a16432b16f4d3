import CZlib
import HTTPTypes
import NIOCore

/// Compression by gzip (RFC 1952) in memory.
enum Gzip {
    /// Level 1 takes a fraction of the time of zlib's default, and the answers are hardly larger.
    static let level: Int32 = 1

    /// Returns the compressed bytes; nil when they would not be fewer.
    static func compress(_ bytes: ByteBuffer, level: Int32 = level) -> ByteBuffer? {
        var stream = z_stream()
        guard concord_deflate_begin(&stream, level) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        let size = bytes.readableBytes
        var result = ByteBufferAllocator().buffer(capacity: size / 4 + 1024)
        let status = bytes.withUnsafeReadableBytes { input -> Int32 in
            // zlib only reads from the pointer, although its type is mutable.
            stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
            stream.avail_in = UInt32(size)
            var status = Z_OK
            while status == Z_OK, result.readableBytes < size {
                result.writeWithUnsafeMutableBytes(minimumWritableBytes: 4096) { output in
                    stream.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    stream.avail_out = UInt32(output.count)
                    status = deflate(&stream, Z_FINISH)
                    return output.count - Int(stream.avail_out)
                }
            }
            return status
        }
        return status == Z_STREAM_END && result.readableBytes < size ? result : nil
    }

    /// Returns whether a client accepts gzip (RFC 9110 §12.5.3).
    static func isAccepted(by headers: HTTPFields) -> Bool {
        var any: Bool?
        for value in headers[values: .acceptEncoding] {
            for element in value.split(separator: ",") {
                let parts = element.split(separator: ";").map { $0.trimming(while: { $0 == " " || $0 == "\t" }) }
                let isWanted = !parts.dropFirst().contains { weight in
                    guard let text = weight.lowercased().split(separator: "=").last, weight.lowercased().hasPrefix("q=")
                    else { return false }
                    return Double(text) ?? 0 <= 0
                }
                switch parts.first?.lowercased() {
                case "gzip", "x-gzip": return isWanted
                case "*": any = isWanted
                default: break
                }
            }
        }
        return any ?? false
    }
}

/// Compresses bytes by gzip as they are made.
final class GzipStream {
    struct OutOfMemory: Error {}

    // zlib has a pointer to the stream, which therefore must not move.
    private let stream: UnsafeMutablePointer<z_stream>

    init(level: Int32 = Gzip.level) throws {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard concord_deflate_begin(stream, level) == Z_OK else { throw OutOfMemory() }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Compresses bytes, and appends what is complete of the result. The rest comes with the next bytes.
    func compress(_ bytes: [UInt8], into result: inout ByteBuffer) {
        bytes.withUnsafeBufferPointer { input in
            // zlib only reads from the pointer, although its type is mutable.
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.pointee.avail_in = UInt32(input.count)
            deflate(Z_NO_FLUSH, into: &result)
        }
    }

    /// Appends the end of the result.
    func finish(into result: inout ByteBuffer) {
        stream.pointee.avail_in = 0
        deflate(Z_FINISH, into: &result)
    }

    private func deflate(_ flush: Int32, into result: inout ByteBuffer) {
        var isFull = true
        while isFull {
            result.writeWithUnsafeMutableBytes(minimumWritableBytes: 4096) { output in
                stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
                stream.pointee.avail_out = UInt32(output.count)
                _ = CZlib.deflate(stream, flush)
                isFull = stream.pointee.avail_out == 0
                return output.count - Int(stream.pointee.avail_out)
            }
        }
    }
}

extension Substring {
    fileprivate func trimming(while isDropped: (Character) -> Bool) -> Substring {
        var text = drop(while: isDropped)
        while let last = text.last, isDropped(last) { text.removeLast() }
        return text
    }
}
