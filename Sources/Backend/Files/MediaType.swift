/// What a file is by its first bytes, whatever its name and its sender say.
public enum MediaType: String, CaseIterable, Sendable {
    case jpeg, png, gif, webp, heic, mp4, mov, webm

    public var isImage: Bool {
        switch self {
        case .jpeg, .png, .gif, .webp, .heic: true
        case .mp4, .mov, .webm: false
        }
    }

    /// As it is served.
    public var contentType: String {
        switch self {
        case .jpeg, .png, .gif, .webp, .heic: "image/\(rawValue)"
        case .mp4, .webm: "video/\(rawValue)"
        case .mov: "video/quicktime"
        }
    }

    /// How many bytes it takes to tell.
    public static let headSize = 4096

    /// - Parameter head: The first ``headSize`` bytes of a file, or all of them.
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
            guard let type = Self.type(ofBrand: String(decoding: head.dropFirst(8).prefix(4), as: UTF8.self)) else {
                return nil
            }
            self = type
        } else if starts([0x1A, 0x45, 0xDF, 0xA3]), Self.isWebM(head) {
            self = .webm
        } else {
            return nil
        }
    }

    /// ISO/IEC 14496-12 §4.3: the major brand. Others of the same container (AVIF, JPEG 2000 …) are none of these.
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

    /// An EBML head whose `DocType` (RFC 8794 §11.2.4) says so; Matroska's is another.
    private static func isWebM(_ head: [UInt8]) -> Bool {
        let mark: [UInt8] = [0x42, 0x82, 0x84] + Array("webm".utf8)
        return head.prefix(64).indices.contains { head[$0...].starts(with: mark) }
    }
}
