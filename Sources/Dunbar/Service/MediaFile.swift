import Backend
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
