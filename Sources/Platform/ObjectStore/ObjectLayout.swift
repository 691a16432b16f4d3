import Crypto
import Foundation

/// The paths of the objects in a local store: `<root>/<first byte of SHA-256(key), in hexadecimal>/<name>`.
///
/// The name is the key with "/" written as "%", so that "a" and "a/b" can both be files. A file name has at most 255
/// bytes, so each piece of 240 bytes of a longer key, except the last, becomes a folder whose name ends in "+". Keys
/// contain neither "%" nor "+", and every path can be converted back to its key.
struct ObjectLayout: Sendable {
    private static let pieceLength = 240

    let root: String

    /// The 256 folders under the root, in order.
    static let shards: [String] = (0..<256).map { shard(UInt8($0)) }

    /// Returns the folders from the root down, then the file.
    func components(of key: ObjectKey) -> [String] {
        var hash = SHA256()
        hash.update(data: Array(key.rawValue.utf8))
        let digest = Array(hash.finalize())
        let name = key.rawValue.utf8.map { $0 == UInt8(ascii: "/") ? UInt8(ascii: "%") : $0 }
        let starts = stride(from: 0, to: name.count, by: Self.pieceLength)
        let pieces = starts.map { start in
            let end = min(start + Self.pieceLength, name.count)
            return String(decoding: name[start..<end], as: UTF8.self) + (end < name.count ? "+" : "")
        }
        return [Self.shard(digest[0])] + pieces
    }

    func path(of key: ObjectKey) -> String {
        root + "/" + components(of: key).joined(separator: "/")
    }

    /// Returns the key of the object at `path`, relative to its shard; nil for a file that is not an object of this
    /// store.
    static func key(at path: String) -> ObjectKey? {
        let pieces = path.split(separator: "/")
        guard !pieces.isEmpty, pieces.dropLast().allSatisfy({ $0.hasSuffix("+") }) else { return nil }
        let name = pieces.dropLast().map { $0.dropLast() }.joined() + pieces[pieces.count - 1]
        return ObjectKey(String(name.map { $0 == "%" ? "/" : $0 }))
    }

    private static func shard(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}

extension ObjectLayout {
    /// Returns the keys of the objects in one shard that were written before `cutoff`, in Unix seconds. It blocks.
    func keys(in shard: String, olderThan cutoff: Int64) throws -> [ObjectKey] {
        let folder = root + "/" + shard
        guard let names = FileManager.default.enumerator(atPath: folder) else { return [] }
        var keys: [ObjectKey] = []
        for case let name as String in names {
            guard let key = Self.key(at: name), let attributes = try FileSystem.attributes(of: folder + "/" + name),
                attributes.modified < cutoff
            else { continue }
            keys.append(key)
        }
        return keys
    }
}
