import Contract
import ContractExamples
import Foundation
import HTTPTypes

/// Asks the types of a request which values they accept: the rules are those of `validate()`, and are written nowhere else.
///
/// The values of the contract's examples are the starting points. One field is changed at a time.
package struct RequestProbe {
    /// The fields of one request, by their names.
    package struct Sample: Sendable {
        package var fields: [JSONTree.Member]
        /// Whether the body is a form.
        package var isForm: Bool

        var tree: JSONTree { .object(fields) }
    }

    package let samples: [Sample]
    private let refuse: (Sample) -> Problem?
    private let publish: (Sample) -> [String]

    package init<E: Endpoint>(_: E.Type, _ example: OperationExample) {
        let route = E.route
        samples = example.requests.map { Self.sample(of: $0, route) }
        publish = { sample in
            let request = try? RequestCoding.decode(E.self, from: Self.source(of: sample, route))
            return (request as? any PublishesTexts)?.publishedTexts.compactMap(\.self) ?? []
        }
        refuse = { sample in
            do throws(Problem) {
                let request = try RequestCoding.decode(E.self, from: Self.source(of: sample, route))
                // Where the server looks at the path's resource first, the handler validates.
                if E.fieldsComeLast { try request.validate() }
                return nil
            } catch {
                return error
            }
        }
    }

    // MARK: Asking

    /// Returns whether the request is accepted with another value at a path; without the value for nil.
    func accepts(_ value: JSONTree?, at path: JSONPath, in sample: Sample) -> Bool {
        refusal(of: value, at: path, in: sample) == nil
    }

    /// Returns the refusal of the request with another value at a path; nil when it is accepted.
    package func refusal(of value: JSONTree?, at path: JSONPath, in sample: Sample) -> Problem? {
        refuse(changing(sample, at: path, to: value))
    }

    /// Returns the texts of a request that strangers read.
    package func publishedTexts(of sample: Sample) -> [String] { publish(sample) }

    /// Returns a request with another value at a path.
    package func changing(_ sample: Sample, at path: JSONPath, to value: JSONTree?) -> Sample {
        var changed = sample
        changed.fields = Self.replacing(path[...], of: sample.tree, with: value).members
        return changed
    }

    /// Returns the samples that have a value at a path.
    package func having(_ path: JSONPath) -> [(sample: Sample, value: JSONTree)] {
        samples.compactMap { sample in
            guard let value = Self.value(at: path[...], in: sample.tree), value != .null else { return nil }
            return (sample, value)
        }
    }

    /// Whether every request must have a value at a path.
    func isRequired(_ path: JSONPath) -> Bool {
        let holders = samples.filter { Self.value(at: path.dropLast()[...], in: $0.tree) != nil }
        return !holders.isEmpty
            && holders.allSatisfy {
                Self.value(at: path[...], in: $0.tree) != nil && !accepts(nil, at: path, in: $0)
            }
    }

    private static func value(at path: ArraySlice<String>, in tree: JSONTree) -> JSONTree? {
        guard let name = path.first else { return tree }
        let next = name == "*" ? tree.elements.first : tree[name]
        return next.flatMap { value(at: path.dropFirst(), in: $0) }
    }

    private static func replacing(_ path: ArraySlice<String>, of tree: JSONTree, with value: JSONTree?) -> JSONTree {
        guard let name = path.first else { return value ?? .null }
        let rest = path.dropFirst()
        if name == "*" {
            let first = tree.elements.first ?? .null
            return .list([replacing(rest, of: first, with: value)] + tree.elements.dropFirst())
        }
        if rest.isEmpty { return tree.setting(name, value) }
        return tree.setting(name, replacing(rest, of: tree[name] ?? .object([]), with: value))
    }

    // MARK: Requests

    /// Takes the fields out of an example's path, query and body.
    private static func sample(of request: OperationExample.Request, _ route: Route) -> Sample {
        let parts = request.target.split(separator: "?", maxSplits: 1)
        var fields: [JSONTree.Member] = []
        for (segment, step) in zip(route.segments, (parts.first ?? "").split(separator: "/")) {
            if case .capture(let name) = segment { fields.append(.init(name, .string(decoded(step)))) }
        }
        for item in parts.dropFirst().first?.split(separator: "&") ?? [] {
            let pair = item.split(separator: "=", maxSplits: 1)
            guard let name = pair.first else { continue }
            fields.append(.init(decoded(name), .string(pair.dropFirst().first.map(decoded) ?? "")))
        }
        return Sample(fields: fields + (request.body?.tree.members ?? []), isForm: request.isForm)
    }

    private static func decoded(_ text: Substring) -> String { text.removingPercentEncoding ?? String(text) }

    private static func source(of sample: Sample, _ route: Route) -> RequestCoding.Source {
        var source = RequestCoding.Source()
        var body: [JSONTree.Member] = []
        let isText: Bool
        switch route.form {
        case .query: isText = true
        case .json: isText = false
        case .multipart: isText = true
        case .jsonOrMultipart: isText = sample.isForm
        }
        for field in sample.fields {
            if route.captures.contains(field.name) {
                source.captures.append((field.name, text(field.value)))
            } else if isText {
                source.items.append((field.name, text(field.value)))
            } else {
                body.append(field)
            }
        }
        if !isText { source.body = Array(JSONTree.object(body).compact.utf8) }
        if sample.isForm, let rules = route.form.uploadRules {
            source.uploads = [rules.field: [Upload(.bytes([1]), filename: "photo.jpg", contentType: "image/jpeg")]]
        }
        return source
    }

    /// Returns the path with its query, and the body, of a request that is no form; nil for a form.
    package static func written(_ sample: Sample, _ route: Route) -> (path: String, body: String?)? {
        if sample.isForm { return nil }
        let source = source(of: sample, route)
        func encoded(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        }
        let steps = route.segments.map { segment in
            switch segment {
            case .literal(let text): text
            case .capture(let name): encoded(source.captures.first { $0.name == name }?.value ?? "")
            }
        }
        let query = source.items.map { "\($0.name)=\(encoded($0.value))" }.joined(separator: "&")
        let path = "/" + steps.joined(separator: "/") + (query.isEmpty ? "" : "?\(query)")
        return (path, source.body.map { String(decoding: $0, as: UTF8.self) })
    }

    /// A value as it is written in a path, a query or a form.
    private static func text(_ value: JSONTree) -> String { value.text ?? value.compact }
}

extension Route.Form {
    /// The rules for files; nil for a request without any.
    var uploadRules: UploadRules? {
        switch self {
        case .query, .json: nil
        case .multipart(let rules): rules
        case .jsonOrMultipart(let rules): rules
        }
    }
}
