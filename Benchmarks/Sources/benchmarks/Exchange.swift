import Foundation

/// Makes single blocking requests, each on a connection of its own, for preparations and not for measurements.
enum Exchange {
    /// The `Idempotency-Key` of requests that are sent again with other keys.
    static let unusedKey = "00000000-00000000000000000000"

    static func request(
        _ method: String, _ path: String, port: Int, token: String? = nil, cookie: String? = nil, body: String? = nil,
        keyed: Bool = false, keepAlive: Bool = false
    ) -> String {
        var text = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
        if let token { text += "Authorization: Bearer \(token)\r\n" }
        if keyed { text += "Idempotency-Key: \(unusedKey)\r\n" }
        if let cookie { text += "Cookie: \(cookie)\r\n" }
        if let body { text += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n" }
        if !keepAlive { text += "Connection: close\r\n" }
        return text + "\r\n" + (body ?? "")
    }

    /// Returns the body of the answer as JSON.
    ///
    /// - Throws: ``Failed`` for an answer that is not a success.
    static func json(
        _ method: String, _ path: String, port: Int, token: String? = nil, body: String? = nil
    ) throws -> Any {
        let answer = try send(request(method, path, port: port, token: token, body: body), to: port)
        return try JSONSerialization.jsonObject(with: answer, options: .fragmentsAllowed)
    }

    /// Returns the body of the answer to a request that keeps the connection open.
    static func answer(to request: String, port: Int) throws -> String {
        guard let headEnd = request.range(of: "\r\n\r\n") else { throw Failed("no request: \(request)") }
        let closing = request.replacingCharacters(in: headEnd, with: "\r\nConnection: close\r\n\r\n")
        return String(decoding: try send(closing, to: port), as: UTF8.self)
    }

    /// Sends a request that asks the server to close, and returns everything until the end.
    @discardableResult
    static func send(_ request: String, to port: Int) throws -> Data {
        let socket = try Socket(to: port)
        defer { socket.close() }
        try socket.send(request)
        var answer = Data()
        while case let bytes = socket.receive(), !bytes.isEmpty { answer += bytes }
        let status = String(decoding: answer.prefix(12), as: UTF8.self)
        guard status.hasPrefix("HTTP/1.1 2"), let headEnd = answer.range(of: Data("\r\n\r\n".utf8)) else {
            throw Failed("\(request.prefix { $0 != "\r" }): \(String(decoding: answer, as: UTF8.self))")
        }
        return answer[headEnd.upperBound...]
    }
}
