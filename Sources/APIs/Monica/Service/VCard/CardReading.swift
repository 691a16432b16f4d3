import Contract
import Identity
import MonicaAPI

/// The contact that was read from a vCard, and the properties that a contact cannot store.
public struct CardReading: Sendable, Codable {
    /// The line at which the card begins in its file.
    let line: Int
    /// The time of its last revision (REV), in milliseconds since 1970; nil when it has none.
    let revisedAt: Int64?
    /// The contact; nil when the card has no name and nothing that could replace one.
    let contact: ContactCard?
    /// A digest that identifies a card without a UUID: of its own id or, when it has none, of its content.
    let digest: [UInt8]
    /// Whether the card has an id of its own, of any kind.
    let hasID: Bool
    /// The properties that were not imported, such as `PHOTO`.
    private(set) var leftOut: Set<String> = []
    /// The texts that were truncated, described for the operator.
    private(set) var cuts: [String] = []

    init(_ card: VCard, today: Day) {
        line = card.line
        revisedAt = card.first("REV").flatMap { CardTime.milliseconds($0.text.trimmed) }
        let id = card.first("UID")?.text.trimmed ?? ""
        hasID = !id.isEmpty
        digest = hasID ? Digest.sha256("UID:" + id) : Self.digest(of: card)
        var contact = ContactCard()
        contact.uuid = card.first("UID").flatMap { Self.uuid($0.text) }
        var reader = PropertyReader(card: card, today: today)
        self.contact = reader.read(into: &contact) ? contact : nil
        (leftOut, cuts) = (reader.leftOut, reader.cuts)
    }

    /// Returns whether the card is newer than the contact of the account.
    ///
    /// - Parameters:
    ///   - kept: The revision of the last card; nil for a contact that was not imported.
    ///   - updatedAt: The time of the contact's last change, which exports give as its revision.
    func isNewer(than kept: Int64?, updatedAt: Int64) -> Bool {
        guard let revisedAt, revisedAt / 1000 != updatedAt / 1000 else { return false }
        return revisedAt / 1000 > (kept ?? updatedAt) / 1000
    }

    /// Returns the digest of a card's content. Properties about the card itself are excluded, because programs write
    /// them again each time. A line break counts as its escape, as in the digests that databases have.
    private static func digest(of card: VCard) -> [UInt8] {
        let lines = card.properties.filter { !["REV", "PRODID", "VERSION"].contains($0.name) }
            .map { "\($0.name):\($0.value.replacing("\n", with: "\\n"))" }.sorted()
        return Digest.sha256(lines.joined(separator: "\n"))
    }

    private static func uuid(_ text: String) -> String? {
        let text = text.trimmed.lowercased()
        let id = text.hasPrefix("urn:uuid:") ? String(text.dropFirst(9)) : text
        let parts = id.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let isHex = parts.allSatisfy {
            $0.allSatisfy { "0"..."9" ~= Unicode.Scalar($0) || "a"..."f" ~= Unicode.Scalar($0) }
        }
        guard parts.map(\.count) == [8, 4, 4, 4, 12], isHex, parts[2].first == UInt8(ascii: "4"),
            parts[3].first.map({ "89ab".utf8.contains($0) }) == true
        else { return nil }
        return id
    }
}

/// Reads a card's properties, and remembers those that it could not use.
private struct PropertyReader {
    let card: VCard
    let today: Day
    var leftOut: Set<String> = []
    var cuts: [String] = []

    /// The properties that are read below, and those that contain no information about a person.
    private static let known: Set<String> = [
        "FN", "N", "NICKNAME", "GENDER", "EMAIL", "TEL", "URL", "SOCIALPROFILE", "X-SOCIALPROFILE", "ADR", "BDAY",
        "DEATHDATE", "X-DEATHDATE", "ORG",
        "TITLE", "NOTE", "CATEGORIES", "UID", "VERSION", "REV", "PRODID", "KIND", "X-ADDRESSBOOKSERVER-KIND", "PROFILE",
        "X-ABSHOWAS",
    ]
    /// The types that do not say what a number or address is used for.
    private static let plainTypes: Set<String> = [
        "PREF", "INTERNET", "VOICE", "TEXT", "DOM", "INTL", "POSTAL", "PARCEL", "X-USER-PROPERTY",
    ]

    init(card: VCard, today: Day) {
        self.card = card
        self.today = today
    }

    /// Reads the card, and returns false when it has no name.
    mutating func read(into contact: inout ContactCard) -> Bool {
        for property in card.properties where !Self.known.contains(property.name) && !property.value.isBlank {
            leftOut.insert(property.name)
        }
        let nicknames = card.all("NICKNAME").flatMap(\.elements).map(\.trimmed).filter { !$0.isEmpty }
        contact.nickname = short(nicknames.joined(separator: ", "), of: "NICKNAME")
        contact.gender = gender()
        contact.emails = read("EMAIL", Self.email)
        contact.phones = read("TEL", Self.phone)
        contact.websites = read("URL", Self.website)
        contact.profiles = (card.all("SOCIALPROFILE") + card.all("X-SOCIALPROFILE")).compactMap { profile($0) }
        contact.addresses = card.all("ADR").compactMap { address($0) }
        let organization = (single("ORG")?.components ?? []).map { $0.joined(separator: ",").trimmed }
        contact.company = short(organization.first, of: "ORG")
        if organization.dropFirst().contains(where: { !$0.isEmpty }) { leftOut.insert("ORG (department)") }
        contact.job = short(single("TITLE")?.text, of: "TITLE")
        guard name(into: &contact) else { return false }
        contact.birth = single("BDAY").flatMap { date($0) }
        let passing = single("DEATHDATE") ?? single("X-DEATHDATE")
        contact.isDead = passing != nil
        contact.death = passing.flatMap { $0.text == "unknown" ? nil : date($0) }
        notes(into: &contact)
        for tag in card.all("CATEGORIES").flatMap(\.elements).map(\.trimmed) where !tag.isEmpty {
            if tag.length <= Monica.lineLength {
                contact.tags.append(tag)
            } else {
                leftOut.insert("CATEGORIES (too long)")
            }
        }
        return true
    }

    // MARK: Properties

    /// Returns the value of a property that a contact has once; other values are left out.
    private mutating func single(_ name: String) -> VCard.Property? {
        let all = card.all(name).filter { !$0.value.isBlank }
        if all.contains(where: { $0.value != all[0].value }) { leftOut.insert("\(name) (more than one)") }
        return all.first
    }

    /// Returns the distinct contents of all properties with a name.
    private mutating func read(_ name: String, _ content: (VCard.Property) -> String?) -> [String] {
        var contents: [String] = []
        for property in card.all(name) where !property.value.isBlank {
            guard let content = content(property), 1...Monica.lineLength ~= content.length else {
                leftOut.insert(name)
                continue
            }
            if !types(of: property).isEmpty { leftOut.insert("\(name) (type)") }
            if !contents.contains(content) { contents.append(content) }
        }
        return contents
    }

    /// Returns the types of a property, such as `HOME`, from `TYPE` or in the form of vCard 2.1.
    private func types(of property: VCard.Property) -> [String] {
        let bare = property.parameters.filter { $0.values.map { $0.uppercased() } == [$0.name] }
        let words = property.parameter("TYPE").flatMap { $0.split(separator: ",") }.map { $0.uppercased() }
        return (words + bare.map(\.name))
            .filter { !Self.plainTypes.contains($0) && $0 != "QUOTED-PRINTABLE" && !$0.isEmpty }
    }

    /// Returns a text trimmed and truncated to the limit; nil when it is blank.
    private mutating func short(_ text: String?, of property: String, upTo limit: Int = Monica.lineLength) -> String? {
        guard let text = text?.trimmed, !text.isEmpty else { return nil }
        guard text.length > limit else { return text }
        cuts.append("\(property) (\(text.length) characters, \(limit) kept)")
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit))).trimmed
    }

    // MARK: Names

    private mutating func name(into contact: inout ContactCard) -> Bool {
        let parts = (card.first("N")?.components ?? []).map { part in
            part.map(\.trimmed).filter { !$0.isEmpty }.joined(separator: " ")
        }
        func part(_ index: Int) -> String? { parts.indices.contains(index) ? parts[index] : nil }
        let whole = short(card.first("FN")?.text, of: "FN")
        contact.lastName = short(part(0), of: "N")
        contact.middleName = short(part(2), of: "N")
        if let first = short(part(1), of: "N") {
            contact.firstName = first
        } else if let last = contact.lastName {
            // A contact must have a first name.
            (contact.firstName, contact.lastName) = (last, nil)
        } else if let whole {
            let words = whole.split(separator: " ", maxSplits: 1).map(String.init)
            contact.firstName = words[0]
            contact.lastName = words.dropFirst().first.flatMap { $0.isBlank ? nil : $0.trimmed }
        } else if let substitute = contact.nickname ?? contact.company ?? contact.emails.first ?? contact.phones.first {
            contact.firstName = substitute
        } else {
            return false
        }
        if parts.dropFirst(3).contains(where: { !$0.isEmpty }) { leftOut.insert("N (prefix, suffix)") }
        // A formatted name is usually built from the parts. One with other words has more information.
        func words(_ texts: [String]) -> Set<String> {
            Set(texts.flatMap { Folding.fold($0).split { !$0.isLetter && !$0.isNumber } }.map(String.init))
        }
        let said = words(parts + [contact.firstName, contact.lastName ?? "", contact.nickname ?? ""])
        if let whole, whole != contact.completeName, Self.isReordered(whole, of: contact) {
            contact.formattedName = whole
        } else if let whole, !words([whole]).isSubset(of: said), whole != contact.company {
            leftOut.insert("FN")
        }
        return true
    }

    /// Returns whether a name consists of a contact's parts in another order, or without spaces: 李小龍 of 小龍 and 李.
    private static func isReordered(_ whole: String, of contact: ContactCard) -> Bool {
        var rest = whole.filter { !$0.isWhitespace }
        // The longest part comes first, because it may contain a shorter one.
        let parts = [contact.firstName, contact.middleName ?? "", contact.lastName ?? ""]
            .map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }.sorted { $0.count > $1.count }
        guard parts.count > 1 else { return false }
        for part in parts {
            guard let range = rest.range(of: part) else { return false }
            // The separator keeps the texts on both sides from forming a match together.
            rest.replaceSubrange(range, with: "\n")
        }
        return rest.allSatisfy { $0 == "\n" }
    }

    private mutating func gender() -> String? {
        guard let components = single("GENDER")?.components else { return nil }
        let sex = components.first?.joined().trimmed.uppercased() ?? ""
        if components.dropFirst().contains(where: { !$0.joined().isBlank }) { leftOut.insert("GENDER (words)") }
        return ["M", "F", "O"].contains(sex) ? sex : nil
    }

    // MARK: Contact fields

    private static func email(_ property: VCard.Property) -> String? {
        let text = property.text.trimmed
        let address = text.lowercased().hasPrefix("mailto:") ? String(text.dropFirst(7)) : text
        return EmailAddress.isValid(address) ? address : nil
    }

    private static func phone(_ property: VCard.Property) -> String? {
        let text = property.text.trimmed
        return text.lowercased().hasPrefix("tel:") ? String(text.dropFirst(4)) : text
    }

    /// Reads the name in a social network, of which RFC 9554 and Apple write the network in different parameters.
    private mutating func profile(_ property: VCard.Property) -> ContactCard.Profile? {
        let text = property.text.trimmed
        let service = property.parameter("SERVICE-TYPE").joined(separator: ",").trimmed
        let name = service.isEmpty ? types(of: property).first?.lowercased() ?? "" : service
        guard 1...Monica.lineLength ~= name.length, 1...Monica.lineLength ~= text.length else {
            if !property.value.isBlank { leftOut.insert(property.name) }
            return nil
        }
        return .init(service: name, content: text)
    }

    /// Returns a website's address; nil for a text that would have to be escaped.
    private static func website(_ property: VCard.Property) -> String? {
        let text = property.text.trimmed
        return ContactDetails.isPlain(text) ? text : nil
    }

    private mutating func address(_ property: VCard.Property) -> PostalAddress? {
        let parts = property.components.map { part in
            part.map(\.trimmed).filter { !$0.isEmpty }.joined(separator: ", ")
        }
        func part(_ index: Int) -> String { parts.indices.contains(index) ? parts[index] : "" }
        var address = PostalAddress()
        // Post office box, apartment and street are one field of a contact.
        address.street = short((0...2).map(part).filter { !$0.isEmpty }.joined(separator: ", "), of: "ADR")
        address.city = short(part(3), of: "ADR")
        address.province = short(part(4), of: "ADR")
        address.postalCode = short(part(5), of: "ADR")
        address.country = short(part(6), of: "ADR")
        if address.isEmpty { return nil }
        let types = types(of: property)
        let name = property.parameter("X-NAME").joined(separator: ", ")
        address.name = ["HOME", "WORK"].first(where: types.contains)?.lowercased() ?? short(name, of: "ADR")
        if types.contains(where: { $0.lowercased() != address.name }) { leftOut.insert("ADR (type)") }
        return address
    }

    // MARK: Notes

    /// Reads the notes. The first one becomes the description, unless it has a time of its own or is too long.
    private mutating func notes(into contact: inout ContactCard) {
        for (index, property) in card.all("NOTE").filter({ !$0.text.isBlank }).enumerated() {
            let createdAt = property.parameter("CREATED").first.flatMap(CardTime.milliseconds)
            guard let text = short(property.text, of: "NOTE", upTo: Monica.textLength) else { continue }
            if index == 0, createdAt == nil, text.length <= Monica.lineLength {
                contact.description = text
            } else {
                contact.notes.append(.init(text: text, createdAt: createdAt))
            }
        }
    }

    // MARK: Dates

    /// Parses `19801010`, `1980-10-10`, `--1010`, `--10-10`, `1980-10` and `1980`, each with or without a time. Dates
    /// as text are not read.
    private mutating func date(_ property: VCard.Property) -> StoredDate? {
        let date = property.hasParameter("TEXT") ? nil : day(property)
        if date == nil { leftOut.insert(property.name + " (no date)") }
        return date
    }

    private mutating func day(_ property: VCard.Property) -> StoredDate? {
        var text = property.value.trimmed
        if let time = text.firstIndex(where: { $0 == "T" || $0 == "t" }) { text = String(text[..<time]) }
        var reader = DigitReader(text)
        if reader.skip("-") {
            guard reader.skip("-"), let month = reader.number(2) else { return nil }
            _ = reader.skip("-")
            guard let day = reader.number(2), reader.isAtEnd else { return nil }
            return FormReader.day(month: month, day: day, near: today.year).map { StoredDate($0, .yearUnknown) }
        }
        if let (year, month, day) = reader.date(), reader.isAtEnd {
            // Apple writes the year 1604 for an unknown year, and not always with the parameter that says so.
            let isOmitted = year == 1604 || property.parameter("X-APPLE-OMIT-YEAR").first == String(text.prefix(4))
            if isOmitted {
                return FormReader.day(month: month, day: day, near: today.year).map { StoredDate($0, .yearUnknown) }
            }
            return year > 0 ? Day(year: year, month: month, day: day).map { StoredDate($0) } : nil
        }
        reader = DigitReader(text)
        guard let year = reader.number(4), year > 0 else { return nil }
        if reader.skip("-"), reader.number(2) != nil {
            guard reader.isAtEnd else { return nil }
            leftOut.insert(property.name + " (month)")
        } else if text.utf8.count != 4 {
            return nil
        }
        return Day(year: year, month: 1, day: 1).map { StoredDate($0, .ageBased) }
    }
}

extension VCard {
    /// Whether the card is a group of contacts.
    var isGroup: Bool {
        ["KIND", "X-ADDRESSBOOKSERVER-KIND"].contains { first($0)?.text.trimmed.lowercased() == "group" }
    }
}
