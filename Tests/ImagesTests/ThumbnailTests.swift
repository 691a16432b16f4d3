import Foundation
import Images
import Testbed
import Testing

/// The helper makes thumbnails of all supported formats, and refuses other files.
@Suite(
    .pictures, .timeLimit(.minutes(30)),
    .enabled(if: StockTools.python != nil, "`make test` installs Pillow and sets CONCORD_PYTHON"))
struct ThumbnailTests {
    private let upright = ["red", "green", "blue", "white"]

    private func pictures() throws -> Pictures { try #require(Pictures.current) }

    private func error(_ name: String) async throws -> ImageError? {
        let path = try pictures().path(name)
        do throws(ImageError) {
            _ = try await Thumbnailer.built.get().jpeg(of: path, .crop(to: 200))
            return nil
        } catch {
            return error
        }
    }

    @Test func everyFormatBecomesAJPEGOfTheSize() async throws {
        let names = ["plain.jpg", "progressive.jpg", "plain.png", "plain.webp", "plain.gif", "plain.heic"]
        for (name, seen) in zip(names, try await pictures().jpegs(of: names)) {
            #expect(seen.format == "JPEG" && seen.mode == "RGB" && seen.size == [200, 200], "\(name)")
            #expect(seen.corners == upright, "\(name)")
        }
        for edge in [1, 7, 600] {
            let seen = try await pictures().jpegs(of: ["plain.jpg"], .crop(to: edge))
            #expect(seen[0].size == [edge, edge])
        }
    }

    @Test func aPhotoFitsWithinItsEdge() async throws {
        let expected = [
            "plain.jpg": [120, 80], "plain.heic": [120, 80], "orientation-6.jpg": [120, 80], "dot.png": [1, 1],
            "portrait.jpg": [80, 120], "wide.png": [120, 1], "tall.jpg": [1, 120], "most.png": [120, 75],
        ]
        let names = expected.keys.sorted()
        for (name, seen) in zip(names, try await pictures().jpegs(of: names, .fit(within: 120))) {
            #expect(seen.format == "JPEG" && seen.mode == "RGB" && seen.size == expected[name], "\(name)")
            if seen.size == [120, 80] { #expect(seen.corners == upright, "\(name)") }
        }
        let whole = try await pictures().jpegs(of: ["plain.png", "metadata.jpg"], .fit(within: 1024))
        for seen in whole {
            #expect(seen.size == [240, 160] && seen.corners == upright, "nothing is scaled up")
            #expect(seen.metadata == [] && !seen.hasSecret)
        }
    }

    /// Noise makes the longest JPEGs.
    @Test func thereIsRoomForEveryPicture() async throws {
        let seen = try await pictures().jpegs(of: ["noise.png"], .fit(within: 1024))
        #expect(seen[0].size == [1024, 1024])
    }

    @Test(arguments: ["jpg", "png", "webp"])
    func everyOrientationEndsUpright(format: String) async throws {
        let names = (1...8).map { "orientation-\($0).\(format)" }
        for (name, seen) in zip(names, try await pictures().jpegs(of: names)) {
            #expect(seen.size == [200, 200] && seen.corners == upright, "\(name)")
        }
    }

    @Test func noMetadataIsCopied() async throws {
        let names = [
            "metadata.jpg", "metadata.png", "metadata.webp", "metadata.heic", "polyglot.zip.jpg", "polyglot.pdf.jpg",
            "polyglot.html.png", "polyglot.php.gif",
        ]
        for (name, seen) in zip(names, try await pictures().jpegs(of: names)) {
            #expect(seen.corners == upright, "\(name)")
            #expect(seen.metadata == [] && !seen.hasSecret, "\(name)")
        }
    }

    @Test func everyColourSpaceBecomesRGBOnWhite() async throws {
        func all(_ colour: String) -> [String] { Array(repeating: colour, count: 4) }
        let expected = [
            // Print colours have no pure blue.
            "cmyk.jpg": ["red", "green", "navy", "white"], "grey.jpg": all("grey"), "grey16.png": all("grey"),
            "bits.png": all("white"), "palette.png": upright, "transparent.png": all("white"),
            "transparent.webp": all("white"), "transparent.gif": all("white"), "animated.gif": all("blue"),
            "animated.webp": all("blue"), "animated.png": all("blue"), "dot.png": all("blue"), "wide.png": all("blue"),
            "tall.jpg": all("blue"),
        ]
        let names = expected.keys.sorted()
        for (name, seen) in zip(names, try await pictures().jpegs(of: names)) {
            #expect(seen.mode == "RGB" && seen.size == [200, 200], "\(name)")
            #expect(seen.corners == expected[name], "\(name)")
        }
    }

    @Test func otherFormatsAreRefused() async throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: pictures().folder)
            .filter { $0.hasPrefix("other.") }
        #expect(names.count == 18)
        for name in names {
            let error = try await error(name)
            #expect(error == .notAnImage, "\(name)")
        }
    }

    @Test(arguments: ["plain.jpg", "progressive.jpg", "plain.png", "plain.webp", "plain.gif", "plain.heic"])
    func halfAnImageIsRefused(name: String) async throws {
        let whole = try Data(contentsOf: URL(fileURLWithPath: pictures().path(name)))
        for count in [whole.count / 8, whole.count / 3, whole.count / 2] {
            let half = "half-\(count)-\(name)"
            try whole.prefix(count).write(to: URL(fileURLWithPath: pictures().path(half)))
            let error = try await error(half)
            #expect(error == .notAnImage, "\(count) of \(whole.count) bytes")
        }
    }

    /// Bytes are changed at random places: any answer is fine, but there must be one.
    @Test func damagedImagesAreAnswered() async throws {
        var generator = SeededGenerator(seed: 20)
        for format in ["jpg", "png", "webp", "gif", "heic"] {
            let whole = try Data(contentsOf: URL(fileURLWithPath: pictures().path("plain.\(format)")))
            for number in 0..<6 {
                var damaged = whole
                for _ in 0..<4 {
                    damaged[Int.random(in: 4..<damaged.count, using: &generator)] = .random(
                        in: 0...255, using: &generator)
                }
                let name = "damaged-\(number).\(format)"
                try damaged.write(to: URL(fileURLWithPath: pictures().path(name)))
                let error = try await error(name)
                #expect([nil, .notAnImage, .tooLarge, .crashed].contains(error), "\(name)")
            }
        }
        #expect(try await error("plain.jpg") == nil)
    }

    @Test func fortyMegapixelsAreTheMost() async throws {
        #expect(try await error("most.png") == nil)
        #expect(try await error("more.png") == .tooLarge)
        #expect(try await error("bomb.png") == .tooLarge)
    }

    /// The memory limit is just enough to start: 400 megabytes of pixels would exceed it.
    @Test func aBombIsRefusedByItsHeader() async throws {
        let run = try await StockTools.run(
            Thumbnailer.locate(environment: [:]),
            ["--cpu-seconds", "1", "--memory", "300", pictures().path("bomb.png")])
        #expect(run.status == 2, "\(run.output)")
    }

    @Test func aFileThatCannotBeReadIsNoImage() async throws {
        guard case .unreadable = try await error("absent.jpg") else {
            Issue.record("absent")
            return
        }
        // A folder can be opened, but has no bytes.
        #expect(try await error("") == .notAnImage)
    }
}
