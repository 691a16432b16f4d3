/// The name of an object: 1…512 bytes of `A–Z a–z 0–9 . _ / -`, in components joined by "/", none of them empty,
/// "." or "..", the first not ".concord".
///
/// Such a name means the same in a path, a URL and a signature without any escaping.
public struct ObjectKey: Sendable, Hashable, CustomStringConvertible {
    /// The name itself.
    public let rawValue: String

    /// Makes a key; nil when `rawValue` breaks one of the rules above.
    public init?(_ rawValue: String) {
        guard 1...512 ~= rawValue.utf8.count, rawValue.utf8.allSatisfy(Self.characters.contains) else { return nil }
        var rest = rawValue.utf8[...]
        while true {
            let component = rest.prefix { $0 != UInt8(ascii: "/") }
            guard !component.isEmpty, !component.elementsEqual(".".utf8), !component.elementsEqual("..".utf8) else {
                return nil
            }
            // This name belongs to the store, see `StoreNames`.
            if component.startIndex == rawValue.startIndex, component.elementsEqual(StoreNames.folder.utf8) {
                return nil
            }
            guard component.endIndex < rest.endIndex else { break }
            rest = rest[rest.index(after: component.endIndex)...]
        }
        self.rawValue = rawValue
    }

    /// The name itself.
    public var description: String { rawValue }

    private static let characters = ByteSet(lettersDigitsAnd: "._/-")
}
