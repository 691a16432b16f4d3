import HTTPTypes
import Testing

/// A request for a signed URL with one change.
struct Tampered: CustomStringConvertible {
    let method: HTTPRequest.Method
    let url: String
    var description: String { "\(method) \(url)" }

    /// Returns requests in which each component is changed, left out, or accompanied by another.
    ///
    /// - Parameters:
    ///   - signed: The method for which the URL is valid.
    ///   - names: Further parameters that the URL must have.
    static func all(
        of location: String, key: String, signed: HTTPRequest.Method = .get,
        naming names: Set<String> = ["response-content-type", "response-content-disposition"]
    ) throws -> [Tampered] {
        let parts = location.split(separator: "?").map(String.init)
        try #require(parts.count == 2 && parts[0].hasSuffix("/" + key))
        let items = parts[1].split(separator: "&").map(String.init)
        let given = items.map { $0.prefix { $0 != "=" } }
        #expect(
            Set(given.map(String.init)).isSuperset(
                of: names.union([
                    "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-SignedHeaders",
                    "X-Amz-Signature",
                ])))

        let methods: [HTTPRequest.Method] = [.get, .head, .put, .post, .delete]
        var all = methods.filter { $0 != signed }.map { Tampered(method: $0, url: location) }
        func tampered(_ url: some StringProtocol) -> Tampered { Tampered(method: signed, url: String(url)) }
        all += [
            tampered(parts[0].dropLast(key.count) + "x" + parts[0].suffix(key.count).dropFirst() + "?" + parts[1]),
            tampered(parts[0]),
            tampered(location + "&x=1"),
            tampered(location + "&response-cache-control=no-cache"),
            tampered(location.replacing("us-east-1", with: "eu-west-1")),
        ]
        for (index, item) in items.enumerated() {
            let value = item.dropFirst(given[index].count + 1)
            for replacement in [
                [], [changed(value, at: value.startIndex)], [changed(value, at: lastLetter(of: value))],
            ] {
                var query = items
                query.replaceSubrange(index...index, with: replacement.map { "\(given[index])=\($0)" })
                all.append(tampered(parts[0] + "?" + query.joined(separator: "&")))
            }
        }
        return all
    }

    private static func lastLetter(of value: Substring) -> Substring.Index {
        value.lastIndex { $0.isNumber || $0.isLowercase } ?? value.startIndex
    }

    /// Returns the value with one character replaced by another of the same kind.
    private static func changed(_ value: Substring, at index: Substring.Index) -> String {
        let successors: [Character: Character] = ["9": "0", "f": "a", "z": "a", "Z": "A"]
        let next = value[index].asciiValue.map { Character(Unicode.Scalar($0 + 1)) } ?? "x"
        return value[..<index] + String(successors[value[index]] ?? next) + value[value.index(after: index)...]
    }
}
