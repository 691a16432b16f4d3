/// The reason why there is no JPEG.
public enum ImageError: Error, Equatable, CustomStringConvertible {
    /// The bytes are not a JPEG, PNG, WebP, GIF or HEIC, or a damaged one.
    case notAnImage
    /// The image has more pixels than its format may have (``Thumbnailer/PixelLimits``).
    case tooLarge
    /// The image was not read, because its sender has the maximum number of images waiting.
    case tooMany
    /// The helper process crashed while it read the image.
    case crashed
    /// The helper process took too long, and was ended.
    case timedOut
    /// The file of the image cannot be read; the text is for the log.
    case unreadable(String)
    /// The image was not read, because the helper process does not work or too many images wait for it; the text is for
    /// the operator.
    case unavailable(String)
    /// The task was cancelled, and the helper process was ended.
    case cancelled

    /// The problem, and for an operator what to do about it.
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
