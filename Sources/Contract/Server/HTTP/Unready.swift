public import Contract
public import NIOCore

/// The server cannot serve, because parts of it are unavailable: the problem in the API's shape, with an additional
/// member `parts`.
public struct Unready: Error, CustomStringConvertible {
    let problem: Problem
    let parts: [String: String]

    public var description: String { Self.members(parts) }

    /// - Parameter parts: The states of the parts by their names.
    public init(problem: Problem, parts: [String: String]) {
        self.problem = problem
        self.parts = parts
    }

    /// Adds the parts to a JSON object, as its last member.
    public static func adding(_ parts: [String: String], to object: ByteBuffer) -> ByteBuffer {
        var result = ByteBuffer(bytes: object.readableBytesView.dropLast())
        result.writeString(",\"parts\":\(members(parts))}")
        return result
    }

    private static func members(_ parts: [String: String]) -> String {
        let members = parts.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }
        return "{\(members.joined(separator: ","))}"
    }
}
