import ContractServer
import CoreMetrics
import NIOConcurrencyHelpers
public import Tracing

/// Records spans for a collector of OpenTelemetry.
///
/// A program bootstraps swift-distributed-tracing with it, and a ``Server`` sends what it has recorded
/// (``ServerSettings/tracer``). A request whose `traceparent` says that it is not recorded has no spans.
public struct OTLPTracer: Tracer {
    let endpoint: String
    let queue = SpanQueue()
    private let ratio: Double

    /// - Parameters:
    ///   - endpoint: The collector's URL, such as `http://127.0.0.1:4318`. Spans are sent to `/v1/traces` there, as JSON.
    ///   - ratio: The share of the traces that begin here which are recorded, from 0 to 1.
    public init(endpoint: String, ratio: Double = 1) {
        let base = endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint
        self.endpoint = base.hasSuffix("/v1/traces") ? base : base + "/v1/traces"
        self.ratio = ratio
    }

    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> OTLPSpan {
        var context = context()
        let parent = context.traceParent
        let isSampled = parent?.isSampled ?? (Double.random(in: 0..<1) < ratio)
        context.traceParent = TraceParent(
            traceID: parent?.traceID ?? Self.randomID(words: 2), spanID: Self.randomID(words: 1), isSampled: isSampled)
        return OTLPSpan(
            operationName, kind, in: context, parent: parent?.spanID, at: instant().nanosecondsSinceEpoch,
            queue: isSampled ? queue : nil)
    }

    /// Returns a random number that is not zero, of 16 hexadecimal digits for each word.
    private static func randomID(words: Int) -> String {
        (0..<words).map { _ in
            let digits = String(UInt64.random(in: 1 ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        context.traceParent = extractor.extract(key: "traceparent", from: carrier).flatMap { TraceParent($0) }
    }

    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        if let parent = context.traceParent { injector.inject(parent.text, forKey: "traceparent", into: &carrier) }
    }

    /// Does nothing: the server sends spans every second.
    public func forceFlush() {}
}

/// A span that is being recorded.
public final class OTLPSpan: Span {
    private struct State {
        var record: SpanRecord
        var attributes: SpanAttributes = [:]
        var isEnded = false
    }

    public let context: ServiceContext
    private let queue: SpanQueue?
    private let state: NIOLockedValueBox<State>

    /// - Parameter queue: Receives the span at its end; nil when the span is not recorded.
    init(
        _ name: String, _ kind: SpanKind, in context: ServiceContext, parent: String?, at time: UInt64,
        queue: SpanQueue?
    ) {
        self.context = context
        self.queue = queue
        state = NIOLockedValueBox(
            State(record: SpanRecord(context.traceParent, parent: parent, name: name, kind: kind, start: time)))
    }

    public var isRecording: Bool { queue != nil }

    public var operationName: String {
        get { state.withLockedValue { $0.record.name } }
        set { state.withLockedValue { $0.record.name = newValue } }
    }

    public var attributes: SpanAttributes {
        get { state.withLockedValue { $0.attributes } }
        set { state.withLockedValue { $0.attributes = newValue } }
    }

    public func setStatus(_ status: SpanStatus) {
        state.withLockedValue { $0.record.status = .init(status) }
    }

    public func addEvent(_ event: SpanEvent) {
        state.withLockedValue { $0.record.events.append(.init(event)) }
    }

    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        var attributes = attributes
        attributes["exception.type"] = "\(type(of: error))"
        attributes["exception.message"] = "\(error)"
        addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
    }

    public func addLink(_ link: SpanLink) {}

    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let queue else { return }
        let time = instant().nanosecondsSinceEpoch
        let record = state.withLockedValue { state -> SpanRecord? in
            guard !state.isEnded else { return nil }
            state.isEnded = true
            var record = state.record
            record.end = time
            record.add(state.attributes)
            return record
        }
        if let record { queue.add(record) }
    }
}

/// The spans that wait to be sent. Beyond its capacity spans are dropped and counted: no request waits for a collector.
final class SpanQueue: Sendable {
    private let capacity: Int
    private let waiting = NIOLockedValueBox<[SpanRecord]>([])
    private let dropped = Counter(label: "concord_spans_dropped_total")

    init(capacity: Int = 4096) { self.capacity = capacity }

    func add(_ span: SpanRecord) {
        let isAdded = waiting.withLockedValue { waiting in
            guard waiting.count < capacity else { return false }
            waiting.append(span)
            return true
        }
        if !isAdded { drop(1) }
    }

    /// Takes some of the spans that have waited longest.
    func take(_ count: Int) -> [SpanRecord] {
        waiting.withLockedValue { waiting in
            defer { waiting.removeFirst(min(count, waiting.count)) }
            return Array(waiting.prefix(count))
        }
    }

    /// Counts spans that could not be sent.
    func drop(_ count: Int) { dropped.increment(by: count) }
}

extension ServiceContext {
    private enum Key: ServiceContextKey {
        typealias Value = TraceParent
    }

    /// The span of the current work.
    var traceParent: TraceParent? {
        get { self[Key.self] }
        set { self[Key.self] = newValue }
    }
}
