/// Converts the name of a photo for use in its key.
enum PhotoName {
    static let extensions = ["jpg", "jpeg", "png", "heic"]
    static let maximumStem = 100

    /// Returns the last part of a path. Its stem has only `A–Z a–z 0–9 _ -` and at most ``maximumStem`` characters.
    static func clean(_ name: String) throws(PhotoNameError) -> String {
        let scalars = Array(name.unicodeScalars)
        let last = scalars.lastIndex { $0 == "/" || $0 == "\\" }.map { scalars[($0 + 1)...] } ?? scalars[...]
        guard last.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw PhotoNameError(message: "Invalid filename: contains null bytes")
        }
        let dot = last.lastIndex(of: ".")
        let suffix = string(dot.map { last[($0 + 1)...] } ?? [])
        guard extensions.contains(suffix.lowercased()) else {
            throw PhotoNameError(
                message: "Invalid file extension: .\(suffix). Allowed: \(extensions.joined(separator: ", "))")
        }
        let stem = (dot.map { last[..<$0] } ?? last).prefix(maximumStem).map { isPlain($0) ? $0 : "_" }
        return string(stem[...]) + "." + suffix
    }

    private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        String(String.UnicodeScalarView(scalars))
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "A"..."Z", "a"..."z", "0"..."9", "_", "-": true
        default: false
        }
    }
}

/// The error for a file name that cannot be used.
struct PhotoNameError: Error, Hashable {
    /// The contract's message.
    let message: String
}
