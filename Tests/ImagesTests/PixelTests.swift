import Foundation
import Images
import Testbed
import Testing

/// Thumbnails have the colours of the original, and the right size for every allowed original.
@Suite(
    .pictures, .timeLimit(.minutes(30)),
    .enabled(if: StockTools.python != nil, "`make test` installs Pillow and sets CONCORD_PYTHON"))
struct PixelTests {
    private static let patches = [[255, 255, 255], [0, 0, 255], [100, 50, 200], [128, 128, 128]]

    private func pictures() throws -> Pictures { try #require(Pictures.current) }

    /// Returns whether colours are equal, up to the losses of a JPEG.
    private func isSame(_ seen: [[Int]], _ expected: [[Int]]) -> Bool {
        zip(seen, expected).allSatisfy { zip($0, $1).allSatisfy { abs($0 - $1) <= 2 } }
    }

    /// The original may have no colour profile or a wrong one.
    @Test(arguments: [
        "untagged.png", "untagged.webp", "untagged.jpg", "untagged.heic", "untagged.gif", "tagged.png", "tagged.webp",
        "tagged.jpg", "tagged.heic", "mistagged.png", "mistagged.webp", "mistagged.jpg", "mistagged.heic",
    ])
    func coloursStay(_ name: String) async throws {
        for shape in [Thumbnailer.Shape.crop(to: 160), .fit(within: 1024), .fit(within: 120)] {
            let seen = try await pictures().jpegs(of: [name], shape)[0]
            #expect(isSame(seen.pixels, Self.patches), "\(shape): \(seen.pixels)")
        }
        let (_, seen) = try await pictures().rewritten([name])[0]
        #expect(isSame(seen.pixels, Self.patches), "\(seen.pixels)")
    }

    @Test func greyStaysGrey() async throws {
        let names = ["untagged-grey.png", "untagged-grey.jpg", "mistagged-grey.png", "grey16.png", "grey.jpg"]
        for (name, seen) in zip(names, try await pictures().jpegs(of: names)) {
            #expect(seen.pixels.allSatisfy { isSame([$0], [[128, 128, 128]]) }, "\(name): \(seen.pixels)")
        }
        for (name, (_, seen)) in zip(names, try await pictures().rewritten(names)) {
            #expect(seen.pixels.allSatisfy { isSame([$0], [[128, 128, 128]]) }, "\(name): \(seen.pixels)")
        }
    }

    /// Initials are white, in the middle of a square of the colour. Pango's markup is drawn as it is written.
    @Test func initialsAreDrawnOnTheirColour() async throws {
        try await withTemporaryFolder { folder in
            let texts = ["", "AM", "李", "<b", "&", "--", "\u{10FFFD}"]
            var files: [String] = []
            for (index, text) in texts.enumerated() {
                let jpeg = try await Thumbnailer.built.get().initials(text, on: "6432c8", edge: 250)
                files.append("\(folder)/\(index).jpg")
                try Data(jpeg).write(to: URL(fileURLWithPath: files[index]))
            }
            let run = try await Pictures.script(["describe"] + files)
            let seen = try JSONDecoder().decode([Pictures.Seen].self, from: Data(run.utf8))
            for (text, one) in zip(texts, seen) {
                #expect(one.format == "JPEG" && one.size == [250, 250], "\(text)")
                #expect(one.pixels.allSatisfy { isSame([$0], [[100, 50, 200]]) }, "\(text): \(one.pixels)")
            }
            let sizes = try files.map { try Data(contentsOf: URL(fileURLWithPath: $0)).count }
            // A text takes more bytes than a plain square.
            #expect(sizes[1...5].allSatisfy { $0 > sizes[0] + 500 }, "\(sizes)")
        }
    }

    /// A file of a hundred bytes would be scaled up to a thousand times the pixels that are kept.
    @Test(arguments: ["1x1000", "1x5000", "5000x1", "199x100000", "1x1000000"])
    func aStripIsCutBeforeItIsScaled(_ size: String) async throws {
        let path = try pictures().path("strip-\(size).png")
        // Scaling before cropping took at least 4 seconds.
        let run = try await StockTools.run(
            "/bin/sh",
            ["-c", #""$1" --crop 200 --cpu-seconds 3 "$2" | wc -c"#, "sh", Thumbnailer.locate(environment: [:]), path])
        #expect(Int(run.output.filter(\.isNumber)) ?? 0 > 200, "\(run.output)")
        let seen = try await pictures().jpegs(of: ["strip-\(size).png"])[0]
        #expect(seen.size == [200, 200] && seen.pixels.allSatisfy { isSame([$0], [[100, 50, 200]]) })
        let edges = size.split(separator: "x").compactMap { Int($0) }
        let fitted = try await pictures().jpegs(of: ["strip-\(size).png"], .fit(within: 1024))[0]
        #expect(fitted.size == edges.map { max(1, min(1024, $0 == edges.max() ? $0 : $0 * 1024 / (edges.max() ?? 1))) })
    }

    /// The helper's own limits of time and memory apply.
    @Test func photosMayHaveAHundredMegapixels() async throws {
        try await withTemporaryFolder { folder in
            _ = try await Pictures.script(["large", folder])
            let large = Pictures(folder: folder)
            for name in ["most.jpg", "most-progressive.jpg", "most.webp", "iphone.heic"] {
                let small = try await large.jpegs(of: [name])[0]
                #expect(small.size == [200, 200] && isSame(small.pixels, small.pixels.map { _ in [100, 50, 200] }))
            }
            for (name, size) in [("most-progressive.jpg", [10_000, 10_000]), ("iphone.heic", [8064, 6048])] {
                let (format, seen) = try await large.rewritten([name])[0]
                #expect(format == .jpeg && seen.size == size, "\(name)")
            }
            await #expect(throws: ImageError.tooLarge) {
                try await Thumbnailer.built.get().jpeg(of: folder + "/more.jpg", .crop(to: 200))
            }
            // An API may set a lower limit for one format.
            var limits = Thumbnailer.PixelLimits()
            limits.webp = 40_000_000
            let strict = Thumbnailer(executable: try Thumbnailer.locate(environment: [:]), limits: limits)
            await #expect(throws: ImageError.tooLarge) {
                try await strict.jpeg(of: folder + "/most.webp", .crop(to: 200))
            }
        }
    }
}
