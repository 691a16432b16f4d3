import Contract
import Foundation
import MonicaAPI

/// The fields of a write, judged one after the other: what is wrong with each is said in the order in which they are
/// asked for.
struct Input {
    private let fields: [String: JSONValue]
    private var refusals: [String] = []

    init(_ form: Monica.Form) { fields = form.fields }

    /// - Throws: 422 with every text, if there is one.
    func check() throws(Problem) {
        if !refusals.isEmpty { throw Monica.Refusal.invalid(refusals) }
    }

    func isGiven(_ name: String) -> Bool { value(name) != nil }

    mutating func refuse(_ name: String, _ what: String) { refusals.append("The \(Self.spoken(name)) \(what)") }
    mutating func refuseSelection(_ name: String) { refusals.append("The selected \(Self.spoken(name)) is invalid.") }
    mutating func refuse(_ text: String) { refusals.append(text) }

    private static func spoken(_ name: String) -> String { name.replacingOccurrences(of: "_", with: " ") }

    /// What was sent, trimmed; nil for null and empty text.
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

    /// - Returns: nil when it is absent, which is refused where it is required.
    private mutating func required(_ name: String, _ isRequired: Bool) -> JSONValue? {
        let value = value(name)
        if value == nil, isRequired { refuse(name, "field is required.") }
        return value
    }

    // MARK: Types

    mutating func text(_ name: String, required isRequired: Bool = false, upTo limit: Int = 255) -> String? {
        guard let value = required(name, isRequired) else { return nil }
        // NUL, which no database takes, is no text.
        guard case .string(let text) = value, !text.containsNUL else {
            refuse(name, "must be a string.")
            return nil
        }
        guard text.length <= limit else {
            refuse(name, "may not be greater than \(limit) characters.")
            return nil
        }
        return text
    }

    mutating func integer(_ name: String, required isRequired: Bool = false) -> Int? {
        guard let value = required(name, isRequired) else { return nil }
        guard let integer = Self.integer(value) else {
            refuse(name, "must be an integer.")
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

    /// Hundredths of a number from 0 to 999999999.99; nil for 0 too.
    mutating func cents(_ name: String) -> Int? {
        guard let value = required(name, false) else { return nil }
        let number: Decimal? =
            switch value {
            case .integer(let value): Decimal(value)
            // By its shortest digits: 12.34 is not exactly a binary fraction.
            case .number(let value): Decimal(string: String(value))
            case .string(let text) where text.wholeMatch(of: #/[+-]?(\d+(\.\d*)?|\.\d+)/#) != nil: Decimal(string: text)
            default: nil
            }
        guard let number else {
            refuse(name, "must be a number.")
            return nil
        }
        guard number >= 0, number < 1_000_000_000 else {
            refuseSelection(name)
            return nil
        }
        var (hundredths, cut) = (number * 100, Decimal())
        NSDecimalRound(&cut, &hundredths, 0, .down)
        let cents = NSDecimalNumber(decimal: cut).intValue
        return cents == 0 ? nil : cents
    }

    mutating func truth(_ name: String, required isRequired: Bool = false) -> Bool? {
        guard let value = required(name, isRequired) else { return nil }
        switch value {
        case .bool(let value): return value
        case .integer(0), .string("0"): return false
        case .integer(1), .string("1"): return true
        default:
            refuse(name, "field must be true or false.")
            return nil
        }
    }

    /// `2026-02-23` and nothing else.
    mutating func day(_ name: String, required isRequired: Bool = false) -> Day? {
        guard let value = required(name, isRequired) else { return nil }
        guard case .string(let text) = value, text.wholeMatch(of: #/[0-9]{4}-[0-9]{2}-[0-9]{2}/#) != nil else {
            refuse(name, "does not match the format Y-m-d.")
            return nil
        }
        guard let day = Day(text) else {
            refuse(name, "is not a valid date.")
            return nil
        }
        return day
    }

    /// Ids, each once, in their order.
    mutating func ids(_ name: String) -> [Int] {
        guard let elements = list(name) else { return [] }
        var ids: [Int] = []
        var seen: Set<Int> = []
        for element in elements {
            guard let id = Self.integer(element) else {
                refuse(name, "must be an integer.")
                return []
            }
            if seen.insert(id).inserted { ids.append(id) }
        }
        return ids
    }

    /// Texts, each trimmed, not blank, and once.
    mutating func texts(_ name: String, upTo limit: Int = 255) -> [String] {
        guard let elements = list(name) else { return [] }
        var texts: [String] = []
        var seen: Set<String> = []
        for element in elements {
            guard case .string(let text) = element, !text.containsNUL else {
                if element == .null { continue }
                refuse(name, "must be a string.")
                return []
            }
            guard text.trimmed.length <= limit else {
                refuse(name, "may not be greater than \(limit) characters.")
                return []
            }
            if !text.trimmed.isEmpty, seen.insert(text.trimmed).inserted { texts.append(text.trimmed) }
        }
        return texts
    }

    /// A list with something in it.
    private mutating func list(_ name: String) -> [JSONValue]? {
        guard let value = required(name, true) else { return nil }
        guard case .list(let elements) = value else {
            refuse(name, "must be an array.")
            return nil
        }
        if elements.isEmpty { refuse(name, "field is required.") }
        return elements
    }

    mutating func email(_ name: String) -> String? {
        guard let text = text(name) else { return nil }
        guard text.wholeMatch(of: #/[^\s@<>(),;:"\\]+@[^\s@<>(),;:"\\]+/#) != nil else {
            refuse(name, "must be a valid email address.")
            return nil
        }
        return text
    }

    // MARK: Dates of contacts

    /// A date in parts: day and month, the year where it is known; or an age.
    ///
    /// - Parameters:
    ///   - prefix: Of the parts' names: `birthdate_`.
    ///   - name: What a date that does not exist is called.
    mutating func date(_ prefix: String, named name: String, today: Day) -> StoredDate? {
        if truth(prefix + "is_age_based") == true {
            guard let age = integer(prefix + "age", required: true) else { return nil }
            guard 0...1000 ~= age, let day = Day(year: today.year - age, month: 1, day: 1) else {
                refuse(name, "is not a valid date.")
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
            refuse(name, "is not a valid date.")
            return nil
        }
        return StoredDate(date)
    }

    /// In this year; 29 February in the last that had one.
    static func day(month: Int, day: Int, near year: Int) -> Day? {
        if let found = Day(year: year, month: month, day: day) { return found }
        guard (month, day) == (2, 29) else { return nil }
        return (1...8).lazy.compactMap { Day(year: year - $0, month: 2, day: 29) }.first
    }
}
