/// The name of an object: 1…512 bytes of `A–Z a–z 0–9 . _ / -`, in components joined by "/", none of them empty,
/// "." or "..", the first not ".concord".
///
/// Such a name means the same in a path, a URL and a signature without any escaping.
public struct ObjectKey: Sendable, Hashable, CustomStringConvertible {
    /// The name itself.
    public let rawValue: String

    /// Makes a key; nil when `rawValue` breaks one of the rules above.
    public init?(_ rawValue: String) {
        var text = rawValue
        guard text.withUTF8(Self.isName) else { return nil }
        self.rawValue = rawValue
    }

    private static func isName(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard 1...512 ~= text.count, text.allSatisfy(characters.contains) else { return false }
        var start = 0
        for end in 0...text.count where end == text.count || text[end] == UInt8(ascii: "/") {
            let component = text[start..<end]
            // It is empty, or a way to another folder.
            if component.count <= 2, component.allSatisfy({ $0 == UInt8(ascii: ".") }) { return false }
            // This name belongs to the store, see `StoreNames`.
            if start == 0, component.elementsEqual(StoreNames.folder.utf8) { return false }
            start = end + 1
        }
        return true
    }

    /// The name itself.
    public var description: String { rawValue }

    private static let characters = ByteSet(lettersDigitsAnd: "._/-")
}
