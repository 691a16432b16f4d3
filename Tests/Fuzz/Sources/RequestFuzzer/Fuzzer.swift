import Foundation

/// Runs libFuzzer on the comparison of the server's parser with NIO's.
@main
struct Fuzzer {
    static func main() {
        atexit { Total.now.report() }
        // The `main` of SwiftPM stands in for libFuzzer's own.
        var (count, arguments) = (CommandLine.argc, CommandLine.unsafeArgv)
        _ = runFuzzer(&count, &arguments, testOneInput)
    }
}

/// The number of inputs so far and of bytes in them, and the number of bytes at which the run ends.
private struct Total {
    nonisolated(unsafe) static var now = Total()

    var inputs = 0
    var bytes = 0
    let limit = ProcessInfo.processInfo.environment["CONCORD_FUZZ_BYTES"].flatMap(Int.init) ?? .max

    func report() {
        print("fuzz: \(inputs) inputs, \(bytes) bytes")
        fflush(nil)
    }
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Compares what the parsers make of an input, and ends the process when they differ.
private func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    // The same input arrives in the same pieces each time.
    var generator = SeededGenerator(seed: bytes.reduce(0) { $0 &* 31 &+ UInt64($1) })
    let difference =
        differenceFromNIO(bytes) ?? differenceFromNIO(bytes + Array("\r\n\r\n".utf8))
        ?? differenceInPieces(bytes, &generator)
    if let difference { fatalError(difference) }
    Total.now.inputs += 1
    Total.now.bytes += count
    if Total.now.bytes >= Total.now.limit {
        Total.now.report()
        // libFuzzer takes an ordinary exit for a crash.
        _exit(0)
    }
    return 0
}
