import ContractServer
import Tracing

// The JSON of OTLP (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): ids are hexadecimal, 64-bit
// numbers are texts, and enumerations are numbers.

/// A span that has ended.
struct SpanRecord: Encodable, Sendable {
    let traceId: String
    let spanId: String
    let parentSpanId: String?
    var name: String
    let kind: Int
    private let startTimeUnixNano: String
    private var endTimeUnixNano = ""
    private var attributes: [Attribute] = []
    var events: [Event] = []
    var status = Status()

    init(_ place: TraceParent?, parent: String?, name: String, kind: SpanKind, start: UInt64) {
        traceId = place?.traceID ?? ""
        spanId = place?.spanID ?? ""
        parentSpanId = parent
        self.name = name
        self.kind =
            switch kind {
            case .internal: 1
            case .server: 2
            case .client: 3
            case .producer: 4
            case .consumer: 5
            }
        startTimeUnixNano = "\(start)"
    }

    var end: UInt64 {
        get { UInt64(endTimeUnixNano) ?? 0 }
        set { endTimeUnixNano = "\(newValue)" }
    }

    mutating func add(_ attributes: SpanAttributes) { self.attributes += Attribute.list(attributes) }

    struct Status: Encodable, Sendable {
        var code = 0
        var message: String?

        init() {}

        init(_ status: SpanStatus) {
            code = status.code == .ok ? 1 : 2
            message = status.message
        }
    }

    struct Event: Encodable, Sendable {
        let timeUnixNano: String
        let name: String
        let attributes: [Attribute]

        init(_ event: SpanEvent) {
            timeUnixNano = "\(event.nanosecondsSinceEpoch)"
            name = event.name
            attributes = Attribute.list(event.attributes)
        }
    }

    struct Attribute: Encodable, Sendable {
        struct Value: Encodable, Sendable {
            var stringValue: String?
            var intValue: String?
            var doubleValue: Double?
            var boolValue: Bool?
        }

        let key: String
        let value: Value

        init(_ key: String, _ text: String) {
            self.key = key
            value = Value(stringValue: text)
        }

        private init(_ key: String, _ attribute: SpanAttribute) {
            self.key = key
            value =
                switch attribute {
                case .int32(let number): Value(intValue: "\(number)")
                case .int64(let number): Value(intValue: "\(number)")
                case .double(let number): Value(doubleValue: number)
                case .bool(let truth): Value(boolValue: truth)
                case .string(let text): Value(stringValue: text)
                case .stringConvertible(let value): Value(stringValue: "\(value)")
                default: Value(stringValue: "\(attribute)")
                }
        }

        static func list(_ attributes: SpanAttributes) -> [Attribute] {
            var list: [Attribute] = []
            // The attributes are no sequence.
            // swift-format-ignore: ReplaceForEachWithForLoop
            attributes.forEach { list.append(Attribute($0, $1)) }
            return list.sorted { $0.key < $1.key }
        }
    }
}

/// The body of a request to a collector.
struct SpanBatch: Encodable, Sendable {
    private struct ResourceSpans: Encodable {
        let resource: Resource
        let scopeSpans: [ScopeSpans]
    }

    private struct Resource: Encodable {
        let attributes: [SpanRecord.Attribute]
    }

    private struct ScopeSpans: Encodable {
        struct Scope: Encodable {
            let name = "concord"
        }

        let scope = Scope()
        let spans: [SpanRecord]
    }

    private enum Key: CodingKey {
        case resourceSpans
    }

    /// The attributes that all spans of this process have.
    let resource: [SpanRecord.Attribute]
    let spans: [SpanRecord]

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(
            [ResourceSpans(resource: Resource(attributes: resource), scopeSpans: [ScopeSpans(spans: spans)])],
            forKey: .resourceSpans)
    }
}
