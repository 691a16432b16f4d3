import Foundation

/// A message on a socket: a JSON object whose member `type` tells which message it is.
///
/// A frame is a struct with a type, as a request is a struct with a route. Its other members are the struct's properties;
/// the type is added when the frame is encoded. A section of the API lists its frames (``Section``), and from those lists
/// come the ``FrameSet`` that decodes them and what the tests hold to the contract's examples.
public protocol Frame: Codable, Hashable, Sendable {
    /// The value of the member `type`.
    static var type: String { get }
}

/// A frame that a client sends.
///
/// A server decodes it leniently, as it decodes requests: a member that is absent or of another type gets the
/// placeholder of ``WireField``, which ``validate()`` refuses in the contract's words.
public protocol ClientFrame: Frame {
    /// Checks the members. Servers call it before they act on a frame.
    ///
    /// - Throws: The problem whose message the server answers.
    func validate() throws(Problem)
}

extension ClientFrame {
    public func validate() throws(Problem) {}
}

/// A frame that a server sends.
public protocol ServerFrame: Frame {}

/// A frame of a type that this version does not know. An app skips it; a server answers it or skips it, as its contract
/// says.
public struct UnknownFrame: ClientFrame, ServerFrame {
    public static let type = ""
    /// The type; empty when the frame has none.
    public let type: String

    public init(type: String) { self.type = type }
    public init(from decoder: any Decoder) throws { self.init(type: try FrameHead(from: decoder).type) }
    public func encode(to encoder: any Encoder) throws {}
}

extension Frame {
    /// The value of the member `type`, which is that of the instance for an ``UnknownFrame``.
    public var wireType: String { (self as? UnknownFrame)?.type ?? Self.type }

    /// Returns whether a frame of any type is this one.
    public static func == (frame: any Frame, other: Self) -> Bool { frame as? Self == other }

    /// Returns whether a frame of any type is another one.
    public static func != (frame: any Frame, other: Self) -> Bool { frame as? Self != other }

    /// The frame's JSON.
    public func json() throws -> Data { try JSONEncoder().encode(TypedFrame(self)) }
}

/// Encodes a frame with its type, which comes first.
public struct TypedFrame: Encodable, Sendable {
    /// The frame.
    public let frame: any Frame

    public init(_ frame: any Frame) { self.frame = frame }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FrameHead.CodingKeys.self)
        try container.encode(frame.wireType, forKey: .type)
        try frame.encode(to: encoder)
    }
}

/// The frames that one side of an API's sockets sends, by their type.
public struct FrameSet<Value>: Sendable {
    /// The types of the frames, in the order of the sections.
    public let types: [any Frame.Type]
    private let byType: [String: any Frame.Type]
    private let unknown: @Sendable (UnknownFrame) -> Value

    /// Takes the frames of one side from the sections of an API. No two of them may have the same `type`.
    ///
    /// - Parameters:
    ///   - sections: The sections.
    ///   - unknown: Returns a frame of an unknown type as one of this side.
    ///   - isMember: Returns whether frames of a type are sent by this side.
    public init(
        _ sections: [Section], unknown: @escaping @Sendable (UnknownFrame) -> Value,
        where isMember: (any Frame.Type) -> Bool
    ) {
        types = sections.flatMap(\.frames).filter(isMember)
        byType = Dictionary(uniqueKeysWithValues: types.map { ($0.type, $0) })
        self.unknown = unknown
    }

    /// Decodes the JSON object of a frame. A frame of a type that is not in the set becomes an ``UnknownFrame``.
    ///
    /// - Throws: `DecodingError`.
    public func decode(_ json: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.userInfo[.frames] = byType
        return value(of: try decoder.decode(DecodedFrame.self, from: json).frame)
    }

    /// Decodes a frame that is a part of another value.
    public func decode(from decoder: any Decoder) throws -> Value {
        value(of: try DecodedFrame(from: decoder, types: byType).frame)
    }

    private func value(of frame: any Frame) -> Value {
        (frame as? UnknownFrame).map(unknown) ?? frame as! Value  // The set has frames of this side alone.
    }
}

extension CodingUserInfoKey {
    fileprivate static let frames = CodingUserInfoKey(rawValue: "concord.frames")!
}

/// The member that every frame has.
private struct FrameHead: Decodable {
    enum CodingKeys: String, CodingKey { case type }

    /// The type; empty when it is missing or not a text.
    let type: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        type = (try? container.decode(String.self, forKey: .type)) ?? ""
    }
}

private struct DecodedFrame: Decodable {
    let frame: any Frame

    init(from decoder: any Decoder) throws {
        try self.init(from: decoder, types: decoder.userInfo[.frames] as? [String: any Frame.Type] ?? [:])
    }

    init(from decoder: any Decoder, types: [String: any Frame.Type]) throws {
        let head = try FrameHead(from: decoder)
        guard let type = types[head.type] else {
            frame = UnknownFrame(type: head.type)
            return
        }
        let isLenient = type is any ClientFrame.Type
        frame = try type.init(from: isLenient ? FieldDecoder(fields: Fields(.init()), body: decoder) : decoder)
    }
}
