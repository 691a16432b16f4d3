import Contract
import HTTPTypes

/// The paths of an API's operations, and paths that look like them.
enum RequestPaths<API: ServiceAPI> {
    /// Returns an operation's path with a text for each capture: one that no resource has, unless another is given.
    static func filled(_ route: Route, with capture: String? = nil) -> String {
        "/" + steps(of: route, with: capture).joined(separator: "/")
    }

    /// The methods that each path takes.
    static var methods: [String: Set<String>] {
        API.endpoints.map { $0.route }.reduce(into: [:]) { $0[filled($1), default: []].formUnion($1.methods) }
    }

    /// Paths that no operation has: the beginnings of paths, paths with a step or a slash too many, with another last step, with
    /// a first step in capitals, and with captures that can be none.
    static var unknown: [String] {
        let slashes = API.ignoresTrailingSlash ? "//" : "/"
        var paths: Set<String> = []
        for route in API.endpoints.map({ $0.route }) where !route.segments.isEmpty {
            let steps = steps(of: route)
            func add(_ steps: some Sequence<String>, _ end: String = "") {
                paths.insert("/" + steps.joined(separator: "/") + end)
            }
            for count in 1...steps.count {
                add(steps.prefix(count))
                add(steps.prefix(count), slashes)
            }
            add(steps + ["x"])
            add(steps.dropLast() + ["nothing"])
            add(steps.prefix(1).map { $0.uppercased() } + steps.dropFirst())
            for (index, segment) in route.segments.enumerated() {
                guard case .capture = segment else { continue }
                for text in impossible { add(steps[..<index] + [text] + steps[(index + 1)...]) }
            }
        }
        return paths.filter { routes(at: $0).isEmpty }.sorted()
    }

    private static func steps(of route: Route, with capture: String? = nil) -> [String] {
        route.segments.map { segment in
            switch segment {
            case .literal(let text): text
            case .capture: capture ?? (API.captureForm == .digits ? "0" : "x")
            }
        }
    }

    /// Texts that no capture has.
    private static var impossible: [String] {
        switch API.captureForm {
        case .digits: ["", "abc", "1a", "-1", "1.5", "%D9%A1"]
        case .text: [""]
        }
    }

    /// Returns the operations whose path this is, if captures are read as widely as possible.
    static func routes(at path: String) -> [Route] {
        let isSlashed = API.ignoresTrailingSlash && path.count > 1 && path.hasSuffix("/")
        let steps = path.dropFirst().dropLast(isSlashed ? 1 : 0).split(separator: "/", omittingEmptySubsequences: false)
        return API.endpoints.map { $0.route }.filter { route in
            route.segments.count == steps.count
                && zip(route.segments, steps).allSatisfy { segment, step in
                    switch segment {
                    case .literal(let text): text == step
                    case .capture: !impossible.contains(String(step))
                    }
                }
        }
    }
}

extension Route {
    /// The names of the methods that the operation takes.
    var methods: [String] { ([method] + alternatives).map(\.rawValue) }
}
