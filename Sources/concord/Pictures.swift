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
    ///   - phrases: The API's own words for what is this machine's fault.
    init(environment: [String: String], phrases: Phrases, logger: Logger) {
        thumbnailer = Result { () throws(ImageError) in
            Thumbnailer(executable: try Thumbnailer.locate(environment: environment))
        }
        self.phrases = phrases
        self.logger = logger
    }

    /// What is wrong with the image is its owner's affair: nil. What is wrong with this machine is the operator's.
    ///
    /// - Throws: 503 when no picture can be made here at all; `CancellationError`.
    func make(
        _ work: @Sendable (Thumbnailer) async throws(ImageError) -> [UInt8]
    ) async throws -> [UInt8]? {
        do throws(ImageError) {
            return try await work(thumbnailer.get())
        } catch {
            switch error {
            case .notAnImage, .tooLarge: return nil
            case .crashed, .timedOut:
                logger.warning("a picture cannot be made", metadata: ["error": "\(error)"])
                return nil
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
