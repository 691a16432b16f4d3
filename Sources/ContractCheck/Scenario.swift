import Contract
import ContractClient
import HTTPTypes

/// One promise of a contract, as something to try on a running server.
///
/// A scenario makes its own users and looks at nothing that others made, so that many can run at once, against a
/// server in the same process or any base URL.
public struct Scenario<World: Sendable>: Sendable, CustomStringConvertible {
    /// In words: what holds.
    public let name: String
    /// The clause of the contract or its decisions.
    public let clause: String
    public let run: @Sendable (World) async throws -> Void

    /// - Parameter limit: Ends a scenario that waits for something that does not come.
    public init(
        _ name: String, clause: String, within limit: Duration = .seconds(120),
        run: @escaping @Sendable (World) async throws -> Void
    ) {
        self.name = name
        self.clause = clause
        self.run = { world in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await run(world) }
                group.addTask {
                    try await Task.sleep(for: limit)
                    throw Broken("no end within \(limit)")
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    public var description: String { name }
}

/// What a scenario found instead of what the contract promises.
public struct Broken: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String, line: UInt = #line, file: StaticString = #fileID) {
        self.description = "\(description) (\(file):\(line))"
    }
}

/// Fails the scenario unless the condition holds.
public func expect(
    _ condition: Bool, _ message: @autoclosure () -> String, line: UInt = #line, file: StaticString = #fileID
) throws {
    if !condition { throw Broken(message(), line: line, file: file) }
}

/// Fails the scenario unless the two are equal.
public func expect<Value: Equatable>(
    _ found: Value, equals expected: Value, line: UInt = #line, file: StaticString = #fileID
) throws {
    if found != expected { throw Broken("expected \(expected), found \(found)", line: line, file: file) }
}

/// Fails the scenario unless the request is refused with this status and exactly this message.
///
/// - Returns: the refusal, for its headers and body.
@discardableResult
public func expectRefusal(
    _ status: Int, _ message: String, line: UInt = #line, file: StaticString = #fileID,
    _ request: () async throws -> Void
) async throws -> APIError {
    do {
        try await request()
    } catch let error as APIError {
        guard error.status.code == status, error.message == message else {
            throw Broken(
                "expected \(status) \"\(message)\", found \(error.status.code) \"\(error.message)\"", line: line,
                file: file)
        }
        return error
    }
    throw Broken("expected \(status) \"\(message)\", but it was accepted", line: line, file: file)
}

/// Does one thing many times at once.
///
/// - Parameter width: How many are under way at a time.
/// - Returns: the results in the order of their index.
public func together<Value: Sendable>(
    _ count: Int, width: Int = 50, _ body: @escaping @Sendable (_ index: Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: (Int, Value).self) { group in
        var values: [Int: Value] = [:]
        for index in 0..<count {
            if index >= width, let (done, value) = try await group.next() { values[done] = value }
            group.addTask { (index, try await body(index)) }
        }
        for try await (done, value) in group { values[done] = value }
        return (0..<count).compactMap { values[$0] }
    }
}
