import Foundation

struct Reader {
    let source: Source
    private var declarations = Declarations()
    private var line = 0

    static func read(_ source: Source, into declarations: inout Declarations) throws {
        var reader = Reader(source: source, declarations: declarations)
        try reader.body(of: [], depth: 0)
        declarations = reader.declarations
    }

    /// Reads the declarations of a body that is open at the line, to its end.
    private mutating func body(of path: [String], structure: Int? = nil, depth: Int) throws {
        var attributes: [String] = []
        while line < source.lines.count, source.depths[line] >= depth {
            let text = source.masked[line]
            guard source.depths[line] == depth, text.contains(where: { $0 != " " && $0 != "}" }) else {
                line += 1
                continue
            }
            var beginning = Beginning(text)
            if beginning.keyword.isEmpty, beginning.rest.isEmpty {
                // Attributes on a line of their own.
                attributes += beginning.attributes
                line += 1
                continue
            }
            beginning.attributes += attributes
            attributes = []
            switch beginning.keyword {
            case "struct", "enum", "class", "actor", "extension", "protocol":
                try type(beginning, in: path, structure: structure, depth: depth)
            case "var", "let":
                if let structure { try property(beginning, of: structure) } else { line += 1 }
            case "typealias":
                let parts = beginning.rest.components(separatedBy: " = ")
                let name = String(parts[0].prefix { $0 != "<" })
                if parts.count == 2 { declarations.aliases[name] = parts[1] }
                declarations.nested[path.joined(separator: "."), default: []].insert(name)
                line += 1
            default:
                if let structure { try member(beginning, of: structure) }
                line += 1
            }
        }
    }

    private mutating func type(_ beginning: Beginning, in path: [String], structure: Int?, depth: Int) throws {
        let start = line
        var header = ""
        while line < source.lines.count, !source.masked[line].contains("{") {
            header += source.masked[line] + " "
            line += 1
        }
        guard line < source.lines.count else { throw source.failure(start, "a type without a body") }
        header += source.masked[line].prefix { $0 != "{" }
        let isOneLine = line + 1 >= source.depths.count || source.depths[line + 1] == depth
        let declared = Beginning(header).rest
        let parts = split(split(String(declared), at: "{")[0].components(separatedBy: " where ")[0], at: ":")
        let name = String(parts[0].prefix { $0 != "<" }).trimmingCharacters(in: .whitespaces)
        let conformances = parts.count > 1 ? split(parts[1...].joined(separator: ":"), at: ",") : []
        let inner = beginning.keyword == "extension" ? [name] : path + [name]

        if let structure, beginning.keyword == "enum" {
            if name == "CodingKeys" { declarations.structures[structure].ownMembers.insert(.keys) }
            if name == "WireNames" { try wireNames(of: structure, from: start) }
        }
        if beginning.keyword != "extension" {
            declarations.nested[path.joined(separator: "."), default: []].insert(name)
        }
        switch beginning.keyword {
        case "protocol":
            declarations.protocols[name, default: []] += conformances
        case "extension" where conformances.contains("WrittenByMembers"):
            declarations.writtenElsewhere.insert(name)
        default:
            break
        }
        var opened: Int?
        if beginning.keyword == "struct" {
            opened = declarations.structures.count
            declarations.structures.append(
                Structure(
                    path: inner.joined(separator: "."), conformances: conformances, isGeneric: parts[0].contains("<"),
                    line: start))
        }
        line += 1
        guard !isOneLine else { return }
        let first = line
        try body(of: inner, structure: opened, depth: depth + 1)
        if let opened {
            declarations.structures[opened].namesKeys = source.masked[first..<line].contains {
                $0.contains("CodingKeys.")
            }
        }
    }

    private mutating func wireNames(of structure: Int, from start: Int) throws {
        var last = line
        while source.depths[last + 1] > source.depths[start] { last += 1 }
        for number in start...last {
            guard let range = source.lines[number].range(of: "case ") else { continue }
            let words = source.lines[number][range.upperBound...].split(
                separator: "\"", omittingEmptySubsequences: false)
            let name = words[0].trimmingCharacters(in: CharacterSet(charactersIn: " =`"))
            guard words.count == 3, words[0].hasSuffix(" = "), !name.isEmpty else {
                throw source.failure(number, "expected a line of the form: case property = \"name\"")
            }
            declarations.structures[structure].wireNames[name] = (String(words[1]), number)
        }
    }

    private mutating func member(_ beginning: Beginning, of structure: Int) throws {
        guard !beginning.keyword.isEmpty, let start = source.lines[line].range(of: beginning.keyword) else { return }
        let rest = source.lines[line][start.lowerBound...]
        if rest.hasPrefix("init(derived: Never") {
            let parameters = split(String(rest.dropFirst(5).prefix { $0 != ")" }), at: ",").dropFirst()
            let words = parameters.map { $0.split(whereSeparator: { " :".contains($0) }).map(String.init) }
            guard words.allSatisfy({ $0.count == 3 && $0[2] == "Never" }), rest.hasSuffix(") { switch derived {} }")
            else {
                throw source.failure(
                    line, "expected: private init(derived: Never, label name: Never) { switch derived {} }")
            }
            declarations.structures[structure].labels = Dictionary(words.map { ($0[1], $0[0]) }) { first, _ in first }
        }
        if rest.hasPrefix("init(from ") { declarations.structures[structure].ownMembers.insert(.decode) }
        if rest.hasPrefix("func encode(to ") { declarations.structures[structure].ownMembers.insert(.encode) }
        if rest.hasPrefix("func write(to "), rest.contains(": inout ObjectWriter) ") {
            declarations.structures[structure].ownMembers.insert(.write)
        }
        if beginning.keyword == "#if" { throw source.failure(line, "cannot read conditions inside a struct") }
    }

    private mutating func property(_ beginning: Beginning, of structure: Int) throws {
        defer { line += 1 }
        let (text, masked) = (source.lines[line], source.masked[line])
        guard beginning.modifiers.isDisjoint(with: ["static", "lazy"]) else {
            if masked.contains(" static let route = ") { declarations.structures[structure].pathNames = pathNames() }
            return
        }
        // The same part of the line with its texts, without a comment behind it.
        let code = masked.reversed().drop { $0 == " " }.count
        let declared = String(text.prefix(code).dropFirst(masked.count - beginning.rest.count))
        var (head, value) = (declared, String?.none)
        if let range = beginning.rest.range(of: " = ") {
            let offset = beginning.rest.distance(from: beginning.rest.startIndex, to: range.lowerBound)
            head = String(declared.prefix(offset))
            value = String(declared.dropFirst(offset + 3))
        }
        if head.contains("{") { return }  // computed
        let parts = split(head, at: ":")
        let name = parts[0].trimmingCharacters(in: CharacterSet(charactersIn: " `"))
        guard line + 1 < source.depths.count, source.depths[line + 1] == source.depths[line],
            !name.contains(where: { !($0.isLetter || $0.isNumber || $0 == "_") }), !head.hasSuffix("="),
            split(head, at: ",").count == 1
        else { throw source.failure(line, "a stored property must be one name, on one line") }
        let type = parts.count > 1 ? parts[1...].joined(separator: ": ") : value.flatMap(Self.type(of:))
        let isPrivate = !beginning.modifiers.isDisjoint(with: ["private", "fileprivate"])
        declarations.structures[structure].properties.append(
            Property(
                name: name, type: type, initialValue: value, attributes: beginning.attributes,
                isPublic: beginning.modifiers.contains("public"), isPrivate: isPrivate,
                isSettable: !beginning.modifiers.contains("private(set)")
                    && !beginning.modifiers.contains("package(set)")
                    && (beginning.keyword == "var" || value == nil),
                line: line))
    }

    /// Returns the names in the braces of the route that is declared on the line.
    private func pathNames() -> [String] {
        var last = line
        while last + 1 < source.depths.count, source.depths[last + 1] > source.depths[line] { last += 1 }
        let texts = source.lines[line...last].joined().components(separatedBy: "\"")
        guard texts.count > 1 else { return [] }
        return texts[1].components(separatedBy: "{").dropFirst().map { String($0.prefix { $0 != "}" }) }
    }

    /// Returns the type that an initial value has by itself.
    private static func type(of value: String) -> String? {
        if value.hasPrefix("\"") { return "String" }
        if Int(value) != nil { return "Int" }
        if value == "true" || value == "false" { return "Bool" }
        let name = value.prefix { $0.isLetter || $0.isNumber || $0 == "." }
        return value.hasSuffix(")") && name.first?.isUppercase == true && value.dropFirst(name.count).first == "("
            ? String(name) : nil
    }
}
