/// A value of which a sample of the documentation needs the id alone.
public struct Identified<ID: Sendable>: Sendable {
    public let id: ID

    public init(_ id: ID) { self.id = id }
}
