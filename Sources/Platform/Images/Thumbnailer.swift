import Cores
import Foundation
import Processes

/// Makes small JPEGs of images of unknown origin, each in a process of its own. A decoder that an image exploits then
/// reaches neither the server nor its files and network (`Sources/thumbnail`).
public struct Thumbnailer: Sendable {
    /// The size of the result, in pixels, each 1…4096.
    public enum Shape: Sendable, Equatable {
        /// A square of exactly this edge. The image is scaled up or down to cover the square, and cut around the
        /// centre.
        case crop(to: Int)
        /// The whole image, scaled down when an edge is longer than this, and never scaled up.
        case fit(within: Int)

        var edge: Int {
            switch self {
            case .crop(to: let edge), .fit(within: let edge): edge
            }
        }

        fileprivate var arguments: [String] {
            switch self {
            case .crop(to: let edge): ["--crop", "\(edge)"]
            case .fit(within: let edge): ["--fit", "\(edge)"]
            }
        }
    }

    /// The numbers of pixels that an image may have, all frames together.
    public struct PixelLimits: Sendable {
        /// The limit of JPEG and HEIC, which are decoded in stripes or at a smaller scale.
        public var photos = 100_000_000
        public var webp = 100_000_000
        /// The limit of PNG and GIF.
        public var others = 40_000_000

        public init() {}

        fileprivate var arguments: [String] {
            [
                "--max-pixels", "\(others)", "--max-jpeg-pixels", "\(photos)", "--max-heic-pixels", "\(photos)",
                "--max-webp-pixels", "\(webp)",
            ]
        }
    }

    private let executable: String
    private let timeout: Duration
    private let limits: PixelLimits
    let slots: Slots

    /// Makes a thumbnailer.
    ///
    /// - Parameters:
    ///   - executable: The path of the helper, ``locate(beside:environment:)``.
    ///   - timeout: The time limit for one image, without the time in the queue.
    ///   - concurrency: The number of images that are processed at the same time.
    ///   - queueLimit: The number of further images that may wait; beyond it ``ImageError/unavailable(_:)`` is thrown.
    ///   - share: The number of them that may be one user's. One image of a user is processed at a time; beyond the
    ///     share ``ImageError/tooMany`` is thrown.
    public init(
        executable: String, limits: PixelLimits = .init(), timeout: Duration = .seconds(30),
        concurrency: Int = UsableCores.current.count, queueLimit: Int = 128, share: Int = 4
    ) {
        self.executable = executable
        self.limits = limits
        self.timeout = timeout
        slots = Slots(concurrency, queueLimit: queueLimit, share: share)
    }

    /// Returns the path of the helper: the value of `CONCORD_THUMBNAIL`, or else `thumbnail` beside the program. It is
    /// meant for the start.
    ///
    /// - Parameters:
    ///   - program: The path of a program that was built along with it, by default the running one. Links are followed.
    ///   - environment: The environment variables of the process.
    /// - Throws: ``ImageError/unavailable(_:)`` when there is no such program.
    public static func locate(
        beside program: String = Bundle.main.executablePath ?? CommandLine.arguments[0],
        environment: [String: String]
    ) throws(ImageError) -> String {
        if let path = environment["CONCORD_THUMBNAIL"], !path.isEmpty {
            guard isProgram(path) else { throw .unavailable("CONCORD_THUMBNAIL names no program: \(path)") }
            return path
        }
        let path = URL(fileURLWithPath: program).resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("thumbnail").path
        guard isProgram(path) else {
            throw .unavailable(
                "there is no program \(path). Put it there (swift build --product thumbnail makes it), or say where "
                    + "it is with CONCORD_THUMBNAIL")
        }
        return path
    }

    private static func isProgram(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
            && FileManager.default.isExecutableFile(atPath: path)
    }

    /// Returns a JPEG of the image in `file`: upright as the image's EXIF says, in sRGB, with white for transparent
    /// parts, without metadata. Of an animation the first frame is used.
    ///
    /// It accepts JPEG, PNG, WebP, GIF and HEIC within the limits, by content and not by name, and waits for a free
    /// slot. Cancelling the task ends the helper.
    ///
    /// - Throws: ``ImageError``.
    ///
    /// - Parameter person: A unique name of the user who has sent it; nil for the server's own.
    public func jpeg(
        of file: String, _ shape: Shape, for person: String? = nil
    ) async throws(ImageError) -> [UInt8] {
        let input = open(file, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw .unreadable("\(file): \(String(cString: strerror(errno)))") }
        defer { close(input) }
        return try await jpeg(from: input, shape, for: person)
    }

    /// Returns the formats that cannot be read on this machine, because their libraries are missing.
    ///
    /// It reads a tiny image of each format, and is meant for the start.
    ///
    /// - Throws: ``ImageError/unavailable(_:)`` when no image can be read at all.
    public func missingFormats() async throws(ImageError) -> [ImageFormat] {
        var missing: [ImageFormat] = []
        for format in ImageFormat.allCases {
            let input = try descriptor(holding: format.sample)
            defer { close(input) }
            do throws(ImageError) {
                _ = try await jpeg(from: input, .crop(to: 8), for: nil)
            } catch .notAnImage {
                missing.append(format)
            }
        }
        return missing
    }

    /// Returns a descriptor from which these few bytes can be read. It is not a file, because there may be no space,
    /// and not a pipe, whose end is not seen while another process has inherited it.
    private func descriptor(holding bytes: [UInt8]) throws(ImageError) -> Int32 {
        #if canImport(Darwin)
        let stream = SOCK_STREAM
        #else
        let stream = Int32(SOCK_STREAM.rawValue)
        #endif
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, stream, 0, &ends) == 0 else { throw .unavailable(String(cString: strerror(errno))) }
        defer { close(ends[1]) }
        _ = write(ends[1], bytes, bytes.count)
        shutdown(ends[1], Int32(SHUT_WR))
        return ends[0]
    }

    /// Returns the image in `file`, written again in its own format and size, HEIC as JPEG: upright as the image's EXIF
    /// says, in sRGB, without metadata, with every frame of an animation in WebP or GIF.
    ///
    /// It accepts the same images as ``jpeg(of:_:for:)``; the limits apply to the pixels of all frames together.
    ///
    /// - Throws: ``ImageError``.
    ///
    /// - Parameter person: A unique name of the user who has sent it; nil for the server's own.
    public func rewritten(
        _ file: String, for person: String? = nil
    ) async throws(ImageError) -> (format: ImageFormat, bytes: [UInt8]) {
        let input = open(file, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw .unreadable("\(file): \(String(cString: strerror(errno)))") }
        defer { close(input) }
        // The limit is the size of the uncompressed pixels; a photo is far smaller.
        let output = try await run(["--rewrite"], on: input, outputLimit: 4 * limits.others, for: person)
        guard let format = ImageFormat(head: output) else { throw .crashed }
        return (format, output)
    }

    /// Returns a JPEG of a square with a person's initials in white in its middle. A character that no font of this machine has is
    /// left out.
    ///
    /// - Parameters:
    ///   - text: The initials, at most 16 characters.
    ///   - colour: The colour behind them, as `RRGGBB` in hexadecimal.
    ///   - edge: The edge of the square in pixels, 1…4096.
    ///   - person: A unique name of the user for whom it is drawn; nil for the server's own.
    /// - Throws: ``ImageError``.
    public func initials(
        _ text: String, on colour: String, edge: Int, for person: String? = nil
    ) async throws(ImageError) -> [UInt8] {
        let nothing = try descriptor(holding: [])
        defer { close(nothing) }
        let arguments = ["--initials", String(text.prefix(16)), "--colour", colour]
        return try await jpeg(from: nothing, .crop(to: edge), arguments, for: person)
    }

    private func jpeg(
        from input: Int32, _ shape: Shape, _ others: [String] = [], for person: String?
    ) async throws(ImageError) -> [UInt8] {
        precondition(1...4096 ~= shape.edge, "1…4096 pixels")
        // The limit is the size of the pixels, which is more than any JPEG of them.
        let output = try await run(
            shape.arguments + others, on: input, outputLimit: 3 * shape.edge * shape.edge + 65_536, for: person)
        // Only a JPEG is accepted, even if the helper has been compromised.
        guard ImageFormat(head: output) == .jpeg else { throw .crashed }
        return output
    }

    private func run(
        _ arguments: [String], on input: Int32, outputLimit: Int, for person: String?
    ) async throws(ImageError) -> [UInt8] {
        // The location of the libraries with which it was built depends on the machine. It needs nothing else of the
        // environment.
        let environment = ProcessInfo.processInfo.environment.filter { $0.key == "LD_LIBRARY_PATH" }
        let process = BoundedProcess(
            executable: executable, arguments: arguments + limits.arguments, environment: environment,
            timeout: timeout, outputLimit: outputLimit)
        let ending: BoundedProcess.Ending
        let output: [UInt8]
        do {
            (ending, output) = try await slots.use(for: person) { try await process.run(input: input) }
        } catch Slots.Full.line {
            throw .unavailable("too many images wait for their turn")
        } catch Slots.Full.share {
            throw .tooMany
        } catch let error as BoundedProcess.NotStarted {
            throw .unavailable("\(executable) cannot be run: \(error.reason)")
        } catch {
            throw .cancelled
        }
        try check(ending)
        return output
    }

    /// Maps the exit codes of `Sources/thumbnail`.
    private func check(_ ending: BoundedProcess.Ending) throws(ImageError) {
        switch ending {
        case .exited(0): return
        case .exited(1): throw .notAnImage
        case .exited(2): throw .tooLarge
        case .exited(69), .exited(127):
            throw .unavailable("\(executable) does not find libvips (Debian: apt-get install libvips42)")
        case .exited(64), .exited(71), .exited(126): throw .unavailable("\(executable) cannot do its work: \(ending)")
        // Its own limits end it with these signals.
        case .timedOut, .signalled(SIGXCPU), .signalled(SIGALRM): throw .timedOut
        case .cancelled: throw .cancelled
        case .exited, .signalled, .tooMuchOutput: throw .crashed
        }
    }
}
