import Contract
import ContractClient
import Foundation
import HTTPTypes

/// The kinds of defects that every API's mutants have.
extension Defect {
    /// Replaces matches of a regular expression in the successful answers of an operation.
    public static func body(_ operation: String, _ pattern: String, _ template: String) -> Defect {
        answer(operation) { text in
            text.replacingOccurrences(of: pattern, with: template, options: .regularExpression)
        }
    }

    /// Changes the text of an operation's successful answers.
    public static func answer(_ operation: String, _ change: @escaping @Sendable (String) -> String) -> Defect {
        exchange(operation) { request, forward in
            var response = try await forward(request)
            if response.status.code < 300 { response.text = change(response.text) }
            return response
        }
    }

    /// Reverses a list in an operation's answers.
    public static func reversed(_ operation: String, _ member: String? = nil) -> Defect {
        answer(operation) { text in
            guard let json = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else { return text }
            if case .object(var members) = json, let member, case .list(let rows)? = members[member] {
                members[member] = .list(rows.reversed())
                return JSONValue.object(members).description
            }
            if case .list(let rows) = json { return JSONValue.list(rows.reversed()).description }
            return text
        }
    }

    public static func status(_ operation: String, _ from: Int, _ to: Int) -> Defect {
        exchange(operation) { request, forward in
            var response = try await forward(request)
            if response.status.code == from { response.status = .init(code: to) }
            return response
        }
    }

    /// Words a refusal otherwise.
    public static func refusal(_ operation: String, _ text: String, _ replacement: String) -> Defect {
        exchange(operation) { request, forward in
            var response = try await forward(request)
            if response.isRefusal(saying: text) {
                response.text = response.text.replacingOccurrences(of: text, with: replacement)
            }
            return response
        }
    }

    /// Sends a refused request again with another body, which the server accepts.
    public static func lenient(_ operation: String, _ text: String, _ body: String) -> Defect {
        exchange(operation) { request, forward in
            let response = try await forward(request)
            guard response.isRefusal(saying: text) else { return response }
            var request = request
            request.text = body
            return try await forward(request)
        }
    }

    /// Replaces a refusal by a successful answer.
    public static func accepting(_ operation: String, _ text: String, _ body: String) -> Defect {
        exchange(operation) { request, forward in
            let response = try await forward(request)
            return response.isRefusal(saying: text) ? .json(200, body) : response
        }
    }

    /// Replaces matches of a regular expression in an operation's requests.
    public static func request(_ operation: String, _ pattern: String, _ template: String) -> Defect {
        exchange(operation) { request, forward in
            var request = request
            if case .bytes = request.body {
                request.text = request.text.replacingOccurrences(
                    of: pattern, with: template, options: .regularExpression)
            }
            return try await forward(request)
        }
    }

    /// Reads bodies as if they had no coding.
    public static func anyCoding(_ operation: String) -> Defect {
        exchange(operation) { request, forward in
            var request = request
            request.headers[.contentEncoding] = nil
            return try await forward(request)
        }
    }

    /// Takes JSON with a key twice, as Foundation does.
    public static func keysTwice(_ operation: String) -> Defect {
        exchange(operation) { request, forward in
            let response = try await forward(request)
            guard response.status.code == 400, !request.json.isEmpty else { return response }
            var request = request
            request.json = request.json
            return try await forward(request)
        }
    }

    /// Replaces matches of a regular expression in the URLs of an operation's requests.
    public static func query(_ operation: String, _ pattern: String, _ template: String) -> Defect {
        exchange(operation) { request, forward in
            var request = request
            let text = request.url.absoluteString.replacingOccurrences(
                of: pattern, with: template, options: .regularExpression)
            if let url = URL(string: text) { request.url = url }
            return try await forward(request)
        }
    }

    /// Sets or removes a header of an operation's answers.
    public static func header(_ operation: String, _ field: HTTPField.Name, _ value: String?) -> Defect {
        exchange(operation) { request, forward in
            var response = try await forward(request)
            if response.headers[field] != nil { response.headers[field] = value }
            return response
        }
    }

    public static func exchange(
        _ operation: String,
        _ exchange: @escaping @Sendable (TransportRequest, Forward) async throws -> TransportResponse
    ) -> Defect {
        Defect(exchange: { request, forward in
            request.isFor(operation) ? try await exchange(request, forward) : try await forward(request)
        })
    }

    /// Replaces the server's frames.
    public static func frames(_ change: @escaping @Sendable (String) -> [String]) -> Defect {
        Defect(socket: { SocketDefect(received: change) })
    }

    /// Replaces matches of a regular expression in the server's frames.
    public static func frame(_ pattern: String, _ template: String) -> Defect {
        frames { [$0.replacingOccurrences(of: pattern, with: template, options: .regularExpression)] }
    }
}
