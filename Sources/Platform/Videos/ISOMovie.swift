/// An MP4 or QuickTime file: ISO/IEC 14496-12, and Apple's QuickTime File Format where it differs.
///
/// The boxes that are kept are listed, and every other one becomes `free`, because the boxes in which cameras, phones
/// and editors write metadata cannot all be known (`udta` with `©xyz` and `loci`, `meta` with `mdta` keys, `uuid` with
/// XMP, and others without a standard). Tracks of timed metadata, in which cameras record their location, are removed
/// with their samples.
struct ISOMovie {
    private static let keptInFile: Set<BoxType> = [
        "ftyp", "styp", "pdin", "mdat", "imda", "sidx", "ssix", "prft", "mfra",
    ]
    private static let keptInMovie: Set<BoxType> = ["mvhd", "iods", "pssh", "ctab", "clip", "prfl"]
    private static let keptInTrack: Set<BoxType> = [
        "tkhd", "edts", "tref", "trgr", "load", "imap", "matt", "clip", "tapt", "txas",
    ]
    private static let keptInMedia: Set<BoxType> = ["mdhd", "hdlr", "elng"]
    /// The boxes that must be removed from boxes with other contents.
    private static let metadata: Set<BoxType> = ["udta", "meta", "uuid", "free", "skip"]
    /// The kinds of user data that stay, because players need them: loudness, the kind of a track, the choice among
    /// several, hints for streaming, and whether to loop.
    private static let keptInUserData: Set<BoxType> = ["ludt", "kind", "tagc", "tsel", "hnti", "hinf", "LOOP", "AllF"]
    private static let keptInFragment: Set<BoxType> = ["mfhd"]
    /// The kinds of tracks that stay: pictures, sound, subtitles, time codes and streaming hints.
    private static let keptHandlers: Set<BoxType> = [
        "vide", "auxv", "pict", "soun", "text", "sbtl", "subt", "subp", "clcp", "tmcd", "hint",
    ]

    private let file: VideoBytes
    private var hasVideo = false
    private var removedTracks: Set<UInt64> = []
    /// The size of a track's samples, for fragments that do not give it (§8.8.3).
    private var defaultSizes: [UInt64: UInt64] = [:]
    private var movie: Range<Int64> = 0..<0

    init(_ file: VideoBytes) { self.file = file }

    mutating func clean() throws(VideoError) {
        var position: Int64 = 0
        while position < file.count {
            guard let box = try ISOBox(at: position, before: file.count, isAtTopLevel: true, in: file) else { break }
            switch box.type {
            case "moov": try clean(movie: box)
            case "moof": try clean(fragment: box)
            case let type where Self.keptInFile.contains(type): break
            default: try box.blank(in: file)
            }
            position = box.end
        }
        guard hasVideo else { throw .notAVideo }
        try cleanRest(from: position)
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

    private mutating func clean(movie box: ISOBox) throws(VideoError) {
        movie = box.start..<box.end
        var children: [ISOBox] = []
        try file.forEachBox(in: box) { child throws(VideoError) in
            switch child.type {
            case "trak", "udta", "mvex": children.append(child)
            case let type where Self.keptInMovie.contains(type): break
            default: try child.blank(in: file)
            }
        }
        for child in children {
            switch child.type {
            case "trak": try clean(track: child)
            case "udta": try clean(userData: child)
            default: try readDefaults(in: child)
            }
        }
    }

    private mutating func readDefaults(in box: ISOBox) throws(VideoError) {
        var found: [UInt64: UInt64] = [:]
        try file.forEachBox(in: box) { child throws(VideoError) in
            if child.type == "trex", found.count < 1000, let id = try file.number(at: child.content + 4, size: 4) {
                found[id] = try file.number(at: child.content + 16, size: 4)
            }
        }
        defaultSizes = found
    }

    private mutating func clean(track box: ISOBox) throws(VideoError) {
        guard let media = try file.first("mdia", in: box), let handler = try handler(of: media) else {
            throw .notAVideo
        }
        guard Self.keptHandlers.contains(handler) else {
            if let id = try id(ofTrack: box) { removedTracks.insert(id) }
            if let table = try sampleTable(of: media) { try SampleTable(table, in: file).clear(except: movie) }
            return try box.blank(in: file)
        }
        try file.forEachBox(in: box) { child throws(VideoError) in
            switch child.type {
            case "mdia": break
            case "udta": try clean(userData: child)
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

    /// Cleans a fragment of a movie (§8.8).
    private func clean(fragment box: ISOBox) throws(VideoError) {
        try file.forEachBox(in: box) { child throws(VideoError) in
            if child.type == "traf" {
                try clean(trackFragment: child, of: box)
            } else if !Self.keptInFragment.contains(child.type) {
                try child.blank(in: file)
            }
        }
    }

    private func clean(trackFragment box: ISOBox, of fragment: ISOBox) throws(VideoError) {
        guard let header = try file.first("tfhd", in: box) else { throw .notAVideo }
        if let id = try file.number(at: header.content + 4, size: 4), removedTracks.contains(id) {
            let size = defaultSizes[id] ?? 0
            try FragmentSamples(header, in: box, of: fragment, defaultSize: size, file).clear()
            try box.blank(in: file)
        } else {
            try file.forEachBox(in: box) { child throws(VideoError) in
                // In these boxes, `uuid` gives the beginning of a fragment.
                if Self.metadata.contains(child.type), child.type != "uuid" { try child.blank(in: file) }
            }
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
