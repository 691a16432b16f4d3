import Atomics
import CoreMetrics

/// The values of one metric under one set of labels.
class Series: @unchecked Sendable {
    let name: String
    /// The labels as the text format has them, without braces: `api="messenger",status="200"`.
    let labels: String

    init(name: String, labels: String) {
        self.name = name
        self.labels = labels
    }

    /// Appends the lines of the series.
    func write(to text: inout String) {}

    /// The value now; for a histogram, the number of its values.
    var value: Double { 0 }
    /// The numbers of a histogram's values in each bucket; the last one is for those above every bound.
    var buckets: [Int64] { [] }
}

/// A number that several threads change without a lock.
struct AtomicDouble: Sendable {
    private let bits = ManagedAtomic<UInt64>(0)

    var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

    func add(_ amount: Double) {
        var old = bits.load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: old) + amount).bitPattern
            let (isExchanged, current) = bits.weakCompareExchange(
                expected: old, desired: new, successOrdering: .relaxed, failureOrdering: .relaxed)
            if isExchanged { return }
            old = current
        }
    }
}

final class CounterSeries: Series, CounterHandler, @unchecked Sendable {
    private let count = ManagedAtomic<Int64>(0)

    func increment(by amount: Int64) { count.wrappingIncrement(by: amount, ordering: .relaxed) }
    func reset() { count.store(0, ordering: .relaxed) }

    override var value: Double { Double(count.load(ordering: .relaxed)) }

    override func write(to text: inout String) {
        text.appendSample(name, labels, "\(count.load(ordering: .relaxed))")
    }
}

final class FloatingPointCounterSeries: Series, FloatingPointCounterHandler, @unchecked Sendable {
    private let sum = AtomicDouble()

    func increment(by amount: Double) { if amount > 0, amount.isFinite { sum.add(amount) } }
    func reset() { sum.set(0) }
    override var value: Double { sum.value }
    override func write(to text: inout String) { text.appendSample(name, labels, sum.value.sample) }
}

final class GaugeSeries: Series, MeterHandler, RecorderHandler, @unchecked Sendable {
    private let current = AtomicDouble()

    func set(_ value: Int64) { current.set(Double(value)) }
    func set(_ value: Double) { current.set(value) }
    func record(_ value: Int64) { current.set(Double(value)) }
    func record(_ value: Double) { current.set(value) }
    func increment(by amount: Double) { current.add(amount) }
    func decrement(by amount: Double) { current.add(-amount) }
    override var value: Double { current.value }
    override func write(to text: inout String) { text.appendSample(name, labels, current.value.sample) }
}

final class HistogramSeries: Series, RecorderHandler, TimerHandler, @unchecked Sendable {
    private let bounds: [Double]
    /// The number of values in each bucket; the last one is for those above every bound.
    private let counts: [UnsafeAtomic<Int64>]
    private let sum = AtomicDouble()

    init(name: String, labels: String, bounds: [Double]) {
        self.bounds = bounds
        counts = (0...bounds.count).map { _ in .create(0) }
        super.init(name: name, labels: labels)
    }

    deinit { for count in counts { count.destroy() } }

    func record(_ value: Int64) { record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func record(_ value: Double) {
        var index = 0
        while index < bounds.count, value > bounds[index] { index += 1 }
        counts[index].wrappingIncrement(ordering: .relaxed)
        sum.add(value)
    }

    override var value: Double { Double(buckets.reduce(0, +)) }
    override var buckets: [Int64] { counts.map { $0.load(ordering: .relaxed) } }

    override func write(to text: inout String) {
        // The number of all values is the sum over the buckets, so that the lines agree while values are recorded.
        var count: Int64 = 0
        let prefix = labels.isEmpty ? "" : labels + ","
        for (index, bucket) in counts.enumerated() {
            count += bucket.load(ordering: .relaxed)
            let bound = index < bounds.count ? bounds[index].sample : "+Inf"
            text.appendSample(name + "_bucket", prefix + "le=\"" + bound + "\"", "\(count)")
        }
        text.appendSample(name + "_sum", labels, sum.value.sample)
        text.appendSample(name + "_count", labels, "\(count)")
    }
}
