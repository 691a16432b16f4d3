import Foundation

/// The formats of images from which thumbnails can be made.
public enum ImageFormat: String, Sendable, CaseIterable {
    /// The format of ISO/IEC 10918.
    case jpeg = "JPEG"
    /// The format of ISO/IEC 15948; of an animation the first frame is used.
    case png = "PNG"
    /// The format of RFC 9649; of an animation the first frame is used.
    case webp = "WebP"
    /// GIF89a; of an animation the first frame is used.
    case gif = "GIF"
    /// The format of ISO/IEC 23008-12 with HEVC, in which iPhones store photos.
    case heic = "HEIC"

    /// Finds the format of a file by its first 12 bytes; nil for another format.
    init?(head: [UInt8]) {
        func starts(_ bytes: [UInt8], at offset: Int = 0) -> Bool { head.dropFirst(offset).starts(with: bytes) }
        if starts([0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if starts([0x89, 0x50, 0x4E, 0x47]) {
            self = .png
        } else if starts(Array("RIFF".utf8)), starts(Array("WEBP".utf8), at: 8) {
            self = .webp
        } else if starts(Array("GIF8".utf8)) {
            self = .gif
        } else {
            return nil
        }
    }

    /// An image of 16 × 16 orange pixels.
    var sample: [UInt8] {
        let base64 =
            switch self {
            case .jpeg:
                """
                /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62r\
                Z4C8ybqmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSk\
                pKSkpKT/wAARCAAQABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAA\
                AAAAAAAAAAAAAAAABAX/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwCYAJVf/9k=
                """
            case .png:
                """
                iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAGklEQVR42mM8YSPCQApgYiARjGoY1TB0NAAAjEEBOC1X9WEAAAAASUVO\
                RK5CYII=
                """
            case .webp: "UklGRjIAAABXRUJQVlA4ICYAAACQAQCdASoQABAAB0CWJaACdLoAA5gA/tom62VWKf8UFwixMAAAAA=="
            case .gif:
                """
                R0lGODdhEAAQAIEAAMg8FAAAAAAAAAAAACwAAAAAEAAQAEAIHQABCBxIsKDBgwgTKlzIsKHDhxAjSpxIsaLFgQEBADs=
                """
            case .heic:
                """
                AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAXxtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAACJp\
                bG9jAAAAAERAAAEAAQAAAAABoAABAAAAAAAAACYAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABodmMxAAAAAA5waXRtAAAAAAAB\
                AAAA/GlwcnAAAADcaXBjbwAAAHVodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQGEA\
                AQApQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbqrprm4CGgwIAAAAyAAAADAIRiAAEABkQBwXPBiQAAABNjb2xybmNseAABAA0ABoAAAAAU\
                aXNwZQAAAAAAAABAAAAAQAAAAChjbGFwAAAAEAAAAAEAAAAQAAAAAf///9AAAAAC////0AAAAAIAAAAQcGl4aQAAAAADCAgIAAAAGGlw\
                bWEAAAAAAAAAAQABBYECAwWEAAAALm1kYXQAAAAiKAGvBBITTOD46cJoP8dP8e5VxS8n7asr40mfd7EYkqn/oA==
                """
            }
        return [UInt8](Data(base64Encoded: base64) ?? Data())
    }
}
