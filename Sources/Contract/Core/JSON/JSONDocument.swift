import Foundation

/// A JSON object with the places of its values. It reads values by their tokens, as Foundation's decoder does: a number with
/// a fraction of zero is a whole number.
///
/// It belongs to one decoding, on one thread.
final class JSONDocument {
    private let bytes: [UInt8]
    private let tokens: [JSONToken]
    /// The members of objects with many, by their names.
    private var indexes: [Int: [String: Int]] = [:]

    /// Fails when the bytes are not one object that ``JSONShape/isObject(_:)`` accepts.
    init?(object bytes: [UInt8]) {
        var tokens: [JSONToken] = []
        let isObject = bytes.withUnsafeBufferPointer { bytes in
            var scanner = JSONScanner(bytes: bytes)
            defer { tokens = scanner.tokens }
            return scanner.scan()
        }
        guard isObject else { return nil }
        self.bytes = bytes
        self.tokens = tokens
    }

    // MARK: Containers

    func kind(at index: Int) -> JSONToken.Kind { tokens[index].kind }
    /// The number of elements of a list.
    func count(of list: Int) -> Int { Int(tokens[list].count) }
    /// The index of the value behind another in the same list.
    func next(after index: Int) -> Int { Int(tokens[index].next) }

    /// Returns the member of an object.
    func member(_ name: String, of object: Int) -> Int? {
        // A search through all members for each of them would take a hostile client's time squared.
        if tokens[object].count > 32 { return members(of: object)[name] }
        var name = name
        return name.withUTF8 { utf8 in
            let isASCII = utf8.allSatisfy { $0 < 0x80 }
            var key = object + 1
            while key < tokens[object].next {
                if hasName(utf8, isASCII: isASCII, at: key) { return key + 1 }
                key = next(after: key + 1)
            }
            return nil
        }
    }

    private func hasName(_ utf8: UnsafeBufferPointer<UInt8>, isASCII: Bool, at key: Int) -> Bool {
        let token = tokens[key]
        guard token.isPlain, isASCII else { return string(at: key) == String(decoding: utf8, as: UTF8.self) }
        guard token.end - token.start == utf8.count else { return false }
        guard let name = utf8.baseAddress else { return true }
        return bytes.withUnsafeBufferPointer { memcmp($0.baseAddress! + Int(token.start), name, utf8.count) == 0 }
    }

    private func members(of object: Int) -> [String: Int] {
        if let index = indexes[object] { return index }
        var members: [String: Int] = [:]
        for key in keys(of: object) { members[string(at: key)] = key + 1 }
        indexes[object] = members
        return members
    }

    /// Returns the indices of an object's keys. The index of a member's value is one more.
    func keys(of object: Int) -> [Int] {
        var keys: [Int] = []
        var key = object + 1
        while key < tokens[object].next {
            keys.append(key)
            key = next(after: key + 1)
        }
        return keys
    }

    // MARK: Values

    /// Returns a string, or a key.
    func string(at index: Int) -> String {
        bytes.withUnsafeBufferPointer { tokens[index].text(in: $0) }
    }

    /// Returns a whole number of digits alone; nil for one that does not fit or has another form.
    func plainInteger<I: FixedWidthInteger>(at index: Int, as _: I.Type) -> I? {
        let token = tokens[index]
        return bytes.withUnsafeBufferPointer { bytes in
            let digits = UnsafeBufferPointer(rebasing: bytes[Int(token.start)..<Int(token.end)])
            let isNegative = digits[0] == UInt8(ascii: "-")
            var value: I = 0
            for digit in digits.dropFirst(isNegative ? 1 : 0) {
                guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { return nil }
                let (tens, tooLarge) = value.multipliedReportingOverflow(by: 10)
                let ones = I(truncatingIfNeeded: digit - UInt8(ascii: "0"))
                let (sum, tooMuch) =
                    isNegative ? tens.subtractingReportingOverflow(ones) : tens.addingReportingOverflow(ones)
                if tooLarge || tooMuch { return nil }
                value = sum
            }
            return value
        }
    }

    /// Returns a number; nil for one that is too large or too small for the type, and for rare forms of zero.
    func double(at index: Int) -> Double? {
        let text = string(at: index)
        guard let value = Double(text), value.isFinite else { return nil }
        return value != 0 || text.utf8.allSatisfy { "-0.".utf8.contains($0) } ? value : nil
    }

    /// Returns the bytes of a value.
    func slice(at index: Int) -> Data {
        let token = tokens[index]
        let quote = token.kind == .string ? 1 : 0
        return Data(bytes[Int(token.start) - quote..<Int(token.end) + quote])
    }

    // MARK: Paths

    /// The keys and indices from the outermost object to a value.
    func path(to index: Int) -> [any CodingKey] {
        var steps: [any CodingKey] = []
        var index = index
        while index > 0 {
            let parent = Int(tokens[index].parent)
            steps.append(
                tokens[parent].kind == .list ? JSONStep(Int(tokens[index].position)) : JSONStep(string(at: index - 1)))
            index = parent
        }
        return steps.reversed()
    }
}

/// A step of the path to a value.
struct JSONStep: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) { (stringValue, intValue) = (name, nil) }
    init(_ index: Int) { (stringValue, intValue) = ("Index \(index)", index) }
    init(stringValue: String) { self.init(stringValue) }
    init(intValue: Int) { self.init(intValue) }
}
