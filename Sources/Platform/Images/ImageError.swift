/// Why there is no JPEG.
public enum ImageError: Error, Equatable, CustomStringConvertible {
    /// The bytes are no JPEG, PNG, WebP, GIF or HEIC, or a damaged one.
    case notAnImage
    /// More pixels than its format may have (``Thumbnailer/PixelLimits``).
    case tooLarge
    /// The image was not looked at, since the person who sent it has as many waiting as one person may have.
    case tooMany
    /// The helper process ended as it should not have, by whatever the image did to it.
    case crashed
    /// The helper process took too long, and was ended.
    case timedOut
    /// The file of the image cannot be read; in words, for a log.
    case unreadable(String)
    /// The image was not looked at, since the helper process cannot be had or too many wait for it; in words, for an
    /// operator.
    case unavailable(String)
    /// The task was cancelled, and the helper process ended with it.
    case cancelled

    /// What is wrong, and for an operator what to do about it.
    public var description: String {
        switch self {
        case .notAnImage: "the file is no JPEG, PNG, WebP, GIF or HEIC image, or a damaged one"
        case .tooLarge: "the image has too many pixels"
        case .tooMany: "too many images of one person wait for their turn"
        case .crashed: "the thumbnail process crashed on this image"
        case .timedOut: "the thumbnail process took too long for this image"
        case .unreadable(let reason): "the image cannot be read: \(reason)"
        case .unavailable(let reason): "images cannot be read: \(reason)"
        case .cancelled: "the image was not waited for"
        }
    }
}
