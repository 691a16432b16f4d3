import Foundation
import Images
import Testbed
import Testing

/// Rewritten images keep their format and size, and lose all metadata.
@Suite(
    .pictures, .timeLimit(.minutes(30)),
    .enabled(if: StockTools.python != nil, "`make test` installs Pillow and sets CONCORD_PYTHON"))
struct RewriteTests {
    private let upright = ["red", "green", "blue", "white"]
    private let telling: Set = ["icc_profile", "xmp", "comment", "Comment", "XML:com.adobe.xmp"]

    private func pictures() throws -> Pictures { try #require(Pictures.current) }

    @Test func theFormatAndTheSizeStay() async throws {
        let names = [
            "plain.jpg": "JPEG", "progressive.jpg": "JPEG", "plain.png": "PNG", "palette.png": "PNG",
            "plain.webp": "WEBP",
            "plain.gif": "GIF", "plain.heic": "JPEG",
        ]
        for (name, (format, seen)) in zip(names.keys.sorted(), try await pictures().rewritten(names.keys.sorted())) {
            #expect(seen.format == names[name] && seen.size == [240, 160] && seen.frames == 1, "\(name)")
            #expect(seen.format == format.rawValue.uppercased(), "\(name)")
            #expect(seen.corners == upright, "\(name)")
        }
    }

    @Test func noMetadataIsCopied() async throws {
        let names = [
            "metadata.jpg", "metadata.png", "metadata.webp", "metadata.heic", "polyglot.zip.jpg", "polyglot.pdf.jpg",
            "polyglot.html.png", "polyglot.php.gif",
        ]
        for (name, (_, seen)) in zip(names, try await pictures().rewritten(names)) {
            #expect(seen.corners == upright, "\(name)")
            #expect(telling.isDisjoint(with: seen.metadata) && !seen.hasSecret, "\(name): \(seen.metadata)")
            // libvips adds EXIF data to a WebP: orientation and resolution, but nothing of the original's.
            let technical: Set = [274, 282, 283, 296, 531, 34665]
            let tags = Set(seen.metadata.compactMap { Int($0) })
            #expect(name.hasSuffix(".webp") ? tags.isSubset(of: technical) : tags.isEmpty, "\(name): EXIF \(tags)")
        }
    }

    @Test(arguments: ["jpg", "png", "webp"])
    func everyOrientationEndsUpright(format: String) async throws {
        let names = (1...8).map { "orientation-\($0).\(format)" }
        for (name, (_, seen)) in zip(names, try await pictures().rewritten(names)) {
            #expect(seen.size == [240, 160] && seen.corners == upright, "\(name)")
        }
    }

    /// The photo is like a camera's: rotated, with six megapixels.
    @Test func aLargePhotoStaysLarge() async throws {
        let (_, seen) = try await pictures().rewritten(["large-6.jpg"])[0]
        #expect(seen.size == [3000, 2000] && seen.corners == upright && !seen.hasSecret)
    }

    @Test func animationsMove() async throws {
        let names = ["animated.gif", "animated.webp"]
        for (name, (_, seen)) in zip(names, try await pictures().rewritten(names)) {
            #expect(seen.frames == 3 && seen.size == [240, 160], "\(name): \(seen.frames) \(seen.size)")
        }
    }

    @Test func transparencyStays() async throws {
        let names = ["transparent.png", "transparent.webp"]
        for (name, (_, seen)) in zip(names, try await pictures().rewritten(names)) {
            #expect(seen.mode == "RGBA", "\(name): \(seen.mode)")
        }
    }

    @Test func otherFilesAndLargeImagesAreRefused() async throws {
        let folder = try pictures().folder
        let others = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("other.") }
        for (names, expected) in [(others, ImageError.notAnImage), (["more.png", "bomb.png"], .tooLarge)] {
            for name in names {
                let error = await #expect(throws: ImageError.self) {
                    try await Thumbnailer.built.get().rewritten("\(folder)/\(name)")
                }
                #expect(error == expected, "\(name)")
            }
        }
    }
}
