import Contract
import ContractClient
import Foundation
import HTTPTypes

/// The rules for every request to an API, as scenarios. They are made from the API's operations and from the texts of its
/// refusals (`ServiceAPI.errorMessages`); what is left to an API are its own texts and examples of requests.
public struct RequestRules<World: APIWorld>: Sendable {
    public typealias API = World.API

    /// A request with a JSON body, and the check of its answer.
    public struct JSONRequest: Sendable {
        let method: HTTPRequest.Method
        let path: String
        let body: @Sendable () -> String
        let check: @Sendable (RawAnswer, _ what: String) throws -> Void

        /// - Parameter body: Returns a JSON object. It is called for each request.
        public init(
            _ path: String, method: HTTPRequest.Method = .post,
            _ body: @autoclosure @escaping @Sendable () -> String = "{}",
            check: @escaping @Sendable (RawAnswer, _ what: String) throws -> Void
        ) {
            self.method = method
            self.path = path
            self.body = body
            self.check = check
        }
    }

    /// Values of the field that carries credentials, by the text of their refusal. An empty text stands for any.
    public typealias BadCredentials = [String: [String]]

    private let unknownPaths: [String]
    /// The text of the refusal of a request without credentials.
    private let noCredentials: String
    private let badCredentials: @Sendable (World) async throws -> BadCredentials
    private let empty, whole: JSONRequest
    private var messages: ErrorMessages { API.errorMessages }
    /// The field by which a browser says that another site sends the request. It has a meaning beside cookies only.
    private let foreign: HTTPFields

    /// - Parameters:
    ///   - unknownPaths: Paths that do not exist, beside those that follow from the operations.
    ///   - noCredentials: The text of the refusal of a request without credentials; empty for any.
    ///   - badCredentials: Returns what is refused in place of credentials.
    ///   - empty: A request with an object that lacks what the operation needs, and the check of that answer.
    ///   - whole: A request with an object that has at least one member.
    public init(
        unknownPaths: [String] = [], noCredentials: String,
        badCredentials: @escaping @Sendable (World) async throws -> BadCredentials = { _ in [:] }, empty: JSONRequest,
        whole: JSONRequest
    ) {
        self.unknownPaths = unknownPaths
        self.noCredentials = noCredentials
        self.badCredentials = badCredentials
        self.empty = empty
        self.whole = whole
        foreign = API.credentials == .bearer ? [:] : [.origin: "null"]
    }

    // MARK: Paths and methods

    public func unknownPaths(clause: String) -> Scenario<World> {
        Scenario("An unknown path is 404, whatever else is wrong", clause: clause) { world in
            try await refuseUnknownPaths(of: world.raw)
        }
    }

    /// Fails unless each path that no operation has is 404.
    public func refuseUnknownPaths(of sender: RawClient) async throws {
        let paths = ["/nothing"] + unknownPaths + RequestPaths<API>.unknown
        let refusal = Problem(.notFound, messages.notFound)
        _ = try await together(paths.count, width: 8) { index in
            let path = paths[index]
            try await sender(.get, path, headers: foreign).refused(refusal, path)
            try await sender(.post, path, headers: foreign, body: "{").refused(refusal, path)
        }
    }

    public func otherMethods(
        _ name: String = "Another method is 405 with Allow, before credentials and ids", clause: String
    ) -> Scenario<World> {
        Scenario(name, clause: clause) { try await refuseOtherMethods(of: $0.raw) }
    }

    /// Fails unless each path refuses a method that it does not take, and one that no path takes.
    public func refuseOtherMethods(of sender: RawClient) async throws {
        let refusal = Problem(.methodNotAllowed, messages.methodNotAllowed)
        for (path, allowed) in RequestPaths<API>.methods.sorted(by: { $0.key < $1.key }) {
            let taken = RequestPaths<API>.routes(at: path).flatMap(\.methods)
            let other = ["PATCH", "PUT", "DELETE", "POST"].first { !taken.contains($0) }
            for method in [other, "PURGE"].compactMap({ $0 }).compactMap(HTTPRequest.Method.init(rawValue:)) {
                let answer = try await sender(method, path, headers: foreign, body: "{")
                try answer.refused(refusal, "\(method) \(path)")
                let listed = Set((answer.headers[.allow] ?? "").components(separatedBy: ", "))
                try expect(
                    listed.isSuperset(of: allowed) && !listed.contains(method.rawValue), "\(path) allows \(listed)")
            }
        }
    }

    // MARK: Credentials

    public func credentials(
        _ name: String = "Credentials come before sizes, bodies, keys and ids", clause: String, level: Level = .addition
    ) -> Scenario<World> {
        Scenario(name, clause: clause, level: level) { world in
            let bad = try await badCredentials(world)
            try await refuse(nil, noCredentials, in: world)
            for (text, values) in bad { for value in values { try await refuse(value, text, in: world) } }
            let posts = Self.closed().filter { $0.0 == .post }
            guard let post = posts.first(where: { $0.path == whole.path }) ?? posts.first else { return }
            let answer = try await world.raw(.post, post.path, body: String(repeating: " ", count: 1_048_577))
            try refused(answer, noCredentials, "1 MiB and a byte")
        }
    }

    /// Makes a scenario of requests that lack nothing but credentials.
    public func strangers(_ name: String, clause: String) -> Scenario<World> {
        Scenario(name, clause: clause) { try await refuse(nil, noCredentials, in: $0, isRightOtherwise: true) }
    }

    /// Fails unless every operation that needs a caller refuses the credentials. The request's key, id, query and body are
    /// wrong as well, unless `isRightOtherwise`.
    private func refuse(
        _ value: String?, _ text: String, in world: World, isRightOtherwise isRight: Bool = false
    ) async throws {
        for (method, path) in Self.closed(with: isRight ? "1" : nil) {
            let isGet = method == .get
            var headers: HTTPFields = isRight ? [:] : [.idempotencyKey: "é"]
            headers[API.credentials == .bearer ? .authorization : .cookie] = value
            let answer = try await world.raw(
                method, isGet && !isRight ? path + "?limit=x" : path, headers: headers,
                body: isGet ? nil : isRight ? "{}" : "{")
            try refused(answer, text, "\(method) \(path) with \(value ?? "nothing")")
        }
    }

    /// Returns the operations that need a caller.
    ///
    /// - Parameter capture: The text of each capture in paths; nil for one that no resource has.
    public static func closed(with capture: String? = nil) -> [(HTTPRequest.Method, path: String)] {
        API.endpoints.filter { $0 is any AuthenticatedEndpoint.Type }.map { $0.route }.flatMap { route in
            ([route.method] + route.alternatives).map { ($0, RequestPaths<API>.filled(route, with: capture)) }
        }
    }

    private func refused(_ answer: RawAnswer, _ text: String, _ what: String) throws {
        if text.isEmpty { try answer.expect(401..<402, what) } else { try answer.refused(401, text, what) }
    }

    // MARK: Bodies

    private var malformed: Problem { Problem(.badRequest, messages.malformedJSON, code: .malformedJSON) }

    public func bodies(
        _ name: String = "A body is one JSON object of at most 1 MiB and 64 levels", clause: String
    ) -> Scenario<World> {
        Scenario(name, clause: clause) { world in
            let sender = try await world.signedIn()
            func send(_ body: [UInt8]) async throws -> RawAnswer {
                try await sender.send(empty.method, empty.path, bytes: body)
            }
            func nested(_ levels: Int) -> String {
                #"{"x":"# + String(repeating: "[", count: levels - 1) + String(repeating: "]", count: levels - 1) + "}"
            }
            let texts = [
                "[]", "\"text\"", "1", "null", "{", "}", "{}{}", "{} x", #"{"a":}"#, "{'a':1}", #"{"a":1 "b":2}"#,
                #"{"a":1,}"#, "{\"a\":\"\u{1}\"}", "nonsense", "name=x", nested(65),
                String(repeating: #"{"a":"#, count: 65),
            ]
            for body in texts { try await send(Array(body.utf8)).refused(malformed, body) }
            try await send(Array(#"{"a":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)).refused(malformed, "no UTF-8")
            try await send("{}".utf16.flatMap { [UInt8($0), 0] }).refused(malformed, "UTF-16")

            let padding = String(repeating: "a", count: 1_048_576 - #"{"x":""}"#.utf8.count)
            for body in ["", "{}", " {\n} ", nested(64), #"{"x":"\#(padding)"}"#] {
                try empty.check(try await send(Array(body.utf8)), "\(body.prefix(20))")
            }
            for body in [#"{"x":"\#(padding)a"}"#, padding + padding] {
                try await send(Array(body.utf8)).refused(Problem(.contentTooLarge, messages.bodyTooLarge))
            }
        }
    }

    public func plainBodies(clause: String) -> Scenario<World> {
        Scenario("A compressed body is refused, and so is JSON with a key twice", clause: clause) { world in
            let sender = try await world.signedIn()
            func send(_ body: String, coding: String? = nil) async throws -> RawAnswer {
                var headers = HTTPFields()
                headers[.contentEncoding] = coding
                return try await sender(whole.method, whole.path, headers: headers, body: body)
            }
            for coding in ["gzip", "br", "deflate, identity"] {
                let answer = try await send(whole.body(), coding: coding)
                try answer.refused(Problem(.unsupportedMediaType, messages.unsupportedEncoding), coding)
                try expect(answer.headers[.acceptEncoding], equals: "identity")
            }
            try whole.check(try await send(whole.body(), coding: "identity"), "identity")
            // The first member comes again: with another value, and with its name in escapes.
            let key = whole.body().split(separator: "\"").dropFirst().first ?? ""
            let escaped = key.prefix(1) + key.utf8.dropFirst().map { #"\u00\#(String($0, radix: 16))"# }.joined()
            for more in [#""\#(key)":"y""#, #""\#(escaped)":"y""#, #""x":[{"y":1,"y":1}]"#] {
                try await send("\(whole.body().dropLast()),\(more)}").refused(malformed, more)
            }
        }
    }

    /// A sender, odd paths, and bodies with a `?` in place of each value.
    public typealias OddRequests = (
        sender: RawClient, paths: [String], bodies: [(HTTPRequest.Method, path: String, body: String)]
    )

    public func oddInput(
        _ name: String = "Bad input is never a 5xx", clause: String,
        _ requests: @escaping @Sendable (World) async throws -> OddRequests
    ) -> Scenario<World> {
        Scenario(name, clause: clause) { world in
            let (sender, paths, bodies) = try await requests(world)
            let values = [
                #""\ud800""#, #""\udc00\ud800""#, "1e999", "-0", "[[[]]]", #"{"a":{}}"#, #""\u202e\ufeff""#, "true",
                "null", #"[null,1,"x"]"#,
            ]
            func send(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws {
                let answer = try await sender(method, path, body: body)
                try expect(answer.status < 500, "\(path) \(body ?? ""): \(answer.status) \(answer.text)")
                _ = try answer.json()
            }
            for path in paths { try await send(.get, path) }
            for value in values {
                for (method, path, body) in bodies { try await send(method, path, body.replacing("?", with: value)) }
            }
        }
    }
}
