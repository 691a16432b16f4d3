// Decodes one image of unknown origin, and ends. What goes wrong here goes wrong in a process that has nothing: no
// files, no network, and only so much time and memory. This uses no Foundation: it starts once for every picture.

import CVips

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

func end(_ code: Int32, _ words: String = "") -> Never {
    if !words.isEmpty {
        var line = "thumbnail: \(words)\n"
        line.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }
    // Nothing is to be tidied up, least of all by libraries that may be in disorder.
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
guard cvips_confine() else { end(71, "it cannot be confined: \(String(cString: strerror(errno)))") }

var image: UnsafeMutableRawPointer?
var count = 0
let result =
    arguments.rewrites
    ? cvips_rewrite(STDIN_FILENO, arguments.options, &image, &count)
    : cvips_thumbnail(STDIN_FILENO, arguments.options, &image, &count)
guard result != CVIPS_TOO_LARGE else { end(2, "more pixels than an image of its format may have") }
guard result == CVIPS_DONE, let image else { end(1, String(cString: cvips_message())) }

var written = 0
while written < count {
    let more = write(STDOUT_FILENO, image + written, count - written)
    guard more > 0 || errno == EINTR else { end(74, "standard output: \(String(cString: strerror(errno)))") }
    written += max(0, more)
}
end(0)
