import Contract

/// The form of a JSON value whose exact content differs each time.
///
/// An object has exactly the named members: a null member must be present, and no other members may be.
public indirect enum Shape: Sendable {
    case exactly(JSONValue)
    /// Any value, but not an absent one.
    case anything
    case oneOf([JSONValue])
    /// One of several shapes.
    case anyOf([Shape])
    case text
    case integer
    /// An integer or a fraction.
    case number
    /// An integer above zero.
    case id
    /// A time like `2026-02-23T10:00:00Z`, on a day that exists.
    case timestamp
    /// A time like `2026-02-23T10:00:00.000Z`, on a day that exists.
    case milliseconds
    /// A day like `2026-02-23` that exists.
    case day
    /// A UUID of version 4, in lower case.
    case uuid
    /// Null, or the shape. The member is present in either case.
    case nullable(Shape)
    case list(of: Shape)
    /// - Parameters:
    ///   - additions: Members that a server of the contract alone need not have.
    ///   - optional: Members that some values have.
    case object([String: Shape], additions: [String: Shape] = [:], optional: [String: Shape] = [:])

    /// Returns a shape with the members of both, for objects and lists of objects. Of other shapes it returns this one.
    func joined(with other: Shape) -> Shape {
        switch (self, other) {
        case (.list(let one), .list(let other)): return .list(of: one.joined(with: other))
        case (.object(let one, let additions, let optional), .object(let other, let moreAdditions, let moreOptional)):
            return .object(
                one.merging(other) { first, _ in first },
                additions: additions.merging(moreAdditions) { first, _ in first },
                optional: optional.merging(moreOptional) { first, _ in first })
        default: return self
        }
    }

    /// Returns where a value first differs from the shape; nil when it matches.
    ///
    /// - Parameter level: At ``Level/contract`` the additions may be absent.
    public func difference(in value: JSONValue, level: Level = .addition, at path: String = "") -> JSONDifference? {
        func unless(_ holds: Bool, _ expected: String) -> JSONDifference? {
            holds ? nil : JSONDifference(path: path, expected: expected, found: value.description)
        }
        switch (self, value) {
        case (.exactly(let expected), _):
            return value.difference(from: expected, at: path)
        case (.oneOf(let values), _):
            return unless(values.contains(value), values.map(\.description).joined(separator: " or "))
        case (.anyOf(let shapes), _):
            let differences = shapes.map { $0.difference(in: value, level: level, at: path) }
            return differences.contains { $0 == nil } ? nil : differences.first ?? nil
        case (.anything, _), (.text, .string), (.integer, .integer), (.number, .integer), (.number, .number),
            (.nullable, .null):
            return nil
        case (.text, _):
            return unless(false, "a text")
        case (.integer, _):
            return unless(false, "an integer")
        case (.number, _):
            return unless(false, "a number")
        case (.id, .integer(let id)):
            return unless(id > 0, "an id above 0")
        case (.id, _):
            return unless(false, "an id")
        case (.timestamp, .string(let text)):
            let isWritten = text.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/#) != nil
            return unless(isWritten && Timestamp<Seconds>(text) != nil, "a time like 2026-02-23T10:00:00Z")
        case (.timestamp, _):
            return unless(false, "a time")
        case (.milliseconds, .string(let text)):
            let isWritten = text.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/#) != nil
            return unless(
                isWritten && Timestamp<Milliseconds>(text) != nil, "a time like 2026-02-23T10:00:00.000Z")
        case (.milliseconds, _):
            return unless(false, "a time")
        case (.day, .string(let text)):
            return unless(Day(text) != nil, "a day like 2026-02-23")
        case (.day, _):
            return unless(false, "a day")
        case (.uuid, .string(let text)):
            let isUUID = text.wholeMatch(of: #/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/#)
            return unless(isUUID != nil, "a UUID of version 4 in lower case")
        case (.uuid, _):
            return unless(false, "a UUID")
        case (.nullable(let shape), _):
            return shape.difference(in: value, level: level, at: path)
        case (.list(let shape), .list(let elements)):
            for (index, element) in elements.enumerated() {
                if let found = shape.difference(in: element, level: level, at: "\(path)[\(index)]") { return found }
            }
            return nil
        case (.list, _):
            return unless(false, "a list")
        case (.object(let members, let additions, let optional), .object(let found)):
            var expected = members.merging(optional.filter { found[$0.key] != nil }) { member, _ in member }
            for (name, shape) in additions where level == .addition || found[name] != nil { expected[name] = shape }
            guard expected.count == found.count, expected.keys.allSatisfy({ found[$0] != nil }) else {
                return JSONDifference(
                    path: path, expected: Self.list(expected.keys), found: Self.difference(expected.keys, found.keys))
            }
            for (name, shape) in expected.sorted(by: { $0.key < $1.key }) {
                guard let member = found[name] else { continue }
                if let found = shape.difference(in: member, level: level, at: "\(path).\(name)") { return found }
            }
            return nil
        case (.object, _):
            return unless(false, "an object")
        }
    }

    /// Returns the names that are missing, and those that are not expected.
    private static func difference(
        _ expected: some Collection<String>, _ found: some Collection<String>
    ) -> String {
        let missing = Set(expected).subtracting(found).sorted().joined(separator: ", ")
        let others = Set(found).subtracting(expected).sorted().joined(separator: ", ")
        return [missing.isEmpty ? nil : "missing: \(missing)", others.isEmpty ? nil : "unexpected: \(others)"]
            .compactMap(\.self).joined(separator: "; ")
    }

    private static func list(_ names: some Sequence<String>) -> String {
        "the members \(names.sorted().joined(separator: ", "))"
    }
}

extension Shape: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    public init(stringLiteral value: String) { self = .exactly(.string(value)) }
    public init(integerLiteral value: Int64) { self = .exactly(.integer(value)) }
}

/// A difference between two JSON values.
public struct JSONDifference: Sendable, Equatable {
    /// The path of the difference, such as `.members[1].role`; empty for the whole value.
    public let path: String
    public let expected: String
    public let found: String

    public init(path: String, expected: String, found: String) {
        self.path = path
        self.expected = expected
        self.found = found
    }
}

extension JSONValue {
    /// Returns where this value first differs from the expected one; nil when they are equal.
    public func difference(from expected: JSONValue, at path: String = "") -> JSONDifference? {
        if self == expected { return nil }
        if case .object(let found) = self, case .object(let wanted) = expected, found.keys == wanted.keys {
            for (name, member) in wanted.sorted(by: { $0.key < $1.key }) {
                if let difference = found[name]?.difference(from: member, at: "\(path).\(name)") { return difference }
            }
        }
        if case .list(let found) = self, case .list(let wanted) = expected, found.count == wanted.count {
            for (index, element) in wanted.enumerated() {
                if let difference = found[index].difference(from: element, at: "\(path)[\(index)]") {
                    return difference
                }
            }
        }
        return JSONDifference(path: path, expected: expected.description, found: description)
    }
}
