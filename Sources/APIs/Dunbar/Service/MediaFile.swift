import Backend
import Contract
import Database
import DunbarAPI
import Identity
import ObjectStore

/// The names of stored files: random, so that they cannot be guessed, with a suffix for the type.
enum MediaFile {
    /// The folder of the stored objects and of the URLs that show them.
    static let folder = "media"

    static func name(_ type: MediaType) -> String { "\(RandomToken.make(bytes: 16)).\(type.suffix)" }
    static func key(_ name: String) -> ObjectKey? { ObjectKey("\(folder)/\(name)") }

    /// Returns whether a file may be shown: not one that only a report keeps.
    static func isShown(_ name: String, in db: Session) throws -> Bool {
        try !ReportedFiles.keep("\(folder)/\(name)", in: db)
            || db.exists("SELECT 1 FROM media WHERE name = \(name)")
            || db.exists("SELECT 1 FROM users WHERE photo = \(name)")
    }

    static func type(of name: String) -> MediaType? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        return MediaType.allCases.first { $0.suffix == parts[1] }
    }
}

extension MediaType {
    /// The suffix of a stored file's name.
    var suffix: String { self == .jpeg ? "jpg" : rawValue }
}

extension DunbarService {
    /// Admits a request for a file with a signed URL. For some days after the upgrade it also admits URLs without a
    /// signature for files that were stored before.
    func admitToFile(_ name: String, _ query: String?) async throws {
        let refused = Problem(.forbidden, "Invalid or expired link")
        switch urls.verdict(on: query, forFile: name) {
        case .valid:
            // A file that only a report keeps is gone for everyone else.
            guard try await database.read({ try MediaFile.isShown(name, in: $0) }) else {
                throw Problem(.notFound, Dunbar.errorMessages.notFound)
            }
        case .refused: throw refused
        case .unsigned:
            let now = time.milliseconds()
            guard try await database.read({ try UnsignedFiles.include(name, at: now, in: $0) }) else { throw refused }
        }
    }
}

/// The files that were stored before URLs were signed. Apps may have kept URLs without a signature.
enum UnsignedFiles {
    /// The time in milliseconds for which such URLs are valid after the upgrade.
    private static let grace: Int64 = 7 * 24 * 3_600_000

    static let times = [StoredTime("unsigned_files", "ends_at", window: grace)]

    static func include(_ name: String, at now: Int64, in db: Session) throws -> Bool {
        try db.exists(
            "SELECT 1 FROM unsigned_files WHERE name = \(name) AND (ends_at IS NULL OR ends_at > \(now))")
    }

    /// Removes files that are deleted.
    static func forget(_ names: [String], in db: Session) throws {
        guard !names.isEmpty else { return }
        try db.run("DELETE FROM unsigned_files WHERE name IN (\(list: names))")
    }

    /// Starts the time at the first sweep after the upgrade, and removes files whose time is over.
    static func sweep(at now: Int64, in db: Session) throws {
        try db.run("UPDATE unsigned_files SET ends_at = \(now + grace) WHERE ends_at IS NULL")
        try db.run("DELETE FROM unsigned_files WHERE ends_at <= \(now)")
    }
}

// MARK: Replayed answers

/// A value that contains the URLs of files.
protocol ShowsFiles: Codable, Sendable {
    /// Returns the value with URLs that are valid from now on.
    func renewed(by urls: PublicURLs) -> Self
}

extension Answer where Output: ShowsFiles {
    /// Returns a replayed answer with URLs that are valid from now on, and any other answer unchanged.
    func renewed(by urls: PublicURLs) throws -> Answer {
        guard headers[.idempotentReplayed] != nil else { return self }
        return Answer(status, try decoded().renewed(by: urls), headers: headers)
    }
}

extension PublicURLs {
    /// Returns a URL of the same file that is valid from now on.
    fileprivate func renewed(_ url: String) -> String {
        let name = url.prefix { $0 != "?" }.split(separator: "/").last.map(String.init) ?? ""
        return MediaFile.type(of: name) == nil ? url : file(name)
    }
}

extension Dunbar.Post: ShowsFiles {
    func renewed(by urls: PublicURLs) -> Self {
        var copy = self
        copy.media = media.map(urls.renewed)
        copy.user = user.renewed(by: urls)
        return copy
    }
}

extension Dunbar.Comment: ShowsFiles {
    func renewed(by urls: PublicURLs) -> Self {
        var copy = self
        copy.user = user.renewed(by: urls)
        return copy
    }
}

extension Dunbar.UserSummary: ShowsFiles {
    func renewed(by urls: PublicURLs) -> Self {
        var copy = self
        copy.photo = photo.map(urls.renewed)
        return copy
    }
}

extension Dunbar.UpdatedUser: ShowsFiles {
    func renewed(by urls: PublicURLs) -> Self {
        switch self {
        case .own(var account):
            account.photo = account.photo.map(urls.renewed)
            return .own(account)
        case .other(var user):
            user.photo = user.photo.map(urls.renewed)
            return .other(user)
        }
    }
}
