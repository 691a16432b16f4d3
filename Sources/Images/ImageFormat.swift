import Foundation

/// The formats that thumbnails are made from.
public enum ImageFormat: String, Sendable, CaseIterable {
    /// ISO/IEC 10918.
    case jpeg = "JPEG"
    /// ISO/IEC 15948; of an animation the first frame.
    case png = "PNG"
    /// RFC 9649; of an animation the first frame.
    case webp = "WebP"
    /// GIF89a; of an animation the first frame.
    case gif = "GIF"
    /// ISO/IEC 23008-12 with HEVC: what an iPhone takes.
    case heic = "HEIC"

    /// An image of 16 × 16 pixels, all of one orange.
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
