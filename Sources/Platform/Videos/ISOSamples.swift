/// The locations of a track's samples (ISO/IEC 14496-12 §8.7): the chunks, the number of samples in each, and their
/// sizes.
struct SampleTable {
    private let file: VideoBytes
    private var chunks: ISOBox?
    private var runs: ISOBox?
    private var sizes: ISOBox?

    init(_ table: ISOBox, in file: VideoBytes) throws(VideoError) {
        self.file = file
        var boxes: [BoxType: ISOBox] = [:]
        try file.forEachBox(in: table) { child throws(VideoError) in boxes[child.type] = child }
        chunks = boxes["stco"] ?? boxes["co64"]
        runs = boxes["stsc"]
        sizes = boxes["stsz"] ?? boxes["stz2"]
    }

    /// Calls `body` for each chunk of samples, as far as it is in the file.
    func forEachChunk(_ body: (Range<Int64>) throws(VideoError) -> Void) throws(VideoError) {
        guard let chunks, let runs, let sizes else { return }
        let width = chunks.type == "co64" ? 8 : 4
        let count = try entries(of: chunks, at: 4, size: width)
        let runCount = try entries(of: runs, at: 4, size: 12)
        var (run, sample) = (0, 0)
        var perChunk: UInt64 = 0
        for chunk in 0..<count {
            try file.step()
            while run < runCount, let first = try file.number(at: runs.content + 8 + Int64(run) * 12, size: 4),
                first <= UInt64(chunk) + 1
            {
                try file.step()
                perChunk = try file.number(at: runs.content + 12 + Int64(run) * 12, size: 4) ?? 0
                run += 1
            }
            let length = try length(of: perChunk, from: sample, in: sizes)
            sample += Int(clamping: perChunk)
            guard let offset = try file.number(at: chunks.content + 8 + Int64(chunk) * Int64(width), size: width),
                let range = file.range(from: offset, length: length)
            else { continue }
            try body(range)
        }
    }

    /// Returns the number of entries that a table declares, as far as its size allows them.
    private func entries(of box: ISOBox, at offset: Int64, size: Int) throws(VideoError) -> Int {
        let said = try file.number(at: box.content + offset, size: 4) ?? 0
        return Int(min(said, UInt64(max(0, box.end - box.content - offset - 4)) / UInt64(size)))
    }

    /// Returns the size of a number of samples in bytes.
    private func length(of count: UInt64, from first: Int, in sizes: ISOBox) throws(VideoError) -> UInt64 {
        // The field is the width of each size in `stz2`, and the size of all samples in `stsz`.
        let field = try file.number(at: sizes.content + 4, size: 4) ?? 0
        if sizes.type == "stsz", field > 0 { return field.multipliedReportingOverflow(by: count).partialValue }
        let bits = sizes.type == "stsz" ? 32 : Int(field & 0xFF)
        guard [4, 8, 16, 32].contains(bits) else { return 0 }
        let room = Int(max(0, sizes.end - sizes.content - 12)) * 8 / bits
        var length: UInt64 = 0
        for sample in first..<max(first, min(room, first + Int(min(count, UInt64(Int32.max))))) {
            try file.step()
            let position = sizes.content + 12 + Int64(sample * bits / 8)
            var size = try file.number(at: position, size: max(1, bits / 8)) ?? 0
            if bits == 4 { size = sample % 2 == 0 ? size >> 4 : size & 0xF }
            length += size
        }
        return length
    }
}

/// The locations of the samples of a fragment's track (ISO/IEC 14496-12 §8.8.7 and §8.8.8).
struct FragmentSamples {
    private let file: VideoBytes
    private let box: ISOBox
    private let base: UInt64
    private let defaultSize: UInt64

    /// - Parameters:
    ///   - end: The end of the data of the fragment's track before, or the beginning of the fragment.
    ///   - defaultSize: The size of samples, unless the header gives another one.
    init(
        _ header: ISOBox, in box: ISOBox, of fragment: ISOBox, behind end: UInt64, defaultSize: UInt64,
        _ file: VideoBytes
    ) throws(VideoError) {
        self.file = file
        self.box = box
        let flags = try file.number(at: header.content, size: 4) ?? 0
        var position = header.content + 8
        if flags & 0x1 != 0 {
            base = try file.number(at: position, size: 8) ?? end
            position += 8
        } else {
            base = flags & 0x20000 != 0 ? UInt64(fragment.start) : end
        }
        for bit: UInt64 in [0x2, 0x8] where flags & bit != 0 { position += 4 }
        self.defaultSize = flags & 0x10 != 0 ? try file.number(at: position, size: 4) ?? 0 : defaultSize
    }

    /// Calls `body` for each run of samples, as far as it is in the file.
    ///
    /// - Returns: The end of the last run.
    func forEachRun(_ body: (Range<Int64>) throws(VideoError) -> Void) throws(VideoError) -> UInt64 {
        var next = base
        try file.forEachBox(in: box) { run throws(VideoError) in
            guard run.type == "trun", let flags = try file.number(at: run.content, size: 4),
                let count = try file.number(at: run.content + 4, size: 4)
            else { return }
            var position = run.content + 8
            if flags & 0x1 != 0 {
                let offset = Int32(truncatingIfNeeded: try file.number(at: position, size: 4) ?? 0)
                next = base.addingReportingOverflow(UInt64(bitPattern: Int64(offset))).partialValue
                position += 4
            }
            if flags & 0x4 != 0 { position += 4 }
            let width = [0x100, 0x200, 0x400, 0x800].reduce(Int64(0)) { $0 + (flags & $1 != 0 ? 4 : 0) }
            var length: UInt64 = 0
            if flags & 0x200 == 0 {
                length = count.multipliedReportingOverflow(by: defaultSize).partialValue
            } else {
                let room = UInt64(max(0, run.end - position) / width)
                for sample in 0..<Int64(min(count, room)) {
                    try file.step()
                    length +=
                        try file.number(
                            at: position + sample * width + (flags & 0x100 != 0 ? 4 : 0), size: 4) ?? 0
                }
            }
            if let range = file.range(from: next, length: length) { try body(range) }
            next = next.addingReportingOverflow(length).partialValue
        }
        return next
    }
}

/// The samples of removed tracks, as ranges of a file.
struct RemovedSamples {
    /// The most ranges that are remembered, which is more than a film of 50 MiB has.
    private static let maximumCount = 200_000

    private var ranges: [Range<Int64>] = []
    /// The ranges of other contents that overlap them.
    private var kept: [Range<Int64>] = []

    var isEmpty: Bool { ranges.isEmpty }

    mutating func add(_ range: Range<Int64>) throws(VideoError) { try Self.append(range, to: &ranges) }

    /// Sorts the ranges, after the last one was added.
    mutating func sort() { ranges = Self.joined(ranges) }

    /// Excludes a range that something else needs. The samples have been sorted.
    mutating func keep(_ range: Range<Int64>) throws(VideoError) {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound <= range.lowerBound { low = middle + 1 } else { high = middle }
        }
        if low < ranges.count, ranges[low].overlaps(range) { try Self.append(range, to: &kept) }
    }

    /// Fills the samples with zeros.
    func clear(in file: VideoBytes) throws(VideoError) {
        let kept = Self.joined(kept)
        var next = 0
        for range in ranges {
            var position = range.lowerBound
            while next < kept.count, kept[next].upperBound <= position { next += 1 }
            var index = next
            while index < kept.count, kept[index].lowerBound < range.upperBound {
                if position < kept[index].lowerBound { try file.clear(position..<kept[index].lowerBound) }
                position = kept[index].upperBound
                index += 1
            }
            if position < range.upperBound { try file.clear(position..<range.upperBound) }
        }
    }

    private static func append(
        _ range: Range<Int64>, to ranges: inout [Range<Int64>]
    ) throws(VideoError) {
        guard !range.isEmpty else { return }
        if let last = ranges.last, last.lowerBound <= range.lowerBound, range.lowerBound <= last.upperBound {
            ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
        } else {
            guard ranges.count < maximumCount else { throw .notAVideo }
            ranges.append(range)
        }
    }

    /// Returns the ranges in order, with those joined that touch.
    private static func joined(_ ranges: [Range<Int64>]) -> [Range<Int64>] {
        var joined: [Range<Int64>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, range.lowerBound <= last.upperBound {
                joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        return joined
    }
}
