import Contract
import ContractClient
import Foundation
import HTTPTypes

// The traffic, as mutants look at it.

extension TransportRequest {
    /// Returns whether the request is for an operation, such as `GET /chats/{id}`, or for a path with a prefix:
    /// `/objects/*`. `{id}` is a number, another capture any text.
    public func isFor(_ operation: String) -> Bool {
        if operation.hasSuffix("*") { return url.path.hasPrefix(operation.dropLast()) }
        let parts = operation.split(separator: " ")
        let pattern = parts[1].split(separator: "/")
        var steps = url.path.split(separator: "/")
        // The base URLs of Dunbar and Monica end in /api.
        if steps.first == "api", pattern.first != "api" { steps.removeFirst() }
        return method.rawValue == parts[0] && pattern.count == steps.count
            && zip(pattern, steps).allSatisfy {
                $0 == $1 || ($0 == "{id}" ? Int64($1) != nil : $0.first == "{")
            }
    }

    /// The body as text. Setting it replaces the body.
    public var text: String {
        get { if case .bytes(let bytes) = body { String(decoding: bytes, as: UTF8.self) } else { "" } }
        set { body = .bytes(Array(newValue.utf8)) }
    }

    /// The members of the body. Setting them replaces the body.
    public var json: [String: JSONValue] {
        get {
            guard case .bytes(let bytes) = body,
                case .object(let members)? = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))
            else { return [:] }
            return members
        }
        set { text = JSONValue.object(newValue).description }
    }

    /// Returns a text of the body.
    public func string(_ member: String) -> String? {
        if case .string(let text)? = json[member] { text } else { nil }
    }

    /// The bearer token.
    public var token: String? {
        get {
            headers[.authorization].flatMap { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil }
        }
        set { headers[.authorization] = newValue.map { "Bearer \($0)" } }
    }

    /// The last id in the path.
    public var id: Int64? { url.path.split(separator: "/").compactMap { Int64($0) }.last }

    public func query(_ name: String) -> String? { queryItems.first { $0.name == name }?.value }

    public mutating func setQuery(_ name: String, _ value: String?) {
        var items = queryItems
        items.removeAll { $0.name == name }
        if let value { items.append((name, value)) }
        let text = items.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        let base = url.absoluteString.prefix { $0 != "?" }
        url = URL(string: text.isEmpty ? String(base) : "\(base)?\(text)")!
    }

    /// The query items with their percent-encoding.
    private var queryItems: [(name: String, value: String)] {
        (url.query(percentEncoded: true) ?? "").split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
    }
}

extension TransportResponse {
    /// Returns an answer with a body of JSON.
    public static func json(_ status: Int, _ text: String) -> TransportResponse {
        TransportResponse(
            status: .init(code: status), headers: [.contentType: "application/json"], body: Array(text.utf8))
    }

    public var text: String {
        get { String(decoding: body, as: UTF8.self) }
        set { body = Array(newValue.utf8) }
    }

    /// The body as a value; null for one that is not JSON.
    public var value: JSONValue { (try? JSONDecoder().decode(JSONValue.self, from: Data(body))) ?? .null }

    public var json: [String: JSONValue] { if case .object(let members) = value { members } else { [:] } }

    /// The elements of a list, as they are written. Setting them keeps the text of each element.
    public var rows: [String] {
        get {
            var (rows, depth, start): ([String], Int, [UInt8].Index?) = ([], 0, nil)
            var (isText, isEscaped) = (false, false)
            for index in body.indices {
                let byte = body[index]
                if isText {
                    if !isEscaped, byte == UInt8(ascii: "\"") { isText = false }
                    isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                    continue
                }
                switch byte {
                case UInt8(ascii: "\""): isText = true
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                    if depth == 2 { start = index }
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    depth -= 1
                    if depth == 1, let first = start {
                        rows.append(String(decoding: body[first...index], as: UTF8.self))
                    }
                default: break
                }
            }
            return rows
        }
        set { text = "[\(newValue.joined(separator: ","))]" }
    }

    /// Returns the text of this refusal if it is an example's message. Words of the example with a digit, a slash or a point
    /// within may be other ones: they depend on the request.
    func refusal(like message: String) -> String? {
        guard status.code >= 400 else { return nil }
        let wanted = message.split(separator: " ")
        return value.texts.first { text in
            let words = text.split(separator: " ")
            return words.count == wanted.count
                && zip(words, wanted).allSatisfy { word, sample in
                    word == sample || sample.contains(where: \.isNumber)
                        || sample.dropLast().contains { $0 == "/" || $0 == "." }
                }
        }
    }

    func isRefusal(saying message: String) -> Bool { refusal(like: message) != nil }
}

extension JSONValue {
    /// The texts in a value, wherever they are.
    fileprivate var texts: [String] {
        switch self {
        case .string(let text): [text]
        case .list(let elements): elements.flatMap(\.texts)
        case .object(let members): members.values.flatMap(\.texts)
        default: []
        }
    }
}

extension String {
    /// A member of an object in text.
    public subscript(member name: String) -> JSONValue? {
        (try? JSONDecoder().decode(JSONValue.self, from: Data(utf8)))?[name]
    }

    public subscript(text name: String) -> String {
        if case .string(let text)? = self[member: name] { text } else { "" }
    }

    public subscript(integer name: String) -> Int64 {
        if case .integer(let value)? = self[member: name] { value } else { 0 }
    }
}
