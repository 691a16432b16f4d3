import Contract
import ContractCheck
import ContractExamples
import ContractServer
import Foundation
import HTTPTypes
import Testing

/// The rules that every API keeps, so that no operation is forgotten anywhere.
public struct Laws<API: ServiceAPI>: Sendable {
    let examples: Examples
    let requests: [ExampleRequest]
    let refusal: @Sendable (_ status: Int, _ message: String, _ requestID: String) -> String

    /// - Parameters:
    ///   - examples: The contract's examples.
    ///   - requests: At least one request for each operation.
    ///   - refusal: Returns the exact body of a refusal.
    public init(
        examples: Examples, requests: [ExampleRequest],
        refusal: @escaping @Sendable (_ status: Int, _ message: String, _ requestID: String) -> String
    ) {
        self.examples = examples
        self.requests = requests
        self.refusal = refusal
    }

    /// `METHOD /path` of every operation, with the base path.
    private var served: [String] {
        API.endpoints.flatMap { endpoint in
            // The root of a base path has no slash at its end.
            let path = endpoint.route.path == "/" && !API.basePath.isEmpty ? "" : endpoint.route.path
            return ([endpoint.route.method] + endpoint.route.alternatives).map {
                "\($0.rawValue) \(API.basePath)\(path)"
            }
        }
    }

    // MARK: The server

    /// Checks that every operation is answered, once.
    ///
    /// - Returns: The other routes.
    public func otherRoutes(_ router: Router<API>) -> Set<String> {
        let signatures = router.signatures
        #expect(signatures.filter(served.contains).sorted() == served.sorted())
        return Set(signatures).subtracting(served)
    }

    /// Checks that a request without credentials is answered with 401 before its ids, query, size and body are checked.
    public func checkAuthentication(of host: some TestHost, _ message: String) async throws {
        let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
        for example in requests where example.needsCaller {
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

    /// Checks that each path answers its methods, and refuses others with a list of them.
    public func checkMethods(of host: some TestHost) async throws {
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

    /// Checks that health is answered without credentials, outside of the API's base path.
    public func checkHealth(of host: some TestHost, _ body: String = #"{"status":"ok"}"#) async throws {
        let raw = RawClient(baseURL: try root(of: host), transport: host.transport)
        for path in ["/health", "/ready"] {
            let answer = try await raw.send(.get, path)
            #expect(answer.status == 200)
            #expect(answer.text == body)
        }
    }

    /// Checks that the largest and the smallest whole number are judged as any others of their size: none of them stands for a
    /// field that could not be read, or for a number that is too large.
    public func checkNumbers() {
        var count = 0
        for request in requests {
            for (limit, other) in [(Int64.max, Int64.max / 2), (.min, .min / 2)] {
                let outcomes = request.judged(limit)
                #expect(outcomes == request.judged(other), "\(request.testDescription)")
                count += outcomes.count
            }
        }
        #expect(count > 0, "no request has a number")
    }

    private func root(of host: some TestHost) throws -> URL {
        try #require(URL(string: String(host.baseURL.absoluteString.dropLast(API.basePath.count))))
    }

    private func expect(_ answer: RawAnswer, _ status: Int, _ message: String, _ what: String) {
        #expect(answer.status == status, "\(what)")
        #expect(answer.text == refusal(status, message, answer.headers[.requestID] ?? ""), "\(what)")
    }
}
