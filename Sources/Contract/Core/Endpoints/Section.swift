/// A section of a contract: its operations, and the frames that it adds to the socket.
///
/// An API is the list of its sections. What the server routes, what the SDK decodes and what the tests hold to the
/// contract's examples is derived from it.
public struct Section: Sendable {
    /// The heading of the section, such as `Messages`; empty for a section without one.
    public let title: String
    /// The operations, in the order of the contract.
    public let endpoints: [any Endpoint.Type]
    /// The frames, of clients and of servers.
    public let frames: [any Frame.Type]

    public init(_ endpoints: [any Endpoint.Type] = [], frames: [any Frame.Type] = []) {
        self.init("", endpoints, frames: frames)
    }

    /// Makes a section with a heading.
    public init(_ title: String, _ endpoints: [any Endpoint.Type] = [], frames: [any Frame.Type] = []) {
        self.title = title
        self.endpoints = endpoints
        self.frames = frames
    }
}
