import Contract
import Foundation
import MonicaAPI

/// Reads and validates the fields of a form. Errors are collected in the order in which the fields are read.
struct FormReader {
    private let fields: [String: JSONValue]
    private var errors: [String] = []

    init(_ form: Monica.Form) { fields = form.fields }

    /// Throws the collected errors.
    ///
    /// - Throws: A `Problem` with 422 and every message, if there is one.
    func check() throws(Problem) {
        if !errors.isEmpty { throw Monica.Problems.invalid(errors) }
    }

    func isGiven(_ name: String) -> Bool { value(name) != nil }

    mutating func reject(_ name: String, _ what: String) { errors.append("The \(Self.spoken(name)) \(what)") }
    mutating func rejectSelection(_ name: String) { errors.append("The selected \(Self.spoken(name)) is invalid.") }
    mutating func reject(_ text: String) { errors.append(text) }

    private static func spoken(_ name: String) -> String { name.replacingOccurrences(of: "_", with: " ") }

    /// Returns the value of a field, trimmed; nil for null and empty text.
    private func value(_ name: String) -> JSONValue? {
        switch fields[name] {
        case nil, .null: nil
        case .string(let text):
            switch text.trimmed {
            case "": nil
            case let trimmed: .string(trimmed)
            }
        case let other: other
        }
    }

    /// Returns the value of a field; nil when it is absent, which is an error if the field is required.
    private mutating func required(_ name: String, _ isRequired: Bool) -> JSONValue? {
        let value = value(name)
        if value == nil, isRequired { reject(name, "field is required.") }
        return value
    }

    // MARK: Types

    mutating func text(_ name: String, required isRequired: Bool = false, upTo limit: Int = Monica.lineLength)
        -> String?
    {
        guard let value = required(name, isRequired) else { return nil }
        // NUL is rejected, because no database accepts it in text.
        guard case .string(let text) = value, !text.containsNUL else {
            reject(name, "must be a string.")
            return nil
        }
        guard text.length <= limit else {
            reject(name, "may not be greater than \(limit) characters.")
            return nil
        }
        return text
    }

    /// Reads one of some words, which is required.
    mutating func choice(_ name: String, of words: [String]) -> String? {
        let word = text(name, required: true)
        if let word, !words.contains(word) { rejectSelection(name) }
        return word
    }

    mutating func integer(_ name: String, required isRequired: Bool = false) -> Int? {
        guard let value = required(name, isRequired) else { return nil }
        guard let integer = Self.integer(value) else {
            reject(name, "must be an integer.")
            return nil
        }
        return integer
    }

    private static func integer(_ value: JSONValue) -> Int? {
        switch value {
        case .integer(let value): Int(value)
        case .string(let text): Int(text)
        default: nil
        }
    }

    /// Returns the hundredths of a number from 0 to 999999999.99; nil for 0, too.
    mutating func cents(_ name: String, required isRequired: Bool = false) -> Int? {
        guard let value = required(name, isRequired) else { return nil }
        let number: Decimal? =
            switch value {
            case .integer(let value): Decimal(value)
            // The shortest digits are used, because 12.34 is not exactly a binary fraction.
            case .number(let value): Decimal(string: String(value))
            case .string(let text) where text.wholeMatch(of: #/[+-]?(\d+(\.\d*)?|\.\d+)/#) != nil: Decimal(string: text)
            default: nil
            }
        guard let number else {
            reject(name, "must be a number.")
            return nil
        }
        guard number >= 0, number < 1_000_000_000 else {
            rejectSelection(name)
            return nil
        }
        var (hundredths, cut) = (number * 100, Decimal())
        NSDecimalRound(&cut, &hundredths, 0, .down)
        let cents = NSDecimalNumber(decimal: cut).intValue
        return cents == 0 ? nil : cents
    }

    mutating func bool(_ name: String, required isRequired: Bool = false) -> Bool? {
        guard let value = required(name, isRequired) else { return nil }
        switch value {
        case .bool(let value): return value
        case .integer(0), .string("0"): return false
        case .integer(1), .string("1"): return true
        default:
            reject(name, "field must be true or false.")
            return nil
        }
    }

    /// Reads a date of the form `2026-02-23`.
    mutating func day(_ name: String, required isRequired: Bool = false) -> Day? {
        guard let value = required(name, isRequired) else { return nil }
        guard case .string(let text) = value, text.wholeMatch(of: #/[0-9]{4}-[0-9]{2}-[0-9]{2}/#) != nil else {
            reject(name, "does not match the format Y-m-d.")
            return nil
        }
        guard let day = Day(text) else {
            reject(name, "is not a valid date.")
            return nil
        }
        return day
    }

    /// Reads a time, in milliseconds since 1970: `2026-02-23T18:30:00Z`, `2026-02-23T18:30:00` or `2026-02-23 18:30:00` in UTC,
    /// or a day, which stands for its beginning in UTC.
    mutating func moment(_ name: String, required isRequired: Bool = false) -> Int64? {
        guard let value = required(name, isRequired) else { return nil }
        let text = if case .string(let text) = value { text } else { "" }
        let spaced = text.wholeMatch(of: #/([0-9-]{10})[ T]([0-9:]{8})/#).map { "\($0.1)T\($0.2)Z" }
        guard let time = Day(text)?.start ?? Monica.Timestamp(spaced ?? text) else {
            reject(name, "is not a valid date.")
            return nil
        }
        return time.milliseconds
    }

    /// Reads distinct ids, in their order.
    mutating func ids(_ name: String) -> [Int] {
        guard let elements = list(name) else { return [] }
        var ids: [Int] = []
        var seen: Set<Int> = []
        for element in elements {
            guard let id = Self.integer(element) else {
                reject(name, "must be an integer.")
                return []
            }
            if seen.insert(id).inserted { ids.append(id) }
        }
        return ids
    }

    /// Reads distinct texts, trimmed and not blank.
    mutating func texts(_ name: String, upTo limit: Int = Monica.lineLength) -> [String] {
        guard let elements = list(name) else { return [] }
        var texts: [String] = []
        var seen: Set<String> = []
        for element in elements {
            guard case .string(let text) = element, !text.containsNUL else {
                if element == .null { continue }
                reject(name, "must be a string.")
                return []
            }
            guard text.trimmed.length <= limit else {
                reject(name, "may not be greater than \(limit) characters.")
                return []
            }
            if !text.trimmed.isEmpty, seen.insert(text.trimmed).inserted { texts.append(text.trimmed) }
        }
        return texts
    }

    /// Reads a list that is not empty.
    private mutating func list(_ name: String) -> [JSONValue]? {
        guard let value = required(name, true) else { return nil }
        guard case .list(let elements) = value else {
            reject(name, "must be an array.")
            return nil
        }
        if elements.isEmpty { reject(name, "field is required.") }
        return elements
    }

    mutating func email(_ name: String, required isRequired: Bool = false) -> String? {
        guard let text = text(name, required: isRequired) else { return nil }
        guard EmailAddress.isValid(text) else {
            reject(name, "must be a valid email address.")
            return nil
        }
        return text
    }

    // MARK: Contacts' dates

    /// Reads a date in parts: day, month and year, where the year may be unknown; or an age.
    ///
    /// - Parameters:
    ///   - prefix: The prefix of the parts' names: `birthdate_`.
    ///   - name: The name of the date in errors.
    mutating func date(_ prefix: String, named name: String, today: Day) -> StoredDate? {
        if bool(prefix + "is_age_based") == true {
            guard let age = integer(prefix + "age", required: true) else { return nil }
            guard 0...1000 ~= age, let day = Day(year: today.year - age, month: 1, day: 1) else {
                reject(name, "is not a valid date.")
                return nil
            }
            return StoredDate(day, .ageBased)
        }
        let (day, month) = (integer(prefix + "day", required: true), integer(prefix + "month", required: true))
        let year = integer(prefix + "year") ?? 0
        guard let day, let month else { return nil }
        if year == 0, let date = Self.day(month: month, day: day, near: today.year) {
            return StoredDate(date, .yearUnknown)
        }
        guard year > 0, let date = Day(year: year, month: month, day: day) else {
            reject(name, "is not a valid date.")
            return nil
        }
        return StoredDate(date)
    }

    /// Returns the day in the given year; 29 February is moved to the last leap year.
    static func day(month: Int, day: Int, near year: Int) -> Day? {
        if let found = Day(year: year, month: month, day: day) { return found }
        guard (month, day) == (2, 29) else { return nil }
        return (1...8).lazy.compactMap { Day(year: year - $0, month: 2, day: 29) }.first
    }
}
