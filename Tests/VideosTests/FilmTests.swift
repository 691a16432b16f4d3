import ContractCheck
import Foundation
import Testbed
import Testing
import Videos

/// What drones and cameras write beside the pictures is removed, whatever the form of the film.
@Suite(.timeLimit(.minutes(30))) struct FilmTests {
    private typealias V = SampleVideo

    /// Cleans films in one file, which is much faster than a file for each.
    private final class Cleaner {
        private let handle: FileHandle

        init(in folder: String) throws {
            let path = folder + "/film"
            _ = FileManager.default.createFile(atPath: path, contents: nil)
            handle = try #require(FileHandle(forUpdatingAtPath: path))
        }

        deinit { try? handle.close() }

        /// Returns the bytes of the file afterwards, and whether it was refused.
        func clean(
            _ bytes: [UInt8], as container: VideoContainer = .isoBaseMedia
        ) throws -> (bytes: [UInt8], isRefused: Bool) {
            try handle.truncate(atOffset: 0)
            try handle.seek(toOffset: 0)
            try handle.write(contentsOf: Data(bytes))
            var isRefused = false
            do throws(VideoError) {
                try Video.clean(handle.fileDescriptor, as: container)
            } catch {
                #expect(error == .notAVideo)
                isRefused = true
            }
            try handle.seek(toOffset: 0)
            return ([UInt8](try handle.readToEnd() ?? Data()), isRefused)
        }
    }

    private func has(_ text: String, _ bytes: [UInt8]) -> Bool { Data(bytes).range(of: Data(text.utf8)) != nil }

    /// The law: no place is left, pictures and sound stay byte for byte, and nothing moves.
    @Test(arguments: Film.all) func aFilmLosesItsPlacesAndNothingElse(_ film: Film) async throws {
        #expect(has(Film.place, film.bytes) && !film.kept.isEmpty)
        try await withTemporaryFolder { folder in
            let cleaner = try Cleaner(in: folder)
            let (clean, isRefused) = try cleaner.clean(film.bytes, as: film.container)
            #expect(!isRefused && clean.count == film.bytes.count)
            #expect(!has("latitude", clean) && !has("52.52", clean))
            for range in film.kept { #expect(clean[range] == film.bytes[range]) }
            // A clean film stays as it is.
            #expect(try cleaner.clean(clean, as: film.container) == (clean, false))
        }
    }

    /// A film that was cut off, or whose bytes are wrong, is refused or cleaned as far as it goes. Its size never
    /// changes.
    @Test(arguments: Film.all) func aDamagedFilmDoesNoHarm(_ film: Film) async throws {
        try await withTemporaryFolder { folder in
            let cleaner = try Cleaner(in: folder)
            for end in stride(from: 0, to: film.bytes.count, by: 5) {
                #expect(try cleaner.clean(Array(film.bytes[..<end]), as: film.container).bytes.count == end)
                await Task.yield()
            }
            var random = SeededGenerator(seed: UInt64(film.bytes.count))
            for _ in 0..<150 {
                var bytes = film.bytes
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let index = Int.random(in: bytes.indices, using: &random)
                    bytes[index] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
                }
                #expect(try cleaner.clean(bytes, as: film.container).bytes.count == bytes.count)
                await Task.yield()
            }
        }
    }

    /// The tables of a text track name what is not its own: the pictures, the boxes, the whole file, or what is behind
    /// it.
    @Test(arguments: [
        [(0, 1 << 30)], [(0, 60)], [(36, 200), (36, 200)], [(-1, 100), (1 << 30, 5)], [(40, -1), (41, -1), (42, -1)],
        (0..<200).map { ($0, 64) },
    ])
    func noByteOfAnythingElseIsTouched(_ chunks: [(offset: Int, size: Int)]) async throws {
        let pictures = Array("pixels and pixels".utf8)
        func film(_ offset: Int) -> [UInt8] {
            V.box("ftyp", Array("isom".utf8) + V.word(0))
                + V.box(
                    "moov",
                    V.box("mvhd", Array(repeating: 0, count: 100))
                        + V.track(1, handler: "vide", chunks: [(offset, 9), (offset + 9, pictures.count - 9)])
                        + V.track(2, handler: "text", chunks: chunks)) + V.box("mdat", pictures)
        }
        let bytes = film(film(0).count - pictures.count)
        let text = try #require(Data(bytes).range(of: Data(V.track(2, handler: "text", chunks: chunks))))
        var expected = bytes
        expected.replaceSubrange(text, with: V.box("free", Array(repeating: 0, count: text.count - 8)))
        try await withTemporaryFolder { folder in
            let clean = try Cleaner(in: folder).clean(bytes)
            #expect(clean == (expected, false))
        }
    }

    /// A track of pictures names its chapters, which have gone.
    @Test func referencesToRemovedTracksGo() async throws {
        func film(_ references: [Int]) -> Film {
            var video = Film.video
            video.more = V.box("tref", V.box("chap", references.flatMap(V.word)))
            let chapters = Film.Track(id: 3, handler: "text", format: "text")
            return .make("chapters", head: Film.head("qt  "), [video, Film.sound, chapters])
        }
        try await withTemporaryFolder { folder in
            let cleaner = try Cleaner(in: folder)
            #expect(try !has("tref", cleaner.clean(film([3]).bytes).bytes))
            #expect(try has("tref", cleaner.clean(film([3, 2]).bytes).bytes))
            #expect(try has("tref", cleaner.clean(film([]).bytes).bytes))
        }
    }

    /// A removed element at the end of the file, which is declared larger than the rest, does not make the file grow.
    @Test func anElementThatIsCutOffDoesNotGrow() async throws {
        let cut: [UInt8] = [0x12, 0x54, 0xC3, 0x67, 0x90, 7]
        let id: [UInt8] = [0x18, 0x53, 0x80, 0x67]
        let head = V.element([0x1A, 0x45, 0xDF, 0xA3], V.element([0x42, 0x82], Array("webm".utf8)))
        let film = head + V.endless(id, V.tracks() + V.cluster + cut)
        try await withTemporaryFolder { folder in
            let clean = try Cleaner(in: folder).clean(film, as: .matroska)
            #expect(clean.bytes.count == film.count)
        }
    }
}
