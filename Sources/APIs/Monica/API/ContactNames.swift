import Contract

extension Monica {
    /// The composition of names.
    package enum Names {
        package static func complete(_ parts: String?...) -> String {
            var name = ""
            for case let part? in parts where !part.isEmpty { name += name.isEmpty ? part : " " + part }
            return name
        }

        /// Returns the first letter or digit of each word, letters in upper case.
        package static func initials(of name: String) -> String {
            asciiInitials(of: name)
                ?? name.split(whereSeparator: \.isWhitespace)
                .compactMap { word in word.first { $0.isLetter || $0.isNumber } }
                .map { letter in
                    let upper = letter.uppercased()
                    return upper.count == 1 ? upper : String(letter)
                }.joined()
        }

        /// Does the same without Unicode's tables, in a tenth of the time; nil for a name that needs them.
        private static func asciiInitials(of name: String) -> String? {
            name.withBytes { letters in
                letters.contains { $0 >= 0x80 } ? nil : asciiInitials(of: letters)
            }
        }

        private static func asciiInitials(of letters: UnsafeBufferPointer<UInt8>) -> String {
            String(unsafeUninitializedCapacity: letters.count) { initials in
                var (count, isWordDone) = (0, false)
                func add(_ byte: UInt8) {
                    if !isWordDone {
                        initials[count] = byte
                        count += 1
                    }
                    isWordDone = true
                }
                for byte in letters {
                    switch byte {
                    case 0x09...0x0D, UInt8(ascii: " "): isWordDone = false
                    case UInt8(ascii: "a")...UInt8(ascii: "z"): add(byte - 0x20)
                    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): add(byte)
                    default: break
                    }
                }
                return count
            }
        }
    }
}
