import Contract
import ContractClient
import Foundation
import HTTPTypes

/// A difference between what a scenario found and what the contract promises.
public struct CheckFailure: Error, CustomStringConvertible {
    /// The difference in words. Empty when ``expected`` and ``found`` are enough.
    public let message: String
    public let expected: String?
    public let found: String?
    /// The exchange with the unexpected answer, where it is known.
    public let exchange: Exchange?
    /// The line of the scenario. Nil for rules about all answers and frames.
    public let place: String?

    public init(_ message: String, in exchange: Exchange? = nil, line: UInt = #line, file: StaticString = #fileID) {
        self.message = message
        self.expected = nil
        self.found = nil
        self.exchange = exchange
        self.place = "\(file):\(line)"
    }

    /// - Parameter message: A description, if one is needed.
    public init(
        expected: String, found: String, _ message: String = "", in exchange: Exchange? = nil, line: UInt = #line,
        file: StaticString = #fileID
    ) {
        self.message = message
        self.expected = expected
        self.found = found
        self.exchange = exchange
        self.place = "\(file):\(line)"
    }

    /// Creates a failure about JSON that differs from the contract's.
    ///
    /// - Parameter what: The value into which `difference.path` leads.
    public init(_ difference: JSONDifference, of what: String, in exchange: Exchange? = nil) {
        self.message = what + difference.path
        self.expected = difference.expected
        self.found = difference.found
        self.exchange = exchange
        self.place = nil
    }

    public var description: String {
        var parts = message.isEmpty ? [] : [message]
        if let expected, let found { parts.append("expected \(expected), found \(found)") }
        return parts.joined(separator: ": ") + (place.map { " (\($0))" } ?? "")
    }
}

/// Fails the scenario unless the condition holds.
public func expect(
    _ condition: Bool, _ message: @autoclosure () -> String, line: UInt = #line, file: StaticString = #fileID
) throws {
    if !condition { throw CheckFailure(message(), line: line, file: file) }
}

/// Asks again, 20 ms after each answer, until the condition holds, for what a server may do a moment later. Fails the
/// scenario at the 250th attempt.
///
/// Attempts are counted rather than seconds: on a busy machine each takes longer, and so does what the server does.
public func expectSoon(
    _ message: @autoclosure () -> String, line: UInt = #line, file: StaticString = #fileID,
    _ condition: () async throws -> Bool
) async throws {
    for _ in 1..<250 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(20))
    }
    try expect(try await condition(), message(), line: line, file: file)
}

/// Fails the scenario unless the two are equal.
public func expect<Value: Equatable>(
    _ found: Value, equals expected: Value, line: UInt = #line, file: StaticString = #fileID
) throws {
    if found != expected { throw CheckFailure(expected: shown(expected), found: shown(found), line: line, file: file) }
}

/// Fails the scenario unless a frame is this one.
public func expect<Expected: Frame>(
    _ found: any Frame, is expected: Expected, line: UInt = #line, file: StaticString = #fileID
) throws {
    guard found as? Expected != expected else { return }
    throw CheckFailure(
        expected: shown(TypedFrame(expected)), found: shown(TypedFrame(found)), line: line, file: file)
}

/// Fails the scenario unless the two are equal, and says where they differ.
public func expect(
    _ found: JSONValue, equals expected: JSONValue, line: UInt = #line, file: StaticString = #fileID
) throws {
    guard let difference = found.difference(from: expected) else { return }
    throw CheckFailure(
        expected: difference.expected, found: difference.found, difference.path, line: line, file: file)
}

/// Fails the scenario unless the two are equal, and says where they differ. A member that is not there is nil.
public func expect(
    _ found: JSONValue?, equals expected: JSONValue?, line: UInt = #line, file: StaticString = #fileID
) throws {
    guard found != expected else { return }
    guard let found, let expected else {
        throw CheckFailure(expected: shown(expected), found: shown(found), line: line, file: file)
    }
    try expect(found, equals: expected, line: line, file: file)
}

/// Returns the value as JSON if it has such a form: that is shorter than Swift's own description, and known to readers.
private func shown<Value>(_ value: Value) -> String {
    if case Optional<Any>.none = value as Any { return "nothing" }
    guard let value = value as? any Encodable else { return "\(value)" }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "\(value)"
}

/// Fails the scenario unless the request is refused with this status and exactly this message.
///
/// - Returns: The refusal, with its headers and body.
@discardableResult
public func expectRefusal(
    _ status: Int, _ message: String, line: UInt = #line, file: StaticString = #fileID,
    _ request: () async throws -> Void
) async throws -> APIError {
    let expected = "\(status) \"\(message)\""
    do {
        try await request()
    } catch let error as APIError {
        guard error.status.code == status, error.message == message else {
            throw CheckFailure(
                expected: expected, found: "\(error.status.code) \"\(error.message)\"", line: line, file: file)
        }
        return error
    }
    throw CheckFailure(expected: expected, found: "it was accepted", line: line, file: file)
}

extension Day {
    /// Reads a day, such as `2026-02-23`.
    ///
    /// - Throws: ``CheckFailure`` when there is no such day.
    public init(checked text: String) throws {
        guard let day = Day(text) else { throw CheckFailure("'\(text)' is no day") }
        self = day
    }
}

extension AsyncSequence {
    /// Reads a list that should have the given number of elements.
    ///
    /// - Returns: All elements, or the first of too many, so that a server whose pages never end does not delay a
    ///   scenario forever.
    public func elements(expecting count: Int) async throws -> [Element] {
        var elements: [Element] = []
        for try await element in prefix(count + 1) { elements.append(element) }
        return elements
    }
}

/// Runs a function many times concurrently.
///
/// - Parameter width: The number of calls that run at the same time.
/// - Returns: The results in the order of their index.
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
