import Crypto
import Database
import Foundation

/// The contents of a backup: the file `manifest.json` in its folder.
public struct BackupManifest: Codable, Sendable {
    /// The format that this program writes. It reads no later one.
    static let format = 1

    /// A file of a backup, with what it must contain.
    struct Item: Codable, Sendable, Hashable {
        /// The path in the backup's folder.
        var path: String
        var size: Int64
        /// The SHA-256 in hexadecimal.
        var sha256: String
    }

    /// A file that a row names.
    struct StoredFile: Codable, Sendable {
        /// The key in the object store.
        var key: String
        var size: Int64
        /// The SHA-256 in hexadecimal, which is its name in the backups' common folder.
        var sha256: String
        /// The time at which the store received it, in Unix seconds, if the store says so.
        var modified: Int64?
    }

    /// An API's part of a backup.
    struct API: Codable, Sendable {
        var name: String
        var database: Item
        /// The number of rows of each table.
        var rows: [String: Int]
        /// The id that the database and its files share.
        var storeID: String?
        var files: [StoredFile]
        /// The keys of files that rows name, but that were in neither the store nor its trash.
        var missing: [String]
    }

    var format = Self.format
    /// The version of Concord that made the backup, with its commit.
    var concord: String
    /// The time at which the backup was begun.
    var made: Date
    /// The time that it took.
    var seconds: Double
    var engine: DatabaseCopy.Engine
    var apis: [API]
    /// The files of the data folder's `keys`.
    var keys: [Item]
    /// The environment variables that held keys, which are not in the backup.
    var keysInEnvironment: [String]

    // MARK: Totals

    /// The number of files that rows name.
    var fileCount: Int { apis.reduce(0) { $0 + $1.files.count } }
    /// The size of everything in bytes.
    var size: Int64 {
        apis.reduce(keys.reduce(0) { $0 + $1.size }) { sum, api in
            sum + api.database.size + api.files.reduce(0) { $0 + $1.size }
        }
    }

    // MARK: Text

    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return Array(try encoder.encode(self))
    }
}

extension BackupManifest {
    /// Reads a manifest.
    ///
    /// - Parameter digest: The content of the file `manifest.sha256` beside it.
    /// - Throws: ``BackupError``.
    init(_ bytes: [UInt8], digest: [UInt8], of name: String) throws {
        let expected = String(decoding: digest, as: UTF8.self).prefix { !$0.isWhitespace }
        guard SHA256.hash(data: bytes).hexadecimal == expected else {
            throw BackupError("The manifest of the backup \(name) is damaged: it does not have its digest")
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        guard let version = try? decoder.decode(Version.self, from: Data(bytes)) else {
            throw BackupError("The manifest of the backup \(name) cannot be read")
        }
        guard version.format <= Self.format else {
            throw BackupError(
                "The backup \(name) was made by a newer version of Concord (\(version.concord)): use that version")
        }
        do {
            self = try decoder.decode(Self.self, from: Data(bytes))
        } catch {
            throw BackupError("The manifest of the backup \(name) cannot be read: \(error)")
        }
    }

    private struct Version: Decodable {
        let format: Int
        let concord: String
    }
}

/// The reason why a backup could not be made, verified or restored. Its description is for the operator.
public struct BackupError: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

extension Sequence where Element == UInt8 {
    /// The bytes with two lower-case digits each.
    var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
