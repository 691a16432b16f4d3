import Contract
import HTTPTypes

/// A step of the paths. Literals take precedence over captures, so that `/users/search` is not a user.
///
/// It is changed only while a router is made, so exclusivity need not be checked. Paths are compared as bytes, because making texts of their steps costs more
/// than the rest of a request's look-up.
final class Node: @unchecked Sendable {
    enum Endpoint: Sendable {
        case operation(Operation)
        case plain(PlainRoute)
    }

    let path: String
    /// The step as it is compared: a literal's bytes; empty for a capture.
    private let literal: [UInt8]
    @exclusivity(unchecked) private var literals: [Node] = []
    @exclusivity(unchecked) private var captures: [(name: String, node: Node)] = []
    /// The rest of the path under one name, at most one.
    @exclusivity(unchecked) private var rest: (name: String, node: Node)?
    @exclusivity(unchecked) private var endpoints:
        [(method: HTTPRequest.Method, endpoint: Endpoint, metrics: RequestMetrics)] = []

    private var children: [Node] { literals + captures.map(\.node) + (rest.map { [$0.node] } ?? []) }

    init(path: String = "", literal: String = "") {
        self.path = path
        self.literal = Array(literal.utf8)
    }

    func insert(_ segments: ArraySlice<Route.Segment>, _ method: HTTPRequest.Method, _ endpoint: Endpoint) {
        guard let first = segments.first else {
            return endpoints.append((method, endpoint, RequestMetrics(route: path, method: method.rawValue)))
        }
        child(first).insert(segments.dropFirst(), method, endpoint)
    }

    private func child(_ segment: Route.Segment) -> Node {
        let child: Node
        switch segment {
        case .literal(let text):
            if let known = literals.first(where: { $0.literal.elementsEqual(text.utf8) }) { return known }
            child = Node(path: path + "/" + text, literal: text)
            literals.append(child)
        case .capture(let name):
            // `/chats/{id}` and `/chats/{chat}/…` may name the same step differently.
            if let known = captures.first(where: { $0.name == name }) { return known.node }
            child = Node(path: path + "/{\(name)}")
            if name.last == "*" {
                if let known = rest { return known.node }
                rest = (String(name.dropLast()), child)
            } else {
                captures.append((name, child))
            }
        }
        return child
    }

    /// Finds the node of a path, and adds what its captures stand for.
    ///
    /// - Parameter path: The rest of the path: empty, or a slash and what is behind it.
    func find(
        _ path: UnsafeRawBufferPointer, _ form: CaptureForm, _ values: inout [(name: String, value: String)]
    ) -> Node? {
        let slash = UInt8(ascii: "/")
        guard path.first == slash else { return endpoints.isEmpty ? nil : self }
        let end = path.firstIndex(of: slash, from: 1) ?? path.count
        let step = UnsafeRawBufferPointer(rebasing: path[1..<end])
        let rest = UnsafeRawBufferPointer(rebasing: path[end...])
        guard step.firstIndex(of: UInt8(ascii: "%"), from: 0) != nil else {
            return find(step, before: rest, of: path, form, &values)
        }
        let text = FormURLEncoded.percentDecode(String(decoding: step, as: UTF8.self), plusIsSpace: false)
        return Array(text.utf8).withUnsafeBytes { find($0, before: rest, of: path, form, &values) }
    }

    private func find(
        _ step: UnsafeRawBufferPointer, before remaining: UnsafeRawBufferPointer, of path: UnsafeRawBufferPointer,
        _ form: CaptureForm, _ values: inout [(name: String, value: String)]
    ) -> Node? {
        for node in literals where node.literal.count == step.count && node.literal.elementsEqual(step) {
            if let found = node.find(remaining, form, &values) { return found }
        }
        if !captures.isEmpty, form.admits(step) {
            let text = String(decoding: step, as: UTF8.self)
            for (name, node) in captures {
                values.append((name, text))
                if let found = node.find(remaining, form, &values) { return found }
                values.removeLast()
            }
        }
        guard let rest else { return nil }
        let text = String(decoding: path.dropFirst(), as: UTF8.self)
        values.append((rest.name, FormURLEncoded.percentDecode(text, plusIsSpace: false)))
        return rest.node
    }

    /// Returns what answers a method; nil when nothing does.
    func endpoint(for method: HTTPRequest.Method) -> (Endpoint, RequestMetrics)? {
        for known in endpoints where known.method == method { return (known.endpoint, known.metrics) }
        // The body is removed from answers to HEAD when they are written.
        if method == .head {
            for known in endpoints where known.method == .get { return (known.endpoint, known.metrics) }
        }
        return nil
    }

    /// The methods that something answers, as `Allow` lists them.
    var allowedMethods: String { endpoints.map(\.method.rawValue).joined(separator: ", ") }

    var signatures: [String] {
        endpoints.map { "\($0.method.rawValue) \(path)" } + children.flatMap(\.signatures)
    }
}

extension CaptureForm {
    fileprivate func admits(_ step: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .digits: !step.isEmpty && step.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        case .text: !step.isEmpty
        }
    }
}
