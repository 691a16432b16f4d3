/// A check of a JSON text before it is parsed: strict, and bounded for hostile input.
public enum JSONShape {
    /// The deepest nesting of objects and lists that is accepted, counting the outermost.
    public static let maximumDepth = 64

    /// Returns whether the bytes are one JSON object (RFC 8259): UTF-8, at most ``maximumDepth`` deep, without an unpaired
    /// surrogate, which is not a character (RFC 8259 §8.2), and without an object that has a key twice, of which parsers
    /// disagree about the value (RFC 8259 §4).
    ///
    /// Foundation's parser accepts other encodings, 512 levels and trailing commas, and skips values that the model
    /// does not read. The contracts accept none of these. An escaped NUL is JSON: the field that has it is refused, and
    /// where no field reads it, it is ignored with the rest of the value.
    public static func isObject(_ bytes: some Collection<UInt8>) -> Bool {
        func check(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
            var scanner = JSONScanner(bytes: bytes)
            return scanner.scan()
        }
        return bytes.withContiguousStorageIfAvailable(check) ?? Array(bytes).withUnsafeBufferPointer(check)
    }
}
