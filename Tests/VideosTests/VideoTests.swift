import ContractCheck
import Foundation
import Testbed
import Testing
import Videos

/// Cleaned videos lose their metadata, and nothing else.
@Suite(.timeLimit(.minutes(30))) struct VideoTests {
    private typealias V = SampleVideo

    private static let secret = Array("SECRET +48.8577+002.295/".utf8)

    /// Returns a video after it was cleaned.
    private func cleaned(_ bytes: [UInt8], as container: VideoContainer = .isoBaseMedia) async throws -> [UInt8] {
        try await withTemporaryFolder { folder in
            let url = URL(fileURLWithPath: folder + "/video")
            try Data(bytes).write(to: url)
            let handle = try FileHandle(forUpdating: url)
            defer { try? handle.close() }
            try Video.clean(handle.fileDescriptor, as: container)
            return try [UInt8](Data(contentsOf: url))
        }
    }

    private func has(_ text: String, _ bytes: [UInt8]) -> Bool {
        Data(bytes).range(of: Data(text.utf8)) != nil
    }

    private func expectRefused(
        _ bytes: [UInt8], as container: VideoContainer = .isoBaseMedia, _ comment: Comment? = nil
    ) async {
        await #expect(throws: VideoError.notAVideo, comment) { try await cleaned(bytes, as: container) }
    }

    /// Returns the same bytes with one box replaced by a `free` box.
    private func freed(_ bytes: [UInt8], _ box: [UInt8]) throws -> [UInt8] {
        let range = try #require(Data(bytes).range(of: Data(box)))
        var result = bytes
        result.replaceSubrange(range, with: V.box("free", Array(repeating: 0, count: box.count - 8)))
        return result
    }

    private static let head = V.box("ftyp", Array("isom".utf8) + V.word(0))

    @Test(arguments: [SampleVideo.mp4, SampleVideo.mov])
    func aVideoWithoutMetadataStaysAsItIs(_ video: [UInt8]) async throws {
        #expect(try await cleaned(video) == video)
        #expect(try await cleaned(V.webm, as: .matroska) == V.webm)
    }

    /// An iPhone, an Android phone, a camera and an editing program write the location in different boxes.
    @Test(arguments: [
        SampleVideo.box("udta", SampleVideo.box("\u{A9}xyz", secret)),
        SampleVideo.box("udta", SampleVideo.box("loci", secret)),
        SampleVideo.box("udta", SampleVideo.box("meta", secret) + SampleVideo.box("\u{A9}mod", secret) + [0, 0, 0, 0]),
        SampleVideo.box("meta", SampleVideo.box("hdlr", secret) + SampleVideo.box("keys", secret)),
        SampleVideo.box("uuid", secret), SampleVideo.box("free", secret), SampleVideo.box("skip", secret),
        SampleVideo.box("GPS ", secret),
    ])
    func locationsAndDevicesAreRemoved(_ box: [UInt8]) async throws {
        let inMovie = Self.head + V.movie(box) + V.media
        let inTrack = Self.head + V.movie(inTrack: box) + V.media
        let inFile = Self.head + box + V.movie() + V.media
        let behind = V.mp4 + box
        for video in [inMovie, inTrack, inFile, behind] {
            #expect(try await cleaned(video) == freed(video, box))
        }
    }

    @Test func playbackSettingsStay() async throws {
        let kept = V.box("ludt", [1, 2, 3]) + V.box("LOOP", V.word(1))
        let place = V.box("\u{A9}xyz", Self.secret)
        let video = Self.head + V.movie(V.box("udta", kept + place)) + V.media
        #expect(try await cleaned(video) == freed(video, place))
    }

    @Test func largeAndOpenEndedBoxesAreCleaned() async throws {
        let large = V.word(1) + Array("udta".utf8) + V.word(0) + V.word(16 + Self.secret.count) + Self.secret
        var video = Self.head + V.movie(large) + V.media
        var clean = try await cleaned(video)
        #expect(!has("SECRET", clean) && !has("udta", clean) && has("pixels", clean) && clean.count == video.count)
        // The header's size stays at 16 bytes.
        #expect(has("free\0\0\0\0\0\0\0\u{28}", clean))
        video = V.mp4 + V.word(0) + Array("meta".utf8) + Self.secret
        clean = try await cleaned(video)
        #expect(clean == V.mp4 + V.word(0) + Array("free".utf8) + Array(repeating: 0, count: Self.secret.count))
        // A box that extends to the end of the file stays, also in a recording that was cut off.
        for size in [0, 1_000_000] {
            video = Self.head + V.movie() + V.word(size) + Array("mdatSECRET".utf8)
            #expect(try await cleaned(video) == video)
        }
    }

    /// Some phones append bytes that are no box.
    @Test(arguments: [3, 7, 8, 20])
    func bytesAfterTheLastBoxAreRemoved(_ count: Int) async throws {
        let video = V.mp4 + Array(repeating: 0xFF, count: count)
        let clean = try await cleaned(video)
        #expect(clean.count == video.count && clean.starts(with: V.mp4) && !clean.dropFirst(V.mp4.count).contains(0xFF))
    }

    /// Cameras record their location while they film.
    @Test func locationTracksAreRemovedWithTheirSamples() async throws {
        func video(_ offsets: [Int]) -> [UInt8] {
            let chunks = offsets.map { (offset: $0, size: Self.secret.count) }
            return Self.head + V.movie(V.track(2, handler: "meta", chunks: chunks))
                + V.box("mdat", Array("pixels".utf8) + Self.secret + Array("sound".utf8) + Self.secret)
        }
        let start = video([0, 0]).count - 2 * Self.secret.count - 5
        let whole = video([start, start + Self.secret.count + 5])
        let clean = try await cleaned(whole)
        #expect(clean.count == whole.count)
        #expect(!has("SECRET", clean) && has("pixels", clean) && has("sound", clean))
        #expect(Data(clean).range(of: Data("trak".utf8)).map { has("trak", Array(clean[$0.upperBound...])) } == false)
    }

    @Test(arguments: [true, false])
    func locationTracksAreRemovedFromFragmentsToo(_ hasOwnSize: Bool) async throws {
        let size = V.word(Self.secret.count)
        let defaults = V.box("mvex", V.box("trex", V.word(0) + V.word(2) + V.word(1) + V.word(0) + size + V.word(0)))
        func run(_ offset: Int) -> [UInt8] {
            V.box("trun", V.word(hasOwnSize ? 0x201 : 0x1) + V.word(1) + V.word(offset) + (hasOwnSize ? size : []))
        }
        func fragment(_ offset: Int) -> [UInt8] {
            V.box(
                "moof",
                V.box("mfhd", V.word(0) + V.word(1))
                    + V.box("traf", V.box("tfhd", V.word(0x20000) + V.word(1)) + V.box("uuid", [7]))
                    + V.box("traf", V.box("tfhd", V.word(0x20000) + V.word(2)) + run(offset)))
        }
        let offset = fragment(0).count + 8 + 6
        let video =
            Self.head + V.movie(V.track(2, handler: "meta") + defaults) + fragment(offset)
            + V.box("mdat", Array("pixels".utf8) + Self.secret + Array("more".utf8))
        let clean = try await cleaned(video)
        #expect(clean.count == video.count && !has("SECRET", clean))
        #expect(has("pixels", clean) && has("more", clean) && has("uuid", clean))
    }

    @Test func filesWithoutAVideoTrackAreRefused() async throws {
        let random = (0..<200_000).map { _ in UInt8.random(in: 0...255) }
        await expectRefused(Self.head + random)
        await expectRefused(Self.head)
        await expectRefused(Self.head + V.media)
        await expectRefused(Self.head + V.box("moov", V.box("mvhd", [])) + V.media)
        await expectRefused(Self.head + V.box("moov", V.track(1, handler: "soun")) + V.media)
        await expectRefused([])
        let head = V.element([0x1A, 0x45, 0xDF, 0xA3], V.element([0x42, 0x82], Array("webm".utf8)))
        await expectRefused(head + random, as: .matroska)
        await expectRefused(head, as: .matroska)
        await expectRefused(head + V.segment(V.tracks(kind: 2) + V.cluster), as: .matroska)
        await expectRefused(head + V.segment(V.cluster), as: .matroska)
        await expectRefused(V.mp4, as: .matroska)
        await expectRefused(V.webm)
    }

    /// The sizes are wrong, at each place that has one.
    @Test func brokenSizesDoNoHarm() async throws {
        let chunks = [(offset: 40, size: 1 << 30), (offset: -1, size: 5)]
        let movie =
            Self.head + V.movie(V.track(2, handler: "meta", chunks: chunks) + V.box("udta", Self.secret)) + V.media
        let webm = V.webm + V.element([0x12, 0x54, 0xC3, 0x67], Self.secret)
        for (video, container) in [(movie, VideoContainer.isoBaseMedia), (webm, .matroska)] {
            for index in video.indices {
                for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] where video[index] != value {
                    var broken = video
                    broken[index] = value
                    do {
                        #expect(try await cleaned(broken, as: container).count == broken.count)
                    } catch VideoError.notAVideo {}
                }
            }
        }
    }

    /// A file of tiny boxes is refused soon, within 64 KiB of memory.
    @Test func aFileOfTinyBoxesIsRefused() async throws {
        let box = V.box("skip", [])
        var video = V.mp4
        for _ in 0..<300_000 { video += box }
        await expectRefused(video)
    }

    // MARK: Matroska

    private static let tags = SampleVideo.element([0x12, 0x54, 0xC3, 0x67], secret)
    private static let attachments = SampleVideo.element([0x19, 0x41, 0xA4, 0x69], secret)

    @Test(arguments: [tags, attachments, SampleVideo.element([0xEC], secret)])
    func tagsAndAttachmentsAreRemoved(_ element: [UInt8]) async throws {
        let head = V.element([0x1A, 0x45, 0xDF, 0xA3], V.element([0x42, 0x82], Array("webm".utf8)))
        let id = [0x18, 0x53, 0x80, 0x67] as [UInt8]
        let cluster = [0x1F, 0x43, 0xB6, 0x75] as [UInt8]
        for video in [
            head + V.segment(V.tracks() + element + V.cluster), head + V.segment(V.tracks() + V.cluster + element),
            head + V.endless(id, V.tracks() + V.cluster + element),
            head + V.endless(id, V.tracks() + V.endless(cluster, V.frames) + element + V.cluster),
        ] {
            let clean = try await cleaned(video, as: .matroska)
            let range = try #require(Data(video).range(of: Data(element)))
            var expected = video
            let void: [UInt8] = [0xEC, 1] + [0, 0, 0] + V.word(element.count - 9)
            expected.replaceSubrange(range, with: void + Array(repeating: 0, count: element.count - 9))
            #expect(clean == expected)
        }
    }

    @Test func aTinyElementIsReplacedByOneOfItsSize() async throws {
        let head = V.element([0x1A, 0x45, 0xDF, 0xA3], V.element([0x42, 0x82], Array("webm".utf8)))
        for length in 0...4 {
            let element: [UInt8] = [0x12, 0x54, 0xC3, 0x67, UInt8(0x80 + length)] + Array(repeating: 7, count: length)
            let video = head + V.segment(V.tracks() + element + V.cluster)
            let clean = try await cleaned(video, as: .matroska)
            let size = element.count
            let void: [UInt8] = size < 9 ? [0xEC, UInt8(0x80 + size - 2)] : [0xEC, 1, 0, 0, 0, 0, 0, 0, 0]
            #expect(clean.count == video.count && !clean.contains(7))
            #expect(Data(clean).range(of: Data(void)) != nil)
        }
    }
}
