import Contract
import ContractServer
import Images
import Logging

/// The image helper, as an API that is served uses it.
struct Pictures: Sendable {
    private let thumbnailer: Result<Thumbnailer, ImageError>
    private let phrases: Phrases
    private let logger: Logger

    /// - Parameters:
    ///   - environment: Says where the helper is, if it is not beside this program.
    ///   - limits: How many pixels the API takes.
    ///   - phrases: The API's own words for what is this machine's fault.
    init(environment: [String: String], limits: Thumbnailer.PixelLimits, phrases: Phrases, logger: Logger) {
        thumbnailer = Result { () throws(ImageError) in
            Thumbnailer(executable: try Thumbnailer.locate(environment: environment), limits: limits)
        }
        self.phrases = phrases
        self.logger = logger
    }

    /// What can be told of an image.
    enum Made: Sendable {
        case picture([UInt8])
        case unreadable
        /// It has too many pixels.
        case tooLarge
    }

    /// Makes a picture. What is wrong with the image is its owner's affair and told to them. What is wrong with this
    /// machine is the operator's.
    ///
    /// - Throws: 429 when the person has too many waiting; 503 when no picture can be made here at all;
    ///   `CancellationError`.
    func make(
        _ work: @Sendable (Thumbnailer) async throws(ImageError) -> [UInt8]
    ) async throws -> Made {
        do throws(ImageError) {
            return .picture(try await work(thumbnailer.get()))
        } catch {
            switch error {
            case .notAnImage: return .unreadable
            case .tooLarge: return .tooLarge
            case .tooMany: throw Problem(.tooManyRequests, phrases.tooManyRequests).retry(afterSeconds: 5)
            case .crashed, .timedOut:
                logger.warning("a picture cannot be made", metadata: ["error": "\(error)"])
                return .unreadable
            case .cancelled: throw CancellationError()
            case .unavailable, .unreadable:
                logger.error("no picture can be made", metadata: ["error": "\(error)"])
                throw Problem(.serviceUnavailable, phrases.unavailable).retry(afterSeconds: 5)
            }
        }
    }

    /// Says at the start what will not work.
    func review() async {
        do throws(ImageError) {
            let missing = try await thumbnailer.get().missingFormats()
            guard !missing.isEmpty else { return }
            let formats = missing.map(\.rawValue).joined(separator: ", ")
            logger.warning("some pictures cannot be read on this machine", metadata: ["formats": "\(formats)"])
        } catch {
            logger.warning("pictures are refused with 503", metadata: ["error": "\(error)"])
        }
    }
}
