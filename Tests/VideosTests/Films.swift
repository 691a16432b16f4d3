import ContractCheck
import Videos

/// A film that was made for a test: its bytes, and the ranges of its pictures and its sound.
struct Film: Sendable, CustomStringConvertible {
    /// The text that a drone writes beside the pictures of each second.
    static let place = "[latitude: 52.520008]"

    var description: String
    var container = VideoContainer.isoBaseMedia
    var bytes: [UInt8] = []
    var kept: [Range<Int>] = []

    private typealias V = SampleVideo

    fileprivate init(_ description: String, _ container: VideoContainer = .isoBaseMedia) {
        self.description = description
        self.container = container
    }

    fileprivate mutating func append(_ content: String, isKept: Bool) {
        if isKept { kept.append(bytes.count..<bytes.count + content.utf8.count) }
        bytes += content.utf8
    }

    /// A track: the places of its samples are in tables of different forms.
    struct Track: Sendable {
        enum Sizes: Sendable { case each, same, small }

        var id: Int
        var handler: String
        var format = "avc1"
        var sizes = Sizes.each
        var hasLargeOffsets = false
        var samplesPerChunk = 1
        /// Boxes that follow the required ones.
        var more: [UInt8] = []

        var isKept: Bool { ["vide", "soun"].contains(handler) || (handler == "clcp" && format == "c608") }

        /// The content of a sample.
        fileprivate func sample(_ number: Int) -> String {
            let text = isKept ? "\(handler)-\(number)" : "\(number) \(Film.place)"
            return sizes == .same ? text.padding(to: 24) : text
        }

        fileprivate func box(_ chunks: [(offset: Int, samples: [String])]) -> [UInt8] {
            let samples = chunks.flatMap(\.samples).map(\.utf8.count)
            let sizeBox =
                switch sizes {
                case .each: V.box("stsz", V.word(0) + V.word(0) + V.word(samples.count) + samples.flatMap(V.word))
                case .same: V.box("stsz", V.word(0) + V.word(samples.first ?? 0) + V.word(samples.count))
                case .small: V.box("stz2", V.word(0) + V.word(8) + V.word(samples.count) + samples.map { UInt8($0) })
                }
            let runs = V.word(1) + V.word(1) + V.word(samplesPerChunk) + V.word(1)
            let offsets =
                hasLargeOffsets
                ? V.box("co64", V.word(0) + V.word(chunks.count) + chunks.flatMap { V.word(0) + V.word($0.offset) })
                : V.box("stco", V.word(0) + V.word(chunks.count) + chunks.flatMap { V.word($0.offset) })
            let table =
                V.box("stsd", V.word(0) + V.word(1) + V.box(format, Array(repeating: 0, count: 16)))
                + V.box("stsc", V.word(0) + runs) + sizeBox + offsets
            let media =
                V.box("mdhd", Array(repeating: 0, count: 24))
                + V.box("hdlr", V.word(0) + V.word(0) + Array(handler.utf8) + Array(repeating: 0, count: 13))
                + V.box("minf", V.box("stbl", table))
            return V.box(
                "trak",
                V.box("tkhd", Array(repeating: 0, count: 12) + V.word(id) + Array(repeating: 0, count: 68))
                    + V.box("mdia", media) + more)
        }
    }

    static let video = Track(id: 1, handler: "vide")
    static let sound = Track(id: 2, handler: "soun", format: "mp4a", sizes: .same, samplesPerChunk: 2)

    /// Makes a film of three seconds, in which the chunks of all tracks alternate.
    ///
    /// - Parameters:
    ///   - head: The boxes at the beginning.
    ///   - isMovieFirst: Whether the tables come before the samples.
    static func make(
        _ description: String, head: [UInt8], isMovieFirst: Bool = false, _ tracks: [Track]
    ) -> Film {
        func media(at start: Int) -> (film: Film, chunks: [[(offset: Int, samples: [String])]]) {
            var film = Film(description)
            film.bytes = Array(repeating: 0, count: start)
            var chunks = tracks.map { _ in [(offset: Int, samples: [String])]() }
            for second in 0..<3 {
                for (index, track) in tracks.enumerated() {
                    let samples = (0..<track.samplesPerChunk).map { track.sample(second * 10 + $0) }
                    chunks[index].append((film.bytes.count, samples))
                    for sample in samples { film.append(sample, isKept: track.isKept) }
                }
            }
            return (film, chunks)
        }
        func movie(_ chunks: [[(offset: Int, samples: [String])]]) -> [UInt8] {
            V.box(
                "moov",
                V.box("mvhd", Array(repeating: 0, count: 100))
                    + zip(tracks, chunks).flatMap { $0.box($1) } + V.box("udta", V.box("\u{A9}xyz", Array(place.utf8))))
        }
        let before = isMovieFirst ? movie(media(at: 0).chunks).count : 0
        let start = head.count + before + 8
        var (film, chunks) = media(at: start)
        let samples = V.box("mdat", Array(film.bytes[start...]))
        film.bytes = head + (isMovieFirst ? movie(chunks) + samples : samples + movie(chunks))
        return film
    }

    static func head(_ brand: String, _ compatible: String...) -> [UInt8] {
        V.box("ftyp", Array(brand.utf8) + V.word(512) + compatible.flatMap { Array($0.utf8) })
    }

    // MARK: The corpus

    static let all = quickTime + brands + texts + fragmented + matroska

    /// Films of QuickTime need no `ftyp`.
    static let quickTime: [Film] = ["wide", "mdat", "moov", "skip", "free", "pnot"].map { first in
        let content = first == "wide" ? [] : Array(place.utf8)
        let head = ["mdat", "moov"].contains(first) ? [] : V.box(first, content)
        return make(
            "begins with \(first)", head: head, isMovieFirst: first == "moov",
            [video, Track(id: 3, handler: "text", format: "text")])
    }

    /// The brands of cameras, phones and editors, which are films by their compatible brands.
    static let brands: [Film] = [
        ("XAVC", ["XAVC", "mp42", "iso2"]), ("hvc1", ["hvc1", "mp42"]), ("3g2a", ["3g2a", "mp42"]),
        ("kddi", ["3g2a", "mp42"]), ("3gp7", ["isom", "3gp6"]), ("3gr6", ["3gp6"]), ("NDSM", ["mp41"]),
        ("CAEP", ["qt  "]), ("MQT ", ["abcd", "qt  "]), ("pana", ["mp42"]), ("niko", ["avc1"]), ("FACE", ["isom"]),
    ].map { brand, compatible in
        let head = V.box("ftyp", Array(brand.utf8) + V.word(0) + compatible.flatMap { Array($0.utf8) })
        return make("brand \(brand)", head: head, [video, sound, Track(id: 3, handler: "sbtl", format: "tx3g")])
    }

    /// Tracks of text and metadata, and tables of all forms.
    static let texts: [Film] =
        [("sbtl", "tx3g"), ("text", "text"), ("subt", "stpp"), ("meta", "mebx"), ("camm", "camm"), ("clcp", "tx3g")]
        .flatMap { handler, format in
            [Track.Sizes.each, .same, .small].flatMap { sizes in
                [false, true].map { isLarge in
                    var text = Track(id: 3, handler: handler, format: format, sizes: sizes, hasLargeOffsets: isLarge)
                    text.samplesPerChunk = isLarge ? 3 : 1
                    return make(
                        "\(handler), sizes \(sizes), large offsets \(isLarge)", head: head("isom", "mp42"),
                        isMovieFirst: isLarge, [video, text, sound])
                }
            }
        } + [
            make(
                "captions", head: head("qt  "),
                [video, Track(id: 4, handler: "clcp", format: "c608"), Track(id: 3, handler: "text", format: "text")])
        ]

    /// Films in fragments, which say in different ways where their samples are.
    static let fragmented: [Film] = ["to the fragment", "to the file", "by the track before", "by default size"].map {
        way in
        var film = Film("fragments, placed \(way)")
        let text = Track(id: 2, handler: "sbtl", format: "tx3g")
        let defaults = V.box(
            "mvex",
            V.box("trex", V.word(0) + V.word(2) + V.word(1) + V.word(0) + V.word(place.utf8.count) + V.word(0)))
        film.bytes =
            head("iso5", "mp42") + V.box("moov", V.box("mvhd", []) + video.box([]) + text.box([]) + defaults)
        for number in 0..<3 {
            let (pictures, texts) = ("vide-\(number)", place)
            func fragment(_ size: Int) -> [UInt8] {
                let (first, second) = (size + 8, size + 8 + pictures.utf8.count)
                func run(_ offset: Int?, _ length: Int?) -> [UInt8] {
                    let flags = (offset == nil ? 0 : 1) | (length == nil ? 0 : 0x200)
                    return V.box(
                        "trun",
                        V.word(flags) + V.word(1) + (offset.map(V.word) ?? []) + (length.map(V.word) ?? []))
                }
                let tracks: [[UInt8]]
                switch way {
                case "to the file":
                    func header(_ id: Int, _ offset: Int) -> [UInt8] {
                        V.box("tfhd", V.word(1) + V.word(id) + V.word(0) + V.word(film.bytes.count + offset))
                    }
                    tracks = [
                        header(1, first) + run(nil, pictures.utf8.count), header(2, second) + run(0, texts.utf8.count),
                    ]
                case "by the track before":
                    tracks = [
                        V.box("tfhd", V.word(0) + V.word(1)) + run(first, pictures.utf8.count),
                        V.box("tfhd", V.word(0) + V.word(2)) + run(nil, texts.utf8.count),
                    ]
                default:
                    let length = way == "by default size" ? nil : texts.utf8.count
                    tracks = [
                        V.box("tfhd", V.word(0x20000) + V.word(1)) + run(first, pictures.utf8.count),
                        V.box("tfhd", V.word(0x20000) + V.word(2)) + run(second, length),
                    ]
                }
                return V.box(
                    "moof", V.box("mfhd", V.word(0) + V.word(number)) + tracks.flatMap { V.box("traf", $0) })
            }
            film.bytes += fragment(fragment(0).count)
            film.bytes += V.word(8 + pictures.utf8.count + texts.utf8.count) + Array("mdat".utf8)
            film.append(pictures, isKept: true)
            film.append(texts, isKept: false)
        }
        return film
    }

    /// WebM with a track of subtitles or metadata, whose blocks are in groups or not.
    static let matroska: [Film] = [UInt8(17), 33].flatMap { type in
        [false, true].flatMap { isEndless in
            [false, true].map { isGrouped in
                var film = Film("WebM, type \(type), endless \(isEndless), grouped \(isGrouped)", .matroska)
                func track(_ number: UInt8, _ type: UInt8, _ codec: String) -> [UInt8] {
                    V.element(
                        [0xAE],
                        V.element([0xD7], [number]) + V.element([0x83], [type]) + V.element([0x86], Array(codec.utf8)))
                }
                let tracks = V.element(
                    [0x16, 0x54, 0xAE, 0x6B],
                    V.element([0xBF], [1, 2, 3, 4]) + track(1, 1, "V_VP9") + track(2, type, "D_WEBVTT/METADATA"))
                let head = V.element([0x1A, 0x45, 0xDF, 0xA3], [0x42, 0x82, 0x84] + Array("webm".utf8))
                film.bytes = head + V.endless([0x18, 0x53, 0x80, 0x67], tracks)
                for number in 0..<3 {
                    func block(_ track: UInt8, _ content: String) -> [UInt8] {
                        let block = [0x80 | track, 0, 0, 0] + Array(content.utf8)
                        return isGrouped
                            ? V.element([0xA0], V.element([0x9B], [1]) + V.element([0xA1], block))
                            : V.element([0xA3], block)
                    }
                    let (first, second) = (block(1, "vide-\(number)"), block(2, place))
                    let content = V.element([0xE7], [UInt8(number)]) + first + second + block(1, "vide-x")
                    let id: [UInt8] = [0x1F, 0x43, 0xB6, 0x75]
                    let start = film.bytes.count + 12 + V.element([0xE7], [0]).count
                    film.bytes += isEndless ? V.endless(id, content) : V.element(id, content)
                    film.kept += [start..<start + first.count]
                    film.kept += [film.bytes.count - first.count..<film.bytes.count]
                }
                return film
            }
        }
    }
}

extension String {
    fileprivate func padding(to length: Int) -> String { self + String(repeating: " ", count: max(0, length - count)) }
}
