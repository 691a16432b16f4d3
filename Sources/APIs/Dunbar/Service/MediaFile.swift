import Backend
import Contract
import Database
import DunbarAPI
import Identity
import ObjectStore

/// A stored file's name: random, so that nobody guesses it, with what it is behind it.
enum MediaFile {
    /// Of the stored objects, and of the URLs that show them.
    static let folder = "media"

    static func name(_ type: MediaType) -> String { "\(RandomToken.make(bytes: 16)).\(type.suffix)" }
    static func key(_ name: String) -> ObjectKey? { ObjectKey("\(folder)/\(name)") }

    static func type(of name: String) -> MediaType? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        return MediaType.allCases.first { $0.suffix == parts[1] }
    }
}

extension MediaType {
    /// Behind a stored file's name.
    var suffix: String { self == .jpeg ? "jpg" : rawValue }
}

extension DunbarService {
    /// Lets a request for a file pass whose URL was signed, and for some days one for a file from before URLs were.
    func admitToFile(_ name: String, _ query: String?) async throws {
        let refused = Problem(.forbidden, "Invalid or expired link")
        switch urls.verdict(on: query, forFile: name) {
        case .good: return
        case .refused: throw refused
        case .unsigned:
            let now = time.milliseconds()
            guard try await database.read({ try UnsignedFiles.include(name, at: now, in: $0) }) else { throw refused }
        }
    }
}

/// The files that were stored before URLs were signed: apps may have kept URLs without a signature.
enum UnsignedFiles {
    /// For how long such URLs are good after the upgrade. In milliseconds.
    private static let grace: Int64 = 7 * 24 * 3_600_000

    static func include(_ name: String, at now: Int64, in db: Session) throws -> Bool {
        try db.exists(
            "SELECT 1 FROM unsigned_files WHERE name = \(name) AND (ends_at IS NULL OR ends_at > \(now))")
    }

    /// Forgets files that are deleted.
    static func forget(_ names: [String], in db: Session) throws {
        guard !names.isEmpty else { return }
        try db.run("DELETE FROM unsigned_files WHERE name IN (\(list: names))")
    }

    /// Notes when the time begins, which is the first sweep after the upgrade, and ends it.
    static func sweep(at now: Int64, in db: Session) throws {
        try db.run("UPDATE unsigned_files SET ends_at = \(now + grace) WHERE ends_at IS NULL")
        try db.run("DELETE FROM unsigned_files WHERE ends_at <= \(now)")
    }
}

// MARK: Repeated answers

/// What shows files by their URLs.
protocol ShowsFiles: Codable, Sendable {
    /// The same with URLs that are good from now on.
    func renewed(by urls: PublicURLs) -> Self
}

extension Answer where Output: ShowsFiles {
    /// An answer that is repeated under its key, with URLs that are good from now on; any other as it is.
    func renewed(by urls: PublicURLs) throws -> Answer {
        guard headers[.idempotentReplayed] != nil else { return self }
        return Answer(status, try decoded().renewed(by: urls), headers: headers)
    }
}

extension PublicURLs {
    /// The URL of the same file, from now on.
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
