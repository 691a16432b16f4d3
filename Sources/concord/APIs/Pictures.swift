import Backend
import Contract
import ContractServer
import Images
import Logging

/// The image helper, as a hosted API uses it.
struct Pictures: Sendable {
    private let thumbnailer: Result<Thumbnailer, ImageError>
    private let phrases: Phrases
    private let logger: Logger

    /// - Parameters:
    ///   - api: The API that uses the helper; its error messages are answered when this machine is at fault.
    ///   - limits: How many pixels the API accepts.
    init(_ api: (some ServiceAPI).Type, on platform: Platform, limits: Thumbnailer.PixelLimits = .init()) {
        thumbnailer = Result { () throws(ImageError) in
            Thumbnailer(executable: try Thumbnailer.locate(environment: platform.environment), limits: limits)
        }
        phrases = api.phrases
        logger = platform.logger
    }

    /// The outcome for an image.
    enum Made: Sendable {
        case picture([UInt8])
        case unreadable
        /// It has too many pixels.
        case tooLarge
    }

    /// Makes a picture. A fault of the image is told to its owner; a fault of this machine is logged for the operator.
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

    /// Logs what will not work on this machine.
    func logStartupWarnings() async {
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
