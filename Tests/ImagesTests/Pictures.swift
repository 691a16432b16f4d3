import Foundation
import Images
import Testbed
import Testing

/// A folder of images that Pillow made, and Pillow's view of the images that are made of them.
struct Pictures: Sendable {
    /// The pictures of the running suite (``Testing/Trait/pictures``).
    @TaskLocal static var current: Pictures?

    /// An image as Pillow sees it.
    struct Seen: Decodable {
        let format: String
        let mode: String
        let size: [Int]
        let frames: Int
        /// The names of the colours in the corners: top left and right, bottom left and right.
        let corners: [String]
        /// The exact colours in the corners.
        let pixels: [[Int]]
        let metadata: [String]
        /// Whether bytes of the original other than pixels are in the result.
        let hasSecret: Bool
    }

    let folder: String

    func path(_ name: String) -> String { folder + "/" + name }

    /// Makes JPEGs, and returns Pillow's view of them.
    func jpegs(of names: [String], _ shape: Thumbnailer.Shape = .crop(to: 200)) async throws -> [Seen] {
        try await withTemporaryFolder { made in
            var files: [String] = []
            for name in names {
                let jpeg = try await Thumbnailer.built.get().jpeg(of: path(name), shape)
                files.append("\(made)/\(name).jpg")
                try Data(jpeg).write(to: URL(fileURLWithPath: files[files.count - 1]))
            }
            let run = try await Self.script(["describe"] + files)
            return try JSONDecoder().decode([Seen].self, from: Data(run.utf8))
        }
    }

    /// Writes images again, and returns Pillow's view of them.
    func rewritten(_ names: [String]) async throws -> [(format: ImageFormat, seen: Seen)] {
        try await withTemporaryFolder { made in
            var (files, formats): ([String], [ImageFormat]) = ([], [])
            for name in names {
                let (format, bytes) = try await Thumbnailer.built.get().rewritten(path(name))
                files.append("\(made)/\(name)")
                formats.append(format)
                try Data(bytes).write(to: URL(fileURLWithPath: files[files.count - 1]))
            }
            let run = try await Self.script(["describe"] + files)
            return Array(zip(formats, try JSONDecoder().decode([Seen].self, from: Data(run.utf8))))
        }
    }

    static func script(_ arguments: [String]) async throws -> String {
        let run = try await StockTools.run(
            try #require(StockTools.python), [StockTools.package + "/Tests/StockClient/images.py"] + arguments)
        try #require(run.status == 0, "\(run.output)")
        return run.output
    }
}

extension Thumbnailer {
    /// The helper that was built along with the tests.
    static let built = Result { () throws(ImageError) in
        Thumbnailer(executable: try locate(environment: [:]), timeout: .seconds(600))
    }
}

/// A trait that makes the images once for all tests of a suite.
struct PicturesTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard StockTools.python != nil else { return try await function() }
        try await withTemporaryFolder { folder in
            _ = try await Pictures.script(["make", folder])
            try await Pictures.$current.withValue(Pictures(folder: folder), operation: function)
        }
    }
}

extension Trait where Self == PicturesTrait {
    static var pictures: Self { PicturesTrait() }
}
