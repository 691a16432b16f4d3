/// The type of a file, found by its first bytes, whatever its name and its declared type are.
public enum MediaType: String, CaseIterable, Sendable {
    case jpeg, png, gif, webp, heic, mp4, mov, webm

    public var isImage: Bool {
        switch self {
        case .jpeg, .png, .gif, .webp, .heic: true
        case .mp4, .mov, .webm: false
        }
    }

    /// The `Content-Type` with which such a file is served.
    public var contentType: String {
        switch self {
        case .jpeg, .png, .gif, .webp, .heic: "image/\(rawValue)"
        case .mp4, .webm: "video/\(rawValue)"
        case .mov: "video/quicktime"
        }
    }

    /// The number of bytes that are needed to find the type.
    public static let headSize = 4096

    /// Finds the type of a file; nil when it is none of these.
    ///
    /// - Parameter head: The first ``headSize`` bytes of the file, or all of them.
    public init?(head: [UInt8]) {
        func starts(_ bytes: [UInt8], at offset: Int = 0) -> Bool { head.dropFirst(offset).starts(with: bytes) }
        func starts(_ text: String, at offset: Int = 0) -> Bool { starts(Array(text.utf8), at: offset) }
        if starts([0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if starts([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if starts("GIF87a") || starts("GIF89a") {
            self = .gif
        } else if starts("RIFF"), starts("WEBP", at: 8) {
            self = .webp
        } else if starts("ftyp", at: 4) {
            guard let type = Self.type(ofBrands: head) else { return nil }
            self = type
        } else if Self.quickTime.contains(where: { starts($0, at: 4) }) {
            self = .mov
        } else if starts([0x1A, 0x45, 0xDF, 0xA3]), Self.isWebM(head) {
            self = .webm
        } else {
            return nil
        }
    }

    /// The boxes with which a QuickTime film may begin. It needs no `ftyp`, which is newer than the format, and whether
    /// the file is a film at all is seen when its tracks are read.
    private static let quickTime = ["wide", "mdat", "moov", "skip", "free", "pnot"]

    /// Returns the type for the brands of a file (ISO/IEC 14496-12 §4.3): by the major one or, for a film, by the first
    /// of the compatible ones that is known.
    private static func type(ofBrands head: [UInt8]) -> MediaType? {
        func brand(at position: Int) -> String { String(decoding: head[position..<position + 4], as: UTF8.self) }
        guard head.count >= 12 else { return nil }
        if let type = type(ofBrand: brand(at: 8)) { return type }
        let end = head.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        // The major brand is followed by its version.
        let compatible = stride(from: 16, through: min(end, head.count) - 4, by: 4).lazy.compactMap {
            type(ofBrand: brand(at: $0))
        }
        return compatible.first { !$0.isImage }
    }

    /// Returns the type for a brand. Other types in the same container (AVIF, JPEG 2000 …) are not accepted.
    private static func type(ofBrand brand: String) -> MediaType? {
        switch brand {
        case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs", "mif1", "msf1": .heic
        case "qt  ": .mov
        case "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8", "iso9", "mp41", "mp42", "mp71", "avc1",
            "dash", "M4V ", "M4VH", "M4VP", "MSNV", "f4v ", "3gp4", "3gp5", "3gp6", "mmp4":
            .mp4
        default: nil
        }
    }

    /// Returns whether the `DocType` of an EBML header (RFC 8794 §11.2.4) is WebM's. Matroska has another one.
    private static func isWebM(_ head: [UInt8]) -> Bool {
        let mark: [UInt8] = [0x42, 0x82, 0x84] + Array("webm".utf8)
        return head.prefix(64).indices.contains { head[$0...].starts(with: mark) }
    }
}
