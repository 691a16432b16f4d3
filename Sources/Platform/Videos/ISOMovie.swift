/// An MP4 or QuickTime file: ISO/IEC 14496-12, and Apple's QuickTime File Format where it differs.
///
/// The boxes that are kept are listed, and every other one becomes `free`, because the boxes in which cameras, phones
/// and editors write metadata cannot all be known (`udta` with `©xyz` and `loci`, `meta` with `mdta` keys, `uuid` with
/// XMP, and others without a standard). Tracks of text and of timed metadata, in which drones and cameras record the
/// place of each second, are removed with their samples.
final class ISOMovie {
    private static let keptInFile: Set<BoxType> = [
        "ftyp", "styp", "pdin", "mdat", "imda", "sidx", "ssix", "prft", "mfra",
    ]
    private static let keptInMovie: Set<BoxType> = ["mvhd", "iods", "pssh", "ctab", "clip", "prfl"]
    private static let keptInTrack: Set<BoxType> = [
        "tkhd", "edts", "trgr", "load", "imap", "matt", "clip", "tapt", "txas",
    ]
    private static let keptInMedia: Set<BoxType> = ["mdhd", "hdlr", "elng"]
    /// The boxes that must be removed from boxes with other contents.
    private static let metadata: Set<BoxType> = ["udta", "meta", "uuid", "free", "skip"]
    /// The kinds of user data that stay, because players need them: loudness, the kind of a track, the choice among
    /// several, hints for streaming, and whether to loop.
    private static let keptInUserData: Set<BoxType> = ["ludt", "kind", "tagc", "tsel", "hnti", "hinf", "LOOP", "AllF"]
    private static let keptInFragment: Set<BoxType> = ["mfhd"]
    /// The kinds of tracks that stay: pictures, sound, subtitles that are pictures, time codes and streaming hints.
    private static let keptHandlers: Set<BoxType> = ["vide", "auxv", "pict", "soun", "subp", "tmcd", "hint"]
    /// The formats of captions that stay: the codes of television, which a track of the handler `clcp` contains.
    private static let keptCaptions: Set<BoxType> = ["c608", "c708"]

    private let file: VideoBytes
    private var hasVideo = false
    private var removedTracks: Set<UInt64> = []
    private var removedSamples = RemovedSamples()
    /// The size of a track's samples, for fragments that do not give it (§8.8.3).
    private var defaultSizes: [UInt64: UInt64] = [:]

    init(_ file: VideoBytes) { self.file = file }

    func clean() throws(VideoError) {
        var hasFragments = false
        let end = try file.forEachBox(in: 0..<file.count, isAtTopLevel: true) { box throws(VideoError) in
            switch box.type {
            case "moov": try clean(movie: box)
            case "moof": hasFragments = true
            case let type where Self.keptInFile.contains(type): break
            default: try box.blank(in: file)
            }
        }
        guard hasVideo else { throw .notAVideo }
        try cleanRest(from: end)
        if hasFragments {
            _ = try file.forEachBox(in: 0..<file.count, isAtTopLevel: true) { box throws(VideoError) in
                if box.type == "moof" { try clean(fragment: box) }
            }
        }
        if !removedTracks.isEmpty || !removedSamples.isEmpty { try clearSamples() }
    }

    /// Clears the samples of removed tracks, but no byte that belongs to a box or to a sample of another track: the
    /// tables of a damaged file may name any range.
    private func clearSamples() throws(VideoError) {
        removedSamples.sort()
        let end = try file.forEachBox(in: 0..<file.count, isAtTopLevel: true) { box throws(VideoError) in
            switch box.type {
            case "mdat", "imda": try removedSamples.keep(box.start..<box.content)
            case "moov":
                try removedSamples.keep(box.start..<box.end)
                try keepSamples(ofMovie: box)
            case "moof":
                try removedSamples.keep(box.start..<box.end)
                try keepSamples(ofFragment: box)
            default: try removedSamples.keep(box.start..<box.end)
            }
        }
        // A recording that was interrupted ends with samples whose box is not whole.
        try removedSamples.keep(end..<min(end + 16, file.count))
        try removedSamples.clear(in: file)
    }

    private func keepSamples(ofMovie box: ISOBox) throws(VideoError) {
        try file.forEachBox(in: box) { track throws(VideoError) in
            guard track.type == "trak", let media = try file.first("mdia", in: track),
                let table = try sampleTable(of: media)
            else { return }
            try SampleTable(table, in: file).forEachChunk { chunk throws(VideoError) in
                try removedSamples.keep(chunk)
            }
        }
    }

    private func keepSamples(ofFragment box: ISOBox) throws(VideoError) {
        try forEachRun(of: box) { id, range throws(VideoError) in
            if !removedTracks.contains(id) { try removedSamples.keep(range) }
        }
        try file.forEachBox(in: box) { track throws(VideoError) in
            if track.type == "traf", try isRemoved(fragment: track) { try track.blank(in: file) }
        }
    }

    /// Clears the bytes after the last whole box: the rest of an interrupted recording, or data that some phones
    /// append.
    private func cleanRest(from position: Int64) throws(VideoError) {
        guard position < file.count else { return }
        if file.count - position >= 8 {
            let type = try file.number(at: position + 4, size: 4).map { BoxType(rawValue: UInt32($0)) }
            guard type != "mdat" else { return }
            // A size of zero extends to the end of the file.
            try file.write([0, 0, 0, 0] + Array("free".utf8), at: position)
            try file.clear(position + 8..<file.count)
        } else {
            try file.clear(position..<file.count)
        }
    }

    private func clean(movie box: ISOBox) throws(VideoError) {
        var children: [ISOBox] = []
        try file.forEachBox(in: box) { child throws(VideoError) in
            switch child.type {
            case "trak", "udta", "mvex": children.append(child)
            case let type where Self.keptInMovie.contains(type): break
            default: try child.blank(in: file)
            }
        }
        var tracks: [ISOBox] = []
        for child in children {
            switch child.type {
            case "trak": if try !remove(track: child) { tracks.append(child) }
            case "udta": try clean(userData: child)
            default: try readDefaults(in: child)
            }
        }
        for track in tracks { try clean(track: track) }
    }

    private func readDefaults(in box: ISOBox) throws(VideoError) {
        var found: [UInt64: UInt64] = [:]
        try file.forEachBox(in: box) { child throws(VideoError) in
            if child.type == "trex", found.count < 1000, let id = try file.number(at: child.content + 4, size: 4) {
                found[id] = try file.number(at: child.content + 16, size: 4)
            }
        }
        defaultSizes = found
    }

    /// Removes a track of text or metadata.
    ///
    /// - Returns: False for a track that stays.
    private func remove(track box: ISOBox) throws(VideoError) -> Bool {
        guard let media = try file.first("mdia", in: box), let handler = try handler(of: media) else {
            throw .notAVideo
        }
        let table = try sampleTable(of: media)
        guard try !isKept(handler, table) else { return false }
        if let id = try id(ofTrack: box) { removedTracks.insert(id) }
        if let table {
            try SampleTable(table, in: file).forEachChunk { chunk throws(VideoError) in try removedSamples.add(chunk) }
        }
        try box.blank(in: file)
        return true
    }

    private func isKept(_ handler: BoxType, _ table: ISOBox?) throws(VideoError) -> Bool {
        guard handler == "clcp" else { return Self.keptHandlers.contains(handler) }
        guard let table, let descriptions = try file.first("stsd", in: table) else { return true }
        var isKept = true
        let entries = descriptions.content + 8..<max(descriptions.content + 8, descriptions.end)
        _ = try file.forEachBox(in: entries) { if !Self.keptCaptions.contains($0.type) { isKept = false } }
        return isKept
    }

    private func clean(track box: ISOBox) throws(VideoError) {
        guard let media = try file.first("mdia", in: box), let handler = try handler(of: media) else {
            throw .notAVideo
        }
        try file.forEachBox(in: box) { child throws(VideoError) in
            switch child.type {
            case "mdia": break
            case "udta": try clean(userData: child)
            case "tref": if try refersToRemovedTracks(child) { try child.blank(in: file) }
            case let type where Self.keptInTrack.contains(type): break
            default: try child.blank(in: file)
            }
        }
        try clean(media)
        if handler == "vide", let table = try sampleTable(of: media), let entries = try file.first("stsd", in: table),
            let count = try file.number(at: entries.content + 4, size: 4), count > 0
        {
            hasVideo = true
        }
    }

    /// Returns whether a track's references (§8.3.3) are all to removed tracks, such as to its chapters.
    private func refersToRemovedTracks(_ box: ISOBox) throws(VideoError) -> Bool {
        var (isRemoved, isKept) = (false, false)
        try file.forEachBox(in: box) { reference throws(VideoError) in
            var position = reference.content
            while position + 4 <= reference.end, let id = try file.number(at: position, size: 4) {
                try file.step()
                if removedTracks.contains(id) { isRemoved = true } else { isKept = true }
                position += 4
            }
        }
        return isRemoved && !isKept
    }

    private func clean(_ media: ISOBox) throws(VideoError) {
        try file.forEachBox(in: media) { child throws(VideoError) in
            if child.type == "minf" {
                try cleanOthers(in: child)
                if let table = try file.first("stbl", in: child) { try cleanOthers(in: table) }
            } else if !Self.keptInMedia.contains(child.type) {
                try child.blank(in: file)
            }
        }
    }

    /// Cleans a box that may contain many needed ones.
    private func cleanOthers(in box: ISOBox) throws(VideoError) {
        try file.forEachBox(in: box) { child throws(VideoError) in
            if Self.metadata.contains(child.type) { try child.blank(in: file) }
        }
    }

    private func clean(userData box: ISOBox) throws(VideoError) {
        var hasKept = false
        let end = try file.forEachBox(in: box.content..<box.end) { child throws(VideoError) in
            if Self.keptInUserData.contains(child.type) { hasKept = true } else { try child.blank(in: file) }
        }
        if !hasKept {
            try box.blank(in: file)
        } else if end < box.end {
            try file.clear(end..<box.end)
        }
    }

    /// Cleans a fragment of a movie (§8.8), and notes the samples of removed tracks.
    private func clean(fragment box: ISOBox) throws(VideoError) {
        try file.forEachBox(in: box) { child throws(VideoError) in
            if child.type == "traf" {
                try clean(trackFragment: child)
            } else if !Self.keptInFragment.contains(child.type) {
                try child.blank(in: file)
            }
        }
        guard !removedTracks.isEmpty else { return }
        try forEachRun(of: box) { id, range throws(VideoError) in
            if removedTracks.contains(id) { try removedSamples.add(range) }
        }
    }

    private func clean(trackFragment box: ISOBox) throws(VideoError) {
        guard try file.first("tfhd", in: box) != nil else { throw .notAVideo }
        try file.forEachBox(in: box) { child throws(VideoError) in
            // In these boxes, `uuid` gives the beginning of a fragment.
            if Self.metadata.contains(child.type), child.type != "uuid" { try child.blank(in: file) }
        }
    }

    private func isRemoved(fragment box: ISOBox) throws(VideoError) -> Bool {
        guard let header = try file.first("tfhd", in: box),
            let id = try file.number(at: header.content + 4, size: 4)
        else { return false }
        return removedTracks.contains(id)
    }

    /// Calls `body` for each run of samples of a fragment, with the number of its track.
    private func forEachRun(
        of fragment: ISOBox, _ body: (UInt64, Range<Int64>) throws(VideoError) -> Void
    ) throws(VideoError) {
        // The data of a track without a position of its own follow those of the track before.
        var end = UInt64(fragment.start)
        try file.forEachBox(in: fragment) { box throws(VideoError) in
            guard box.type == "traf", let header = try file.first("tfhd", in: box),
                let id = try file.number(at: header.content + 4, size: 4)
            else { return }
            let samples = try FragmentSamples(
                header, in: box, of: fragment, behind: end, defaultSize: defaultSizes[id] ?? 0, file)
            end = try samples.forEachRun { range throws(VideoError) in try body(id, range) }
        }
    }

    /// Returns the kind of a track's media (§8.4.3).
    private func handler(of media: ISOBox) throws(VideoError) -> BoxType? {
        guard let box = try file.first("hdlr", in: media), box.end - box.content >= 12 else { return nil }
        return try file.number(at: box.content + 8, size: 4).map { BoxType(rawValue: UInt32($0)) }
    }

    private func sampleTable(of media: ISOBox) throws(VideoError) -> ISOBox? {
        guard let information = try file.first("minf", in: media) else { return nil }
        return try file.first("stbl", in: information)
    }

    /// Returns a track's number (§8.3.2), which follows two times.
    private func id(ofTrack box: ISOBox) throws(VideoError) -> UInt64? {
        guard let header = try file.first("tkhd", in: box), let version = try file.number(at: header.content, size: 1)
        else { return nil }
        return try file.number(at: header.content + (version == 1 ? 20 : 12), size: 4)
    }
}
