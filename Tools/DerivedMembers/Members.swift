/// What reads and writes members one by one.
extension Deriver {
    func reader(of keys: [Key], in path: String) throws -> String {
        var lines = [
            "    public init(from decoder: any Decoder) throws {",
            "        let fields = try decoder.container(keyedBy: CodingKeys.self)",
        ]
        // Wrapped properties come last, as in an initialiser.
        let properties = keys.map(\.property).filter(\.isSettable)
        for property in properties.filter(\.attributes.isEmpty) + properties.filter({ !$0.attributes.isEmpty }) {
            lines.append("        \(quoted(property.name)) = try \(qualified(try reading(property), in: path))")
        }
        return (lines + ["    }"]).joined(separator: "\n")
    }

    private func reading(_ property: Property) throws -> String {
        guard var type = property.type else {
            throw source.failure(property.line, "the type must be stated: the initial value does not tell it")
        }
        if property.name == "id", type == "Int" { return "fields.id(.id)" }
        let isOptional = type.hasSuffix("?")
        if isOptional { type.removeLast() }
        let isList = type.hasPrefix("[")
        if isList, isOptional { return "fields.decodeIfPresent(\(type).self, forKey: .\(property.name))" }
        let functions = [
            "String": "text", "Int": "integer", "Double": "number", "Bool": "truth", "Timestamp": "time", "Day": "day",
        ]
        let value = "fields.\(functions[type] ?? (isList ? "list" : "value"))(.\(property.name))"
        if isOptional || isList { return value }
        let absent = [
            "String": "\"\"", "Int": "0", "Bool": "false", "AccountReference": "AccountReference(id: 0)",
            "Timestamp": property.name == "updatedAt" ? "createdAt" : "Timestamp(milliseconds: 0)",
        ]
        let initial = property.initialValue.map { $0 == type + "()" ? ".init()" : $0 }
        guard let replacement = initial ?? absent[type] else {
            return "fields.decode(\(type).self, forKey: .\(property.name))"
        }
        return "\(value) ?? \(replacement)"
    }

    func writer(of keys: [Key]) throws -> String {
        var lines = ["    @usableFromInline", "    package func write(to writer: inout ObjectWriter) throws {"]
        for (property, name) in keys { lines += try statements(property, name).map { "        " + $0 } }
        return (lines + ["    }"]).joined(separator: "\n")
    }

    private func statements(_ property: Property, _ name: String) throws -> [String] {
        let variable = quoted(property.name)
        guard !property.attributes.contains("@Shared") else {
            throw source.failure(property.line, "write(to:) must be by hand: only this file has a wrapper's storage")
        }
        guard var type = property.type else {
            throw source.failure(property.line, "the type must be stated: the initial value does not tell it")
        }
        let isOptional = type.hasSuffix("?")
        if isOptional { type.removeLast() }
        guard !property.attributes.isEmpty || !isOptional else {
            // The key of a nil is left out.
            guard type.hasPrefix("OrNull<"), case let value = String(type.dropFirst(7).dropLast()), scalar(value) != nil
            else {
                return ["if let \(variable) { \(statement(variable, name, type)) }"]
            }
            return ["if let \(variable) { \(statement(variable + ".wrappedValue", name, value, isOptional: true)) }"]
        }
        if isOptional, scalar(type) == nil {
            return [
                "if let \(variable) {", "    \(statement(variable, name, type))", "} else {",
                "    try writer.writeNull(\"\(name)\")", "}",
            ]
        }
        return [statement(variable, name, type, isOptional: isOptional)]
    }

    private func statement(_ value: String, _ name: String, _ type: String, isOptional: Bool = false) -> String {
        if let scalar = scalar(type) {
            return "try writer.write(\"\(name)\", \(value)\(isOptional && !scalar.isEmpty ? "?" : "")\(scalar))"
        }
        var element = type.hasPrefix("[") ? String(type.dropFirst().dropLast()) : type
        element = String((api.aliases[element] ?? element).prefix { $0 != "<" })
        return "try writer.write(\"\(name)\", \(written.contains(element) ? "" : "encoding: ")\(value))"
    }

    /// Returns what follows a value of a type that the writer takes; nil for other types.
    private func scalar(_ type: String) -> String? {
        if ["String", "Int", "Int64", "Bool", "Timestamp", "[String]"].contains(type) { return "" }
        return type == "ID" || type.hasSuffix(".ID") || enumerations.contains(type) ? ".rawValue" : nil
    }
}
