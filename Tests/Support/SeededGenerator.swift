/// A generator (SplitMix64) that makes the same choices in each run, so that a failure can be repeated.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns text with characters on which coders fail: separators, escapes, combining marks, characters of every
    /// width.
    public mutating func text(upTo maximum: Int = 24) -> String {
        let awkward: [Unicode.Scalar] = [
            "%", "+", "&", "=", "?", "#", "/", "\\", "\"", "'", ";", ":", ",", " ", "\t", "\r", "\n", "~", ".", "{",
            "}",
            "\u{7F}", "\u{E9}", "e", "\u{301}", "\u{2028}", "\u{20AC}", "\u{FFFD}", "\u{1F600}",
        ]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...maximum, using: &self) {
            if Bool.random(using: &self), let scalar = awkward.randomElement(using: &self) {
                text.append(scalar)
            } else if let scalar = Unicode.Scalar(UInt32.random(in: 1...0x2FFF, using: &self)) {
                text.append(scalar)
            }
        }
        return String(text)
    }
}
