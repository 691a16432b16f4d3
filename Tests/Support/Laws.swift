import Contract
import ContractCheck
import ContractServer
import Foundation
import HTTPTypes
import Testing

/// What every API holds to as a whole, so that no operation is forgotten anywhere. Each API's own suite says by hand what
/// its contract has, and asks.
public struct Laws<API: ServiceAPI>: Sendable {
    private let summary: [String]
    private let open: Set<String>
    private let examples: [Example]
    private let refusal: @Sendable (_ status: Int, _ message: String, _ requestID: String) -> String

    /// - Parameters:
    ///   - summary: The contract's headings, in its order, each section followed by what the decisions add to it.
    ///   - open: Those that anybody may call.
    ///   - examples: One for every operation.
    ///   - refusal: A refusal's body, to the letter.
    public init(
        summary: [String], open: Set<String> = [], examples: [Example],
        refusal: @escaping @Sendable (_ status: Int, _ message: String, _ requestID: String) -> String
    ) {
        self.summary = summary
        self.open = open
        self.examples = examples
        self.refusal = refusal
    }

    /// `METHOD /path` of all that is answered, the base path in front.
    private var served: [String] {
        API.endpoints.flatMap { endpoint in
            ([endpoint.route.method] + endpoint.route.alternatives).map {
                "\($0.rawValue) \(API.basePath)\(endpoint.route.path)"
            }
        }
    }

    // MARK: Of the types

    /// The operations are the contract's, in its order; each has an example, and is open to anybody or needs a caller.
    public func holdTheTypes() {
        #expect(API.endpoints.map { $0.signature } == summary)
        #expect(Set(examples.map(\.signature)) == Set(summary))
        for endpoint in API.endpoints {
            let (isOpen, isAuthenticated) = (
                endpoint is any OpenEndpoint.Type, endpoint is any AuthenticatedEndpoint.Type
            )
            #expect(isOpen == open.contains(endpoint.signature), "\(endpoint.signature)")
            #expect(isAuthenticated == !isOpen, "\(endpoint.signature)")
        }
    }

    /// Only these are done once under a key, and whatever answers 201 is among them: it makes something.
    public func holdTheKeys(_ keyed: Set<String>) {
        #expect(Set(API.endpoints.filter { $0.route.acceptsIdempotencyKey }.map { $0.signature }) == keyed)
        for endpoint in API.endpoints where endpoint.route.status == .created {
            #expect(endpoint.route.acceptsIdempotencyKey, "\(endpoint.signature)")
        }
    }

    // MARK: Of the server

    /// Every operation is answered, once.
    ///
    /// - Returns: What is answered besides.
    public func beyond(_ router: Router<API>) -> Set<String> {
        let signatures = router.signatures
        #expect(signatures.filter(served.contains).sorted() == served.sorted())
        return Set(signatures).subtracting(served)
    }

    /// 401 before the ids, the query, the size and the body are looked at.
    public func refuseStrangers(of host: some TestHost, _ message: String) async throws {
        let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
        for example in examples where example.needsCaller {
            let path = String(example.path.prefix { $0 != "?" })
            let paths = [
                example.path, example.with("999999999999999999999"),
                path + "?limit=x&sort=x&before=%00&q=%00&query=%00",
            ]
            let bodies = example.route.method == .get ? [nil] : [nil, "{", "[]", #"{"type":0,"name":0}"#]
            for path in paths {
                for body in bodies {
                    let answer = try await raw.send(
                        example.route.method, path, headers: [.idempotencyKey: "\u{7F}"], body: body)
                    expect(answer, 401, message, "\(example.signature): \(path)")
                }
            }
        }
    }

    /// A path answers its own methods, and names them to those who ask with another.
    public func refuseOtherMethods(of host: some TestHost) async throws {
        var allowed: [String: Set<String>] = ["/health": ["GET"], "/ready": ["GET"]]
        for signature in served {
            let parts = signature.split(separator: " ")
            allowed[String(parts[1].replacing(#/{\w+}/#, with: "7")), default: []].insert(String(parts[0]))
        }
        let raw = RawClient(baseURL: try root(of: host), transport: host.transport)
        for (path, allowed) in allowed {
            for method in [HTTPRequest.Method.get, .post, .put, .patch, .delete]
            where !allowed.contains(method.rawValue) {
                let answer = try await raw.send(method, path)
                expect(answer, 405, "Method not allowed", "\(method) \(path)")
                let allow = answer.headers[.allow]?.split(separator: ", ").map(String.init) ?? []
                #expect(Set(allow) == allowed, "\(method) \(path)")
            }
        }
    }

    /// Health is answered to anybody, outside of the API.
    public func answerHealth(of host: some TestHost, _ body: String = #"{"status":"ok"}"#) async throws {
        let raw = RawClient(baseURL: try root(of: host), transport: host.transport)
        for path in ["/health", "/ready"] {
            let answer = try await raw.send(.get, path)
            #expect(answer.status == 200)
            #expect(answer.text == body)
        }
    }

    private func root(of host: some TestHost) throws -> URL {
        try #require(URL(string: String(host.baseURL.absoluteString.dropLast(API.basePath.count))))
    }

    private func expect(_ answer: RawAnswer, _ status: Int, _ message: String, _ what: String) {
        #expect(answer.status == status, "\(what)")
        #expect(answer.text == refusal(status, message, answer.headers[.requestID] ?? ""), "\(what)")
    }
}

extension Example {
    /// The request is read as it was sent, and each capture of its path is a field of its own.
    public func surviveTheWire() throws {
        let (sent, received) = try roundTrip()
        #expect(sent == received)
        let steps = path.prefix { $0 != "?" }.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        #expect(steps.allSatisfy { !$0.isEmpty }, "a capture without a value: \(path)")
        for capture in route.captures {
            let moved = try moved(capture, "123456").prefix { $0 != "?" }
            let expected = zip(route.segments, steps).map { segment, step in
                if case .capture(capture) = segment { "123456" } else { String(step) }
            }
            #expect(moved == "/" + expected.joined(separator: "/"))
        }
    }

    /// Its path with another value in every capture.
    fileprivate func with(_ value: String) -> String {
        let steps = route.segments.map { segment in
            switch segment {
            case .literal(let text): text
            case .capture: value
            }
        }
        return "/" + steps.joined(separator: "/")
    }
}
