import Contract
import HTTPTypes

/// A request that takes an `Idempotency-Key`, and a different one to the same path, where there can be one.
public struct KeyedRequest: Sendable {
    let name: String
    let status: Int
    let varies: Bool
    let send: @Sendable (_ usual: Bool, HTTPFields) async throws -> RawAnswer

    /// - Parameters:
    ///   - status: The status of the answer.
    ///   - varies: Whether there is a different request to the same path. An operation without fields has none.
    ///   - send: Sends the request, or the different one.
    public init(
        _ name: String, _ status: Int = 201, varies: Bool = true,
        _ send: @escaping @Sendable (_ usual: Bool, HTTPFields) async throws -> RawAnswer
    ) {
        self.name = name
        self.status = status
        self.varies = varies
        self.send = send
    }
}

extension APIWorld {
    /// Fails unless a request has one effect, however often it comes under a key: all answers are the first one, and all but one
    /// say that they are repeats. The key is of no use for another request.
    ///
    /// - Parameters:
    ///   - repeats: The number of repeats, which are sent at once.
    ///   - isFirstAlone: Whether they are sent when the first answer is there. Otherwise all are sent at once.
    ///   - content: Returns what is the same in all answers.
    public func check(
        _ request: KeyedRequest, repeats: Int, isFirstAlone: Bool = false,
        comparing content: (RawAnswer) -> [UInt8] = { $0.body }
    ) async throws {
        let (key, name) = (freshKey(), request.name)
        var answers: [RawAnswer] = []
        if isFirstAlone {
            answers = [try await request.send(true, key)]
            try expect(answers.first?.headers[.idempotentReplayed], equals: nil)
        }
        answers += try await together(isFirstAlone ? repeats : repeats + 1) { _ in try await request.send(true, key) }
        try expect(answers.allSatisfy { $0.status == request.status }, "\(name): \(answers.map(\.status))")
        try expect(Set(answers.map(content)).count == 1, "\(name): \(Set(answers.map(\.text)))")
        try expect(answers.filter { $0.headers[.idempotentReplayed] == nil }.count, equals: 1)
        let reused = Problem(
            .unprocessableContent, API.errorMessages.reusedIdempotencyKey, code: .reusedIdempotencyKey)
        if request.varies { try await request.send(false, key).refused(reused, name) }
        // The key still belongs to the first answer.
        let last = try await request.send(true, key)
        try expect(
            last.status == request.status && answers.map(content).contains(content(last)), "\(name): \(last.text)")
        try expect(last.headers[.idempotentReplayed], equals: "true")
    }

    /// Fails unless a key is 1 to 255 printable ASCII characters.
    public func refuseBadKeys(of request: KeyedRequest) async throws {
        for key in ["", "é", "a\tb", String(repeating: "k", count: 256)] {
            try await request.send(true, [.idempotencyKey: key])
                .refused(
                    Problem(.badRequest, API.errorMessages.invalidIdempotencyKey),
                    "\(request.name) \(key.debugDescription)")
        }
    }
}
