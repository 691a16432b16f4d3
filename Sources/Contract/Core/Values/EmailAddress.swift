/// The rule for e-mail addresses, the same in every API: an address to which an e-mail could be sent.
package enum EmailAddress {
    /// Returns whether the text is an address.
    ///
    /// - Parameters:
    ///   - text: An address without white space at its ends.
    ///   - needsDot: Whether the domain must have at least two labels. By default one is enough, as in a private
    ///     network.
    package static func isValid(_ text: String, needsDot: Bool = false) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard text.length <= 254, parts.count == 2, text.unicodeScalars.allSatisfy(isAllowed) else { return false }
        let words = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return words.allSatisfy { !$0.isEmpty } && labels.allSatisfy(isLabel) && (!needsDot || labels.count >= 2)
    }

    /// Returns whether the text is a label of a domain name (RFC 1035 §2.3.1), in any script.
    private static func isLabel(_ label: Substring) -> Bool {
        !label.isEmpty && label.utf8.count <= 63 && label.first != "-" && label.last != "-"
            && label.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), 0x80...:
                    true
                default: false
                }
            }
    }

    /// Returns whether a character may appear in an address without quotes (RFC 5322 §3.2.3), in any script (RFC 6532).
    /// One that shows nothing may not: the address would look like another one.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        !"()<>[]:;,\\\"".unicodeScalars.contains(scalar) && !scalar.isBlank
            && scalar.properties.generalCategory != .control
    }
}
