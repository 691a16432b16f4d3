import ContractClient
import ContractExamples
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers

/// Mutants that remember earlier answers.
extension Mutant {
    /// Repeats the first answer to a request, whatever has changed since.
    public static func cached(_ operation: String) -> Mutant {
        Mutant(operation, "repeats its first answer") {
            let answers = AnswerMemory()
            return .exchange(operation) { request, forward in
                if let first = answers.first(for: request) { return first }
                let response = try await forward(request)
                if response.status.code < 300 { answers.note(response, for: request) }
                return response
            }
        }
    }

    /// Still shows what the caller may no longer see, or what is gone.
    public static func lingering(_ operation: String) -> Mutant {
        Mutant(operation, "still shows what is gone") {
            let answers = AnswerMemory()
            return .exchange(operation) { request, forward in
                let response = try await forward(request)
                if response.status.code < 300 { answers.note(response, for: request) }
                let isGone = [401, 403, 404].contains(response.status.code)
                return isGone ? answers.first(for: request) ?? response : response
            }
        }
    }

    /// Answers a refused request with what another user is shown.
    public static func leaking(
        _ operation: String,
        when isRefused: @escaping @Sendable (TransportResponse) -> Bool = { [403, 404].contains($0.status.code) }
    ) -> Mutant {
        Mutant(operation, "shows strangers what is others'") {
            let credentials = NIOLockedValueBox<[HTTPFields]>([])
            return Defect(exchange: { request, forward in
                let response = try await forward(request)
                let own = request.credentials
                credentials.withLockedValue { known in
                    if response.status.code < 300, !own.isEmpty, !known.contains(own) { known.append(own) }
                }
                guard request.isFor(operation), isRefused(response), !own.isEmpty else { return response }
                for other in credentials.withLockedValue({ $0 }) where other != own {
                    var request = request
                    for field in other { request.headers[field.name] = field.value }
                    let shown = try await forward(request)
                    if shown.status.code < 300, !isRefused(shown) { return shown }
                }
                return response
            })
        }
    }
}

/// Answers by request and caller.
private final class AnswerMemory: Sendable {
    private struct Key: Hashable {
        let method: String
        let url: URL
        let credentials: HTTPFields
    }

    private let answers = NIOLockedValueBox<[Key: TransportResponse]>([:])

    func first(for request: TransportRequest) -> TransportResponse? {
        answers.withLockedValue { $0[Self.key(of: request)] }
    }

    func note(_ response: TransportResponse, for request: TransportRequest) {
        answers.withLockedValue { answers in
            let key = Self.key(of: request)
            if answers[key] == nil { answers[key] = response }
        }
    }

    private static func key(of request: TransportRequest) -> Key {
        Key(method: request.method.rawValue, url: request.url, credentials: request.credentials)
    }
}

extension TransportRequest {
    /// What tells the caller from others.
    fileprivate var credentials: HTTPFields {
        var fields = HTTPFields()
        fields[.authorization] = headers[.authorization]
        fields[.cookie] = headers[.cookie]
        return fields
    }
}
