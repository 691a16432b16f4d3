import HTTPTypes
import Tracing

/// The trace of which a request is part: the client's, or the server's own.
struct RequestTrace: Sendable {
    /// The trace's id for the log; nil when the client has sent none and the server records none.
    let id: String?
    private let span: (any Span)?

    /// Begins the request's span.
    ///
    /// - Parameter tracer: Records spans; nil when the server records none.
    init(_ request: RequestHead, _ tracer: (any Tracer)?) {
        guard let tracer else {
            id = TraceParent(request.fields)?.traceID
            span = nil
            return
        }
        var context = ServiceContext.topLevel
        tracer.extract(request.fields, into: &context, using: HeaderExtractor())
        let span: any Span = tracer.startSpan(request.method.rawValue, context: context, ofKind: .server)
        var headers = HTTPFields()
        tracer.inject(span.context, into: &headers, using: HeaderInjector())
        id = TraceParent(headers)?.traceID
        self.span = span
    }

    /// Runs a closure whose spans are parts of the request's.
    nonisolated(nonsending) func run<T>(_ body: nonisolated(nonsending) () async throws -> T) async rethrows -> T {
        guard let span else { return try await body() }
        return try await ServiceContext.withValue(span.context) { try await body() }
    }

    /// Ends the request's span.
    ///
    /// - Parameter route: The route's template; nil when there is none.
    func end(
        _ method: HTTPRequest.Method, _ route: String?, _ status: HTTPResponse.Status, api: String, request: String
    ) {
        guard let span else { return }
        // OpenTelemetry's semantic conventions for HTTP.
        if let route { span.operationName = "\(method.rawValue) \(route)" }
        span.updateAttributes { attributes in
            attributes["http.request.method"] = method.rawValue
            attributes["http.response.status_code"] = status.code
            if let route { attributes["http.route"] = route }
            attributes["concord.api"] = api
            attributes["concord.request"] = request
        }
        if status.code >= 500 { span.setStatus(.init(code: .error)) }
        span.end()
    }
}

private struct HeaderExtractor: Extractor {
    func extract(key: String, from headers: HTTPFields) -> String? {
        guard let name = HTTPField.Name(key) else { return nil }
        let values = headers[values: name]
        return values.count == 1 ? values[0] : nil
    }
}

private struct HeaderInjector: Injector {
    func inject(_ value: String, forKey key: String, into headers: inout HTTPFields) {
        if let name = HTTPField.Name(key) { headers[name] = value }
    }
}
