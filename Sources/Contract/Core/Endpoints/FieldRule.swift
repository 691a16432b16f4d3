/// A rule for the values of a request's field, as the API's description has it.
///
/// The description finds most rules by itself, because it tries values on ``Endpoint/validate()``. An endpoint states the
/// others in ``Endpoint/fieldRules``.
public struct FieldRule: Sendable {
    /// The number of Unicode scalars that a text may have.
    public var lengths: ClosedRange<Int>?
    /// The numbers that are accepted.
    public var numbers: ClosedRange<Double>?
    /// The number of elements that a list must have at least.
    public var minimumCount: Int?
    /// A regular expression (ECMA-262) of which a text must have a match.
    public var pattern: String?
    /// A format of JSON Schema, such as `date`.
    public var format: String?
    /// The texts that are accepted; none for any.
    public var values: [String]
    /// Whether a request without the field is refused.
    public var isRequired: Bool
    /// What remains to be said, as a sentence.
    public var note: String?

    /// The inside of a negated class of a regular expression (ECMA-262): the characters that show nothing
    /// (``Swift/Unicode/Scalar/isBlank``). Unicode has some more beyond its first plane.
    package static let blank =
        #"\s\u0085\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"#
        + #"\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"#
    /// A regular expression (ECMA-262) for a character that shows something, of which a text that is needed has one.
    package static let visible = "[^\(blank)]"

    /// Creates a rule.
    ///
    /// - Parameter counts: The number of elements that a list must have at least.
    public init(
        _ note: String? = nil, lengths: ClosedRange<Int>? = nil, numbers: ClosedRange<Double>? = nil,
        counts: PartialRangeFrom<Int>? = nil, pattern: String? = nil, format: String? = nil, values: [String] = [],
        isRequired: Bool = false
    ) {
        self.note = note
        self.lengths = lengths
        self.numbers = numbers
        self.minimumCount = counts?.lowerBound
        self.isRequired = isRequired
        self.pattern = pattern
        self.format = format
        self.values = values
    }

    /// Returns the rule of a number that may be larger than the greatest one that counts.
    package static func counting(upTo maximum: Int) -> FieldRule {
        FieldRule("A larger number than \(maximum) counts as \(maximum).")
    }
}
