/// A check of a JSON text before it is parsed: strict, and bounded for hostile input.
public enum JSONShape {
    /// The deepest nesting of objects and lists that is accepted, counting the outermost.
    public static let maximumDepth = 64

    /// Returns whether the bytes are one JSON object (RFC 8259): UTF-8, without NUL, at most ``maximumDepth`` deep, and
    /// without an unpaired surrogate, which is not a character (RFC 8259 §8.2).
    ///
    /// Foundation's parser accepts other encodings, 512 levels and trailing commas, and skips values that the model
    /// does not read. The contracts accept none of these.
    public static func isObject(_ bytes: some Collection<UInt8>) -> Bool {
        func check(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
            var scanner = JSONScanner(bytes: bytes)
            return scanner.scan()
        }
        return bytes.withContiguousStorageIfAvailable(check) ?? Array(bytes).withUnsafeBufferPointer(check)
    }
}
