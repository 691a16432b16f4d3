// Decodes one image of unknown origin, or draws initials, and exits. A defect that an image exploits is confined to
// a process without files or network, with limited time and memory. The program does not use Foundation, because it
// starts once for every picture.

import CVips

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

func end(_ code: Int32, _ message: String = "") -> Never {
    if !message.isEmpty {
        var line = "thumbnail: \(message)\n"
        line.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }
    // Exit handlers are skipped: libraries may be in an inconsistent state.
    _exit(code)
}

guard let arguments = Arguments(CommandLine.arguments.dropFirst()) else { end(64, Arguments.usage) }
if let file = arguments.file {
    let descriptor = open(file, O_RDONLY)
    guard descriptor >= 0, dup2(descriptor, STDIN_FILENO) >= 0 else {
        end(66, "\(file): \(String(cString: strerror(errno)))")
    }
}
guard cvips_limit(arguments.limits) else { end(71, "the limits cannot be set: \(String(cString: strerror(errno)))") }
guard cvips_start() else { end(69, "libvips cannot be used: \(String(cString: cvips_message()))") }

var image: UnsafeMutableRawPointer?
var count = 0
var result = CVIPS_DONE
if let text = arguments.initials {
    // Fonts are read from files. Nothing of unknown origin is decoded.
    result = cvips_initials(text, arguments.colour, arguments.options, &image, &count)
}
guard cvips_confine() else { end(71, "the process cannot be confined: \(String(cString: strerror(errno)))") }
if arguments.initials == nil {
    result =
        arguments.rewrites
        ? cvips_rewrite(STDIN_FILENO, arguments.options, &image, &count)
        : cvips_thumbnail(STDIN_FILENO, arguments.options, &image, &count)
}
guard result != CVIPS_TOO_LARGE else { end(2, "more pixels than allowed for an image of its format") }
guard result == CVIPS_DONE, let image else { end(1, String(cString: cvips_message())) }

var written = 0
while written < count {
    let more = write(STDOUT_FILENO, image + written, count - written)
    guard more > 0 || errno == EINTR else { end(74, "standard output: \(String(cString: strerror(errno)))") }
    written += max(0, more)
}
end(0)
