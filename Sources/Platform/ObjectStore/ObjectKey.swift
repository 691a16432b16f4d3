/// The name of an object: 1…512 bytes of `A–Z a–z 0–9 . _ / -`, in components joined by "/", none of them empty,
/// "." or "..", the first not ".concord".
///
/// Such a name means the same in a path, a URL and a signature without any escaping.
public struct ObjectKey: Sendable, Hashable, CustomStringConvertible {
    /// The name itself.
    public let rawValue: String

    /// Makes a key; nil when `rawValue` breaks one of the rules above.
    public init?(_ rawValue: String) {
        guard 1...512 ~= rawValue.utf8.count, rawValue.utf8.allSatisfy(Self.isAllowed) else { return nil }
        let components = rawValue.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard !components.contains(where: { $0.isEmpty || $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) })
        else { return nil }
        // This name belongs to the store, see `StoreNames`.
        guard !components[0].elementsEqual(StoreNames.folder.utf8) else { return nil }
        self.rawValue = rawValue
    }

    /// The name itself.
    public var description: String { rawValue }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "/"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
