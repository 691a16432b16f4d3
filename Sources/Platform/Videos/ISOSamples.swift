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

    /// Fills the samples with zeros.
    ///
    /// - Parameter movie: The range of the tables themselves, which contain no samples.
    func clear(except movie: Range<Int64>) throws(VideoError) {
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
                perChunk = try file.number(at: runs.content + 12 + Int64(run) * 12, size: 4) ?? 0
                run += 1
            }
            guard let offset = try file.number(at: chunks.content + 8 + Int64(chunk) * Int64(width), size: width),
                offset < UInt64(file.count)
            else { continue }
            let length = try length(of: perChunk, from: sample, in: sizes)
            sample += Int(clamping: perChunk)
            let end = min(UInt64(file.count), offset.addingReportingOverflow(length).partialValue)
            let range = Int64(offset)..<max(Int64(offset), Int64(end))
            if !range.overlaps(movie) { try file.clear(range) }
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
    private let fragment: ISOBox
    private let box: ISOBox
    private var base: UInt64
    private var defaultSize: UInt64

    init(
        _ header: ISOBox, in box: ISOBox, of fragment: ISOBox, defaultSize: UInt64, _ file: VideoBytes
    ) throws(VideoError) {
        self.file = file
        self.defaultSize = defaultSize
        self.fragment = fragment
        self.box = box
        base = UInt64(fragment.start)
        let flags = try file.number(at: header.content, size: 4) ?? 0
        var position = header.content + 8
        if flags & 0x1 != 0 {
            base = try file.number(at: position, size: 8) ?? base
            position += 8
        }
        for bit: UInt64 in [0x2, 0x8] where flags & bit != 0 { position += 4 }
        if flags & 0x10 != 0 { self.defaultSize = try file.number(at: position, size: 4) ?? 0 }
    }

    /// Fills the samples with zeros.
    func clear() throws(VideoError) {
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
            guard next < UInt64(file.count) else { return }
            let end = min(UInt64(file.count), next.addingReportingOverflow(length).partialValue)
            let range = Int64(next)..<max(Int64(next), Int64(end))
            // Samples are behind their tables, never within them.
            if !range.overlaps(fragment.start..<fragment.end) { try file.clear(range) }
            next = UInt64(range.upperBound)
        }
    }
}
