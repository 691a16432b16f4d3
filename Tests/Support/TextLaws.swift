import Contract
import ContractCheck
import ContractDescribe
import ContractExamples
import Foundation
import HTTPTypes
import Testing

/// The purpose of a text of a request, which decides what the text may be.
public enum TextClass: Sendable {
    /// A text that is needed: one that shows nothing is refused as an empty one is.
    case needed
    /// A text that may be empty.
    case optional
    /// A name that others see and that is needed. Characters that are invisible where they have no purpose are refused.
    case name
    /// A name that may be empty.
    case optionalName
    /// The name of a file, which is needed.
    case fileName
    /// A username or an e-mail address: no invisible character is accepted, and no text that shows nothing.
    case identity
    /// A search: one that shows nothing is the same as an empty one.
    case search
    /// A text that is compared or decoded and never shown, such as a token, a password, an id or a URL.
    case opaque
}

// These laws hold every text of every request to what it is for. The texts are found in the API's description, so a new one
// is held to them, too, and needs a class.
extension Laws {
    /// A text of a request.
    private struct Field {
        let operation: String
        let path: [String]
        /// Whether only certain values are accepted, such as those of an enumeration or days.
        let isListed: Bool

        var name: String { "\(operation) \(path.joined(separator: "."))" }
    }

    /// Checks that every text has one class, and that `validate()` accepts and refuses what the class says.
    ///
    /// - Parameter fields: The names of the texts of each class, such as `POST /chats name`.
    public func checkTexts(of description: APIDescription, _ fields: [TextClass: [String]]) async {
        for (field, kind) in classified(description, fields) {
            guard let endpoint = API.endpoints.first(where: { $0.signature == field.operation }),
                let example = examples[field.operation]
            else { continue }
            let probe = RequestProbe(endpoint, example)
            guard let sample = Self.sample(for: field.path, from: probe) else { continue }
            await kind.check(field.name, acceptsFineTexts: true) { text in
                let refusal = probe.refusal(of: .string(text), at: field.path, in: sample)
                return refusal.map { .init(status: $0.status.code, message: $0.message) }
                    ?? .init(status: 200, message: "")
            }
        }
    }

    /// Checks that a list of words is held against every text that strangers read: all but those that are searched for or
    /// opaque, and those that only their writer and the operator see.
    ///
    /// - Parameters:
    ///   - fields: The names of the texts of each class.
    ///   - personal: The names of texts that no stranger reads.
    public func checkPublishedTexts(
        of description: APIDescription, _ fields: [TextClass: [String]], except personal: Set<String>
    ) {
        var unread = personal
        for (field, kind) in classified(description, fields) where !field.isListed {
            guard let endpoint = API.endpoints.first(where: { $0.signature == field.operation }),
                let example = examples[field.operation]
            else { continue }
            let probe = RequestProbe(endpoint, example)
            guard let sample = Self.sample(for: field.path, from: probe) else { continue }
            let text = "word7"
            let changed = probe.changing(sample, at: field.path, to: .string(text))
            let isPublished = probe.publishedTexts(of: changed).contains(text)
            let isPersonal = unread.remove(field.name) != nil || kind == .opaque || kind == .search
            #expect(isPublished != isPersonal, "\(field.name)")
        }
        #expect(unread == [])
    }

    /// Checks that a server refuses what the classes of texts say, in the same words.
    ///
    /// - Parameters:
    ///   - fields: The names of the texts of each class.
    ///   - ids: The values of captures, and of other fields that examples have, that exist on the server.
    ///   - send: Sends a request of a signed-in user.
    public func checkTexts(
        of description: APIDescription, _ fields: [TextClass: [String]], ids: [String: JSONTree] = [:],
        _ send: (HTTPRequest.Method, _ path: String, _ body: String?) async throws -> RawAnswer
    ) async throws {
        for (field, kind) in classified(description, fields) {
            guard let endpoint = API.endpoints.first(where: { $0.signature == field.operation }),
                let example = examples[field.operation], !example.isOpen
            else { continue }
            let (route, probe) = (endpoint.route, RequestProbe(endpoint, example))
            guard var sample = Self.sample(for: field.path, from: probe), !sample.isForm else { continue }
            for (name, id) in ids where sample.fields.contains(where: { $0.name == name }) {
                sample = probe.changing(sample, at: [name], to: id)
            }
            try await kind.check(field.name, acceptsFineTexts: false) { text in
                let changed = probe.changing(sample, at: field.path, to: .string(text))
                guard let (path, body) = RequestProbe.written(changed, route) else {
                    return .init(status: 0, message: "")
                }
                let answer = try await send(route.method, path, body)
                let message = answer.text.replacing(answer.headers[.requestID] ?? "-", with: "")
                return .init(status: answer.status, message: answer.status < 400 ? "" : message)
            }
        }
    }

    /// Returns an example of a request, one that has the text and no files if there is such a one.
    private static func sample(for path: [String], from probe: RequestProbe) -> RequestProbe.Sample? {
        let samples = probe.having(path).map(\.sample) + probe.samples
        return samples.first { !$0.isForm } ?? samples.first
    }

    /// The texts of all requests with their classes. It records those that have none, and classes of unknown texts.
    private func classified(_ description: APIDescription, _ fields: [TextClass: [String]]) -> [(Field, TextClass)] {
        let found = examples.operations.flatMap { operation in
            Self.texts(of: description.openAPI, operation.path, operation.methods[0].lowercased()).map {
                Field(operation: operation.signature, path: $0.path, isListed: $0.isListed)
            }
        }
        let classes = Dictionary(grouping: fields.flatMap { kind, names in names.map { ($0, kind) } }, by: \.0)
        for (name, kinds) in classes {
            #expect(kinds.count == 1, "\(name) has more than one class")
            #expect(found.contains { $0.name == name && !$0.isListed }, "\(name) is no text of a request")
        }
        return found.map { field in
            let kind = classes[field.name]?.first?.1
            #expect(kind != nil || field.isListed, "\(field.name) has no class")
            return (field, kind ?? .opaque)
        }
    }

    private static func texts(
        of document: JSONTree, _ path: String, _ method: String
    ) -> [(path: [String], isListed: Bool)] {
        let operation = document["paths"]?[path]?[method] ?? [:]
        let parameters = (operation["parameters"]?.elements ?? []).flatMap { parameter in
            // What a path names is another thing's id.
            parameter["in"]?.text == "path"
                ? [] : texts(in: parameter["schema"] ?? [:], at: [parameter["name"]?.text ?? ""], of: document)
        }
        let bodies = (operation["requestBody"]?["content"]?.members ?? []).flatMap { content in
            texts(in: content.value["schema"] ?? [:], at: [], of: document)
        }
        var seen: Set<[String]> = []
        return (parameters + bodies).filter { seen.insert($0.path).inserted }
    }

    private static func texts(
        in schema: JSONTree, at path: [String], of document: JSONTree
    ) -> [(path: [String], isListed: Bool)] {
        if let reference = schema["$ref"]?.text {
            let target = reference.split(separator: "/").dropFirst().reduce(Optional(document)) { $0?[String($1)] }
            return texts(in: target ?? [:], at: path, of: document)
        }
        let alternatives = (schema["anyOf"]?.elements ?? []) + (schema["oneOf"]?.elements ?? [])
        var found = alternatives.flatMap { texts(in: $0, at: path, of: document) }
        for member in schema["properties"]?.members ?? [] {
            found += texts(in: member.value, at: path + [member.name], of: document)
        }
        if let elements = schema["items"] { found += texts(in: elements, at: path + ["*"], of: document) }
        let types = [schema["type"]?.text] + (schema["type"]?.elements ?? []).map(\.text)
        if types.contains("string"), schema["format"]?.text != "binary" {
            let format = schema["format"]?.text ?? ""
            found.append((path, schema["enum"] != nil || ["date", "date-time", "uuid"].contains(format)))
        }
        return found
    }
}

extension TextClass {
    /// The answer to a request with a certain text.
    fileprivate struct Outcome: Equatable {
        let status: Int
        /// The refusal; empty for a success.
        let message: String

        var isRefused: Bool { status >= 400 }
    }

    /// Texts that show nothing.
    private static let blanks = [
        " ", "\n", "\u{A0}", "\u{3000}", "\u{2028}", "\u{85}", "\u{200B}", "\u{FEFF}", "\u{2800}", "\u{3164}",
        "\u{115F}",
        "\u{1160}", "\u{17B4}", "\u{17B5}", "\u{FFA0}", "\u{AD}", "\u{34F}", "\u{61C}", "\u{180E}", "\u{200F}",
        "\u{200D}",
        "\u{202E}", "\u{2066}", "\u{FE0F}", "\u{1D173}", "\u{E0020}", "\u{E0100}", " \u{2060}\t",
    ]
    /// Characters that are invisible, or change how their neighbours are displayed.
    private static let hidden = [
        "\u{7}", "\n", "\u{7F}", "\u{85}", "\u{AD}", "\u{61C}", "\u{200B}", "\u{200E}", "\u{202A}", "\u{202E}",
        "\u{2028}",
        "\u{2029}", "\u{2060}", "\u{2066}", "\u{2069}", "\u{FEFF}", "\u{2800}", "\u{3164}", "\u{FFA0}", "\u{17B4}",
        "\u{E0067}",
    ]
    /// Names in which invisible characters have a purpose, and names that look like others.
    private static let fine = ["👩‍👩‍👧 ❤️", "می‌خواهم", "ക്‍ഷ", "🏴󠁧󠁢󠁥󠁮󠁧󠁿Ｈo", " Office "]

    /// Checks what a text is answered.
    ///
    /// - Parameters:
    ///   - acceptsFineTexts: Whether the rest of the request is accepted.
    ///   - outcome: Returns the answer to the request with a text.
    fileprivate func check(
        _ field: String, acceptsFineTexts: Bool, _ outcome: (String) async throws -> Outcome
    ) async rethrows {
        let empty = try await outcome("")
        if self == .needed || self == .name || self == .fileName {
            #expect(empty.isRefused && empty.status != 404, "\(field) may be empty")
        }
        // A server is asked for a part of them.
        for blank in acceptsFineTexts ? Self.blanks : ["\u{A0}", "\u{FEFF}", "\u{2800}", "\u{FE0F}", "\u{202E}"] {
            let answer = try await outcome(String(repeating: blank, count: 3))
            let what: Comment = "\(field): \(Self.codes(blank))"
            #expect(answer.status < 500, what)
            switch self {
            case .needed, .name, .fileName, .search: #expect(answer == empty, what)
            case .identity: #expect(answer.isRefused, what)
            case .optional: #expect(!acceptsFineTexts || !answer.isRefused, what)
            case .optionalName, .opaque: break
            }
        }
        for hidden in acceptsFineTexts ? Self.hidden : ["\u{7}", "\u{202E}", "\u{3164}"] {
            let answer = try await outcome("Al\(hidden)1@a.co")
            let what: Comment = "\(field): \(Self.codes(hidden))"
            #expect(answer.status < 500, what)
            switch self {
            case .name, .optionalName, .identity: #expect(answer.isRefused, what)
            case .needed, .optional, .search: #expect(!acceptsFineTexts || !answer.isRefused, what)
            case .fileName, .opaque: break
            }
        }
        let nul = try await outcome("Al\u{0}1@a.co")
        #expect(nul.status < 500, "\(field): NUL")
        switch self {
        case .fileName, .opaque: break
        default: #expect(nul.isRefused, "\(field): NUL")
        }
        for text in Self.fine {
            let answer = try await outcome(text)
            #expect(answer.status < 500, "\(field): \(text)")
            switch self {
            case .identity, .opaque: break
            default: #expect(!acceptsFineTexts || !answer.isRefused, "\(field): \(text)")
            }
        }
    }

    private static func codes(_ text: String) -> String {
        text.unicodeScalars.map { String($0.value, radix: 16, uppercase: true) }.joined(separator: " ")
    }
}
