import Foundation
import NIOCore

/// Makes small JPEGs of images of unknown origin, each in a process of its own: a decoder that is led astray takes no
/// server along, and finds neither its files nor its network (`Sources/thumbnail`).
public struct Thumbnailer: Sendable {
    /// What becomes of an image's size. In pixels, each 1…4096.
    public enum Shape: Sendable, Equatable {
        /// A square of exactly this edge: scaled, up too, until the square is covered, and cut around the centre.
        case crop(to: Int)
        /// The whole image, scaled down where an edge is longer than this. Never scaled up.
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

    /// How many pixels an image may have, all frames together.
    public struct PixelLimits: Sendable {
        /// The limit of JPEG and HEIC, which decode in stripes or on a smaller scale.
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

    /// - Parameters:
    ///   - executable: the path of the helper, ``locate(beside:environment:)``.
    ///   - timeout: for how long one image may take, once it is its turn.
    ///   - concurrency: how many images are worked on at once.
    ///   - queueLimit: how many more may wait; ``ImageError/unavailable(_:)`` is thrown beyond.
    ///   - share: how many of them may be one person's, of whose images one at a time is worked on;
    ///     ``ImageError/tooMany`` is thrown beyond.
    public init(
        executable: String, limits: PixelLimits = .init(), timeout: Duration = .seconds(30),
        concurrency: Int = System.coreCount, queueLimit: Int = 128, share: Int = 4
    ) {
        self.executable = executable
        self.limits = limits
        self.timeout = timeout
        slots = Slots(concurrency, queueLimit: queueLimit, share: share)
    }

    /// The path of the helper: what `CONCORD_THUMBNAIL` says, or else `thumbnail` beside the program. Meant for
    /// start-up.
    ///
    /// - Parameters:
    ///   - program: the path of a program that was built along with it, by default the one that runs. Links are
    ///     followed.
    ///   - environment: the variables of the process.
    /// - Throws: ``ImageError/unavailable(_:)`` when no program is there.
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

    /// A JPEG of the image in `file`: upright whatever the image's EXIF says, in sRGB, transparent parts white, without
    /// metadata. Of an animation the first frame counts.
    ///
    /// Takes JPEG, PNG, WebP, GIF and HEIC within the limits, by their content and not by a name. Waits for its turn.
    /// Cancelling the task ends the helper. Throws ``ImageError``.
    ///
    /// - Parameter person: The person who has sent it, by a name that no other person has; nil for the server's own.
    public func jpeg(
        of file: String, _ shape: Shape, for person: String? = nil
    ) async throws(ImageError) -> [UInt8] {
        let input = open(file, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw .unreadable("\(file): \(String(cString: strerror(errno)))") }
        defer { close(input) }
        return try await jpeg(from: input, shape, for: person)
    }

    /// The formats that cannot be read on this machine: those whose libraries are missing.
    ///
    /// Reads a tiny image of each format; meant for start-up. Throws ``ImageError/unavailable(_:)`` when nothing can be
    /// done at all.
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

    /// Something to read these few bytes from. No file, for which there may be no room, and no pipe, whose end is not
    /// seen while another process happens to have inherited it.
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

    /// The image in `file` again, in its own format and size, HEIC as JPEG: upright whatever the image's EXIF says, in
    /// sRGB, without metadata, with every frame of an animation in WebP or GIF.
    ///
    /// Takes what ``jpeg(of:_:for:)`` takes; the pixels of all frames count together. Throws ``ImageError``.
    ///
    /// - Parameter person: The person who has sent it, by a name that no other person has; nil for the server's own.
    public func rewritten(
        _ file: String, for person: String? = nil
    ) async throws(ImageError) -> (format: ImageFormat, bytes: [UInt8]) {
        let input = open(file, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw .unreadable("\(file): \(String(cString: strerror(errno)))") }
        defer { close(input) }
        // As much as the pixels have, uncompressed; a photo's are far smaller.
        let output = try await run(["--rewrite"], on: input, outputLimit: 4 * limits.others, for: person)
        guard let format = ImageFormat(head: output) else { throw .crashed }
        return (format, output)
    }

    private func jpeg(
        from input: Int32, _ shape: Shape, for person: String?
    ) async throws(ImageError) -> [UInt8] {
        precondition(1...4096 ~= shape.edge, "1…4096 pixels")
        // As much as the pixels have, and more than any JPEG of them.
        let output = try await run(
            shape.arguments, on: input, outputLimit: 3 * shape.edge * shape.edge + 65_536, for: person)
        // Whatever was done to the helper, only a JPEG leaves it.
        guard ImageFormat(head: output) == .jpeg else { throw .crashed }
        return output
    }

    private func run(
        _ arguments: [String], on input: Int32, outputLimit: Int, for person: String?
    ) async throws(ImageError) -> [UInt8] {
        let process = BoundedProcess(
            executable: executable, arguments: arguments + limits.arguments, timeout: timeout,
            outputLimit: outputLimit)
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

    /// The exit codes are those of `Sources/thumbnail`.
    private func check(_ ending: BoundedProcess.Ending) throws(ImageError) {
        switch ending {
        case .exited(0): return
        case .exited(1): throw .notAnImage
        case .exited(2): throw .tooLarge
        case .exited(69), .exited(127):
            throw .unavailable("\(executable) does not find libvips (Debian: apt-get install libvips42)")
        case .exited(64), .exited(71), .exited(126): throw .unavailable("\(executable) cannot do its work: \(ending)")
        // Its own limits end it by these.
        case .timedOut, .signalled(SIGXCPU), .signalled(SIGALRM): throw .timedOut
        case .cancelled: throw .cancelled
        case .exited, .signalled, .tooMuchOutput: throw .crashed
        }
    }
}
