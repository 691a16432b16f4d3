import Foundation

/// A key is replaced in two steps, so that nothing that it has signed is refused in between: first the new key signs and
/// the former one is still accepted, later the former one is dropped.
extension SecretKeys {
    /// The variable that replaces the file of a former key.
    public static func formerVariable(of variable: String) -> String { variable + "_FORMER" }

    /// Returns the former key of random bytes, whose signatures are still accepted; nil when there is none.
    ///
    /// It comes from the variable with `_FORMER` at its end. A key that is a file has its former one beside it.
    ///
    /// - Throws: ``SecretKeyError``.
    public func formerKey(_ name: String, variable: String) throws(SecretKeyError) -> [UInt8]? {
        try former(name, variable: variable, form: .randomBytes, decode: Self.bytes)
    }

    func former<Value>(
        _ name: String, variable: String, form: SecretForm, decode: (String) -> Value?
    ) throws(SecretKeyError) -> Value? {
        try Self.requireSuitable(name)
        let formerVariable = Self.formerVariable(of: variable)
        if let text = environment[formerVariable], !text.isEmpty {
            guard let secret = decode(text) else { throw .unusableVariable(formerVariable, form) }
            return secret
        }
        // A file that was left behind does not belong to a key of a variable.
        if environment[variable] != nil { return nil }
        let file = SecretFile(folder: folder, name: name + Self.suffix, form: form)
        guard let text = try file.contents() else { return nil }
        guard let secret = decode(Self.withoutDate(text)) else { throw .damagedFile(path: file.path, form) }
        return secret
    }

    /// Replaces the key of a file by a new one, and keeps the former one beside it. Another former key is dropped.
    ///
    /// - Parameter now: The time in Unix seconds, which is kept with the former key.
    /// - Throws: ``SecretKeyError``.
    public func rotate(_ name: String, form: SecretForm, at now: Int64) throws(SecretKeyError) {
        try Self.requireSuitable(name)
        let file = SecretFile(folder: folder, name: name, form: form)
        guard let present = try file.contents() else {
            throw .inaccessible(path: file.path, reason: "there is no such file")
        }
        let date = Date(timeIntervalSince1970: Double(now)).formatted(.iso8601)
        // The former key is kept first: a process that is killed here has both files with the same key.
        let former = SecretFile(folder: folder, name: name + Self.suffix, form: form)
        try former.replace(with: "\(Self.datePrefix)\(date)\n\(present)")
        try file.replace(with: form.newKey() + "\n")
    }

    /// Removes the former key of a file.
    ///
    /// - Returns: False when there was none.
    /// - Throws: ``SecretKeyError``.
    public func dropFormer(_ name: String) throws(SecretKeyError) -> Bool {
        try Self.requireSuitable(name)
        return try SecretFile(folder: folder, name: name + Self.suffix, form: .randomBytes).remove()
    }

    /// Returns the text of a key, from its variable or its file; nil when there is neither.
    ///
    /// - Throws: ``SecretKeyError``.
    public func text(of name: String, variable: String, form: SecretForm) throws(SecretKeyError) -> String? {
        try Self.requireSuitable(name)
        var text = environment[variable]
        if text == nil { text = try SecretFile(folder: folder, name: name, form: form).contents() }
        return text?.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Returns whether a variable of the process replaces the file of a key.
    public func isFromVariable(_ variable: String) -> Bool { environment[variable, default: ""].isEmpty == false }

    /// Returns the time of the last rotation, as ISO 8601; nil when there is no file of a former key.
    public func rotationDate(of name: String) -> String? {
        let path = "\(folder)/keys/\(name)\(Self.suffix)"
        guard let line = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n").first,
            line.hasPrefix(Self.datePrefix)
        else { return nil }
        return String(line.dropFirst(Self.datePrefix.count))
    }

    private static let suffix = ".former"
    private static let datePrefix = "# former since "

    private static func withoutDate(_ text: String) -> String {
        text.split(separator: "\n").filter { !$0.hasPrefix("#") }.joined(separator: "\n")
    }
}
