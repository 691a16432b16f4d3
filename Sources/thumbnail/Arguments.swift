import CVips

/// The arguments of the command line.
struct Arguments {
    static let usage = """
        Usage: thumbnail [--crop 200 | --fit EDGE | --rewrite] [--quality 85] [--max-pixels 40000000]
                         [--max-jpeg-pixels 100000000] [--max-heic-pixels 100000000] [--max-webp-pixels 100000000]
                         [--cpu-seconds 20] [--memory 1536] [FILE]
               thumbnail --initials TEXT --colour RRGGBB [--crop 200] [--quality 85]

        Reads a JPEG, PNG, WebP, GIF (its first frame) or HEIC from FILE or standard input, and writes a JPEG to standard
        output, which must be a pipe: upright, in sRGB, on white, without metadata. With --crop it is a square of that
        edge, cut around the centre; with --fit it is scaled down where an edge is longer. Edges are 1 to 4096 pixels.
        With --rewrite the format and the size stay (HEIC becomes a JPEG), and animations move.
        --memory is in MiB of address space. With --initials no image is read: the JPEG shows the text in white on a
        square of that colour.

        Exit codes: 0 success; 1 not an image of these formats, or a damaged one; 2 more pixels than allowed for its
        format; 64 wrong arguments; 66 FILE cannot be read; 69 libvips cannot be used; 71 the process cannot be confined;
        74 the output cannot be written.

        """

    var options = cvips_options(
        edge: 200, crop: true, quality: 85, maximum_pixels: 40_000_000, maximum_jpeg_pixels: 100_000_000,
        maximum_heic_pixels: 100_000_000, maximum_webp_pixels: 100_000_000)
    var limits = cvips_limits(cpu_seconds: 20, memory: 1536 << 20)
    /// Whether the format and the size are kept.
    var rewrites = false
    /// The text that is drawn in place of an image; nil when an image is read.
    var initials: String?
    /// The colour behind the text, 0xRRGGBB.
    var colour: UInt32 = 0
    var file: String?

    /// Parses the arguments; nil when they are wrong.
    init?(_ arguments: some Sequence<String>) {
        var rest = arguments.makeIterator()
        while let argument = rest.next() {
            guard argument.hasPrefix("--") else {
                guard file == nil else { return nil }
                file = argument
                continue
            }
            if argument == "--rewrite" {
                rewrites = true
                continue
            }
            guard let value = rest.next(), set(argument, value) else { return nil }
        }
    }

    private mutating func set(_ name: String, _ value: String) -> Bool {
        if name == "--initials" {
            initials = value
            return true
        }
        if name == "--colour" {
            guard value.utf8.count == 6, let number = UInt32(value, radix: 16) else { return false }
            colour = number
            return true
        }
        guard let number = UInt32(value), number > 0 else { return false }
        switch name {
        case "--crop" where number <= 4096, "--fit" where number <= 4096:
            options.edge = Int32(number)
            options.crop = name == "--crop"
        case "--quality" where number <= 100: options.quality = Int32(number)
        case "--max-pixels": options.maximum_pixels = UInt64(number)
        case "--max-jpeg-pixels": options.maximum_jpeg_pixels = UInt64(number)
        case "--max-heic-pixels": options.maximum_heic_pixels = UInt64(number)
        case "--max-webp-pixels": options.maximum_webp_pixels = UInt64(number)
        case "--cpu-seconds" where number <= 3600: limits.cpu_seconds = number
        case "--memory": limits.memory = UInt64(number) << 20
        default: return false
        }
        return true
    }
}
