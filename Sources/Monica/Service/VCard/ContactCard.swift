import Contract
import MonicaAPI

/// A contact as a vCard says it.
struct ContactCard: Sendable, Hashable {
    /// A UUID of version 4 in lower case; nil where the card has another kind of id, or none.
    var uuid: String?
    var firstName = ""
    var middleName: String?
    var lastName: String?
    var nickname: String?
    var emails: [String] = []
    var birth: StoredDate?
    var isDead = false
    var death: StoredDate?
    var company: String?
    var job: String?
    /// The first is the description, if it is short enough.
    var notes: [String] = []
    var tags: [String] = []
    /// In milliseconds since 1970; of what is written.
    var revised: Int64 = 0
    /// Whether a text was longer than may be kept.
    var isCut = false

    init() {}

    // MARK: Reading

    /// Nil when there is no name in it, nor anything that could stand for one.
    init?(_ card: VCard, today: Day) {
        uuid = card.first("UID").flatMap { Self.uuid($0.text) }
        let name = (card.first("N")?.components ?? []).map { parts in
            parts.map(\.trimmed).filter { !$0.isEmpty }.joined(separator: " ")
        }
        func component(_ index: Int) -> String? { name.indices.contains(index) ? short(name[index]) : nil }
        let whole = short(card.first("FN")?.text)
        nickname = short(card.first("NICKNAME")?.elements.first { !$0.isBlank })
        emails = card.all("EMAIL").compactMap { Self.email($0.text) }
        let organization = card.first("ORG")?.components.first?.joined(separator: ",")
        company = short(organization)
        job = short(card.first("TITLE")?.text)
        lastName = component(0)
        middleName = component(2)
        if let first = component(1) {
            firstName = first
        } else if let last = lastName {
            // A name must begin somewhere.
            (firstName, lastName) = (last, nil)
        } else if let whole {
            let words = whole.split(separator: " ", maxSplits: 1).map(String.init)
            firstName = words[0]
            lastName = words.dropFirst().first.flatMap { $0.isBlank ? nil : $0.trimmed }
        } else if let substitute = nickname ?? company ?? emails.first {
            firstName = substitute
        } else {
            return nil
        }
        birth = card.first("BDAY").flatMap { Self.date($0, today) }
        let passing = card.first("DEATHDATE") ?? card.first("X-DEATHDATE")
        isDead = passing != nil
        death = passing.flatMap { Self.date($0, today) }
        notes = card.all("NOTE").map(\.text.trimmed).filter { !$0.isEmpty }
        tags = card.all("CATEGORIES").flatMap(\.elements).map(\.trimmed).filter { 1...255 ~= $0.length }
    }

    /// Trimmed, of 255 characters at most; nil when blank.
    private mutating func short(_ text: String?) -> String? {
        guard let text = text?.trimmed, !text.isEmpty else { return nil }
        guard text.length > 255 else { return text }
        isCut = true
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(255))).trimmed
    }

    private static func uuid(_ text: String) -> String? {
        let text = text.trimmed.lowercased()
        let id = text.hasPrefix("urn:uuid:") ? String(text.dropFirst(9)) : text
        return id.wholeMatch(of: #/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/#).map { _ in id
        }
    }

    private static func email(_ text: String) -> String? {
        let text = text.trimmed
        let address = text.lowercased().hasPrefix("mailto:") ? String(text.dropFirst(7)) : text
        return 3...255 ~= address.length && address.contains("@") && !address.contains(where: \.isWhitespace)
            ? address : nil
    }

    /// `19801010`, `1980-10-10`, `--1010`, `--10-10`, `1980-10`, `1980`, each with or without a time. Text says nothing.
    private static func date(_ property: VCard.Property, _ today: Day) -> StoredDate? {
        if property.says("TEXT") { return nil }
        var text = property.value.trimmed
        if let time = text.firstIndex(where: { $0 == "T" || $0 == "t" }) { text = String(text[..<time]) }
        if let match = text.wholeMatch(of: #/--([0-9]{2})-?([0-9]{2})/#), let month = Int(match.1),
            let day = Int(match.2)
        {
            return Input.day(month: month, day: day, near: today.year).map { StoredDate($0, .yearUnknown) }
        }
        if let match = text.wholeMatch(of: #/([0-9]{4})-?([0-9]{2})-?([0-9]{2})/#), let year = Int(match.1),
            let month = Int(match.2), let day = Int(match.3)
        {
            let isOmitted = property.parameter("X-APPLE-OMIT-YEAR").first == String(match.1)
            if isOmitted {
                return Input.day(month: month, day: day, near: today.year).map { StoredDate($0, .yearUnknown) }
            }
            return year > 0 ? Day(year: year, month: month, day: day).map { StoredDate($0) } : nil
        }
        if let match = text.wholeMatch(of: #/([0-9]{4})(-[0-9]{2})?/#), let year = Int(match.1), year > 0 {
            return Day(year: year, month: 1, day: 1).map { StoredDate($0, .ageBased) }
        }
        return nil
    }

    // MARK: Writing

    func write(to writer: inout VCardWriter) {
        writer.begin()
        if let uuid { writer.write("UID", plain: "urn:uuid:" + uuid) }
        writer.write("FN", text: Monica.Names.complete(firstName, middleName, lastName))
        writer.write("N", components: [lastName ?? "", firstName, middleName ?? "", "", ""])
        if let nickname { writer.write("NICKNAME", list: [nickname]) }
        for email in emails { writer.write("EMAIL", text: email) }
        if let birth { writer.write("BDAY", plain: Self.text(of: birth)) }
        if isDead {
            if let death {
                writer.write("DEATHDATE", plain: Self.text(of: death))
            } else {
                writer.write("DEATHDATE;VALUE=text", text: "unknown")
            }
        }
        if let company { writer.write("ORG", components: [company]) }
        if let job { writer.write("TITLE", text: job) }
        for note in notes { writer.write("NOTE", text: note) }
        if !tags.isEmpty { writer.write("CATEGORIES", list: tags) }
        let time = Monica.Timestamp(milliseconds: revised).description
        writer.write("REV", plain: time.replacing("-", with: "").replacing(":", with: ""))
        writer.end()
    }

    private static func text(of date: StoredDate) -> String {
        let digits = date.day.description.replacing("-", with: "")
        return switch date.kind {
        case .exact: digits
        case .ageBased: String(digits.prefix(4))
        case .yearUnknown: "--" + digits.suffix(4)
        }
    }
}
