import Backend
import Contract
import ContractServer
import Images
import Logging

/// Makes pictures with the image helper, for a hosted API.
struct Pictures: Sendable {
    private let thumbnailer: Result<Thumbnailer, ImageError>
    private let errorMessages: ErrorMessages
    private let logger: Logger

    /// Finds the image helper.
    ///
    /// - Parameters:
    ///   - api: The API that uses the helper, whose messages are used in errors.
    ///   - limits: The numbers of pixels that the API accepts.
    ///   - queueLimit: The number of images that may wait.
    ///   - share: The number of them that may be one user's.
    init(
        _ api: (some ServiceAPI).Type, on platform: Platform, limits: Thumbnailer.PixelLimits = .init(),
        queueLimit: Int = 128, share: Int = 4
    ) {
        thumbnailer = Result { () throws(ImageError) in
            Thumbnailer(
                executable: try Thumbnailer.locate(environment: platform.environment), limits: limits,
                queueLimit: queueLimit, share: share)
        }
        errorMessages = api.errorMessages
        logger = platform.logger
    }

    /// The outcome for an image.
    enum Made: Sendable {
        case picture([UInt8])
        case unreadable
        /// It has too many pixels.
        case tooLarge
    }

    /// Makes a picture. A defect of the image is returned for its owner; a defect of this machine is logged for the
    /// operator.
    ///
    /// - Throws: A `Problem` with 429 when the user has too many images waiting, or with 503 when no picture can be
    ///   made on this machine; `CancellationError`.
    func make(
        _ work: @Sendable (Thumbnailer) async throws(ImageError) -> [UInt8]
    ) async throws -> Made {
        do throws(ImageError) {
            return .picture(try await work(thumbnailer.get()))
        } catch {
            switch error {
            case .notAnImage: return .unreadable
            case .tooLarge: return .tooLarge
            case .tooMany: throw Problem(.tooManyRequests, errorMessages.tooManyRequests).retry(afterSeconds: 5)
            case .crashed, .timedOut:
                logger.warning("a picture could not be made", metadata: ["error": "\(error)"])
                return .unreadable
            case .cancelled: throw CancellationError()
            case .unavailable, .unreadable:
                logger.error("no pictures can be made on this machine", metadata: ["error": "\(error)"])
                throw Problem(.serviceUnavailable, errorMessages.unavailable).retry(afterSeconds: 5)
            }
        }
    }

    /// Logs which functions will not work on this machine.
    func logStartupWarnings() async {
        do throws(ImageError) {
            let missing = try await thumbnailer.get().missingFormats()
            guard !missing.isEmpty else { return }
            let formats = missing.map(\.rawValue).joined(separator: ", ")
            logger.warning("some image formats cannot be read on this machine", metadata: ["formats": "\(formats)"])
        } catch .cancelled {
            // The server stops.
        } catch {
            logger.warning(
                "pictures cannot be made, so uploads of pictures are answered with 503", metadata: ["error": "\(error)"]
            )
        }
    }
}
