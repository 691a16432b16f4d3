/// The rule for the names of uploaded files, the same in every API.
package enum FileName {
    /// The greatest size of a name in bytes of UTF-8, which is that of most file systems.
    package static let maximum = 255
    /// The greatest size of an extension with its dot. What is longer is a part of the name.
    static let maximumExtension = 32

    /// Returns a name that is safe to store and to show: the last component of a path, without control characters, line
    /// separators and characters that change the direction of text, which can disguise an extension. A name that is too
    /// long loses the end of its stem, and never its extension or a part of a character. It is `file` when nothing is left.
    package static func clean(_ declared: String) -> String {
        // A slash with an accent is one character, and ends a component all the same.
        let components = declared.unicodeScalars.split { $0 == "/" || $0 == "\\" }
        var scalars = String.UnicodeScalarView()
        if let last = components.last { scalars.append(contentsOf: last.filter { !isRemoved($0) }) }
        let name = shortened(String(scalars).trimmed).trimmed
        return name.isEmpty || name == "." || name == ".." ? "file" : name
    }

    private static func isRemoved(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: scalar.properties.isBidiControl
        }
    }

    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > maximum else { return name }
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        let isExtension = dot > name.startIndex && name[dot...].utf8.count <= maximumExtension
        let suffix = isExtension ? name[dot...] : ""
        var (stem, room) = ("", maximum - suffix.utf8.count)
        for character in name[..<(isExtension ? dot : name.endIndex)] {
            room -= character.utf8.count
            guard room >= 0 else { break }
            stem.append(character)
        }
        // A single character can be longer than a name.
        return stem.isEmpty && isExtension ? "file" + suffix : stem + suffix
    }
}
