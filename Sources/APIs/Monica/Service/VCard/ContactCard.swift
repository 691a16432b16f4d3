import Contract
import MonicaAPI

/// A contact in the form of a vCard.
struct ContactCard: Sendable, Hashable, Codable {
    struct Note: Sendable, Hashable, Codable {
        var text: String
        /// The time of the note, in milliseconds since 1970; nil when the card has none.
        var createdAt: Int64?
    }

    /// A contact's place in a social network, or whatever else the owner has a type for.
    struct Profile: Sendable, Hashable, Codable {
        /// The name of the type, such as `Mastodon`.
        var service: String
        var content: String
    }

    /// The UUID of version 4, in lower case; nil when the card has another kind of id, or none.
    var uuid: String?
    var firstName = ""
    var middleName: String?
    var lastName: String?
    /// The full name, when it is not first, middle and last name in that order.
    var formattedName: String?
    var nickname: String?
    /// `M`, `F` or `O`.
    var gender: String?
    var emails: [String] = []
    var phones: [String] = []
    var websites: [String] = []
    /// The fields of other types; nil in cards that an earlier version has stored.
    var profiles: [Profile]?
    var addresses: [PostalAddress] = []
    var birth: StoredDate?
    var isDead = false
    var death: StoredDate?
    var company: String?
    var job: String?
    var description: String?
    var notes: [Note] = []
    var tags: [String] = []
    /// The revision that is written, in milliseconds since 1970.
    var revised: Int64 = 0

    /// The contact fields, each kind in its order.
    var fields: [(kind: ContactFieldKind, content: String)] {
        emails.map { (.email, $0) } + phones.map { (.phone, $0) } + websites.map { (.website, $0) }
    }

    var completeName: String { formattedName ?? Monica.Names.complete(firstName, middleName, lastName) }

    // MARK: Writing

    func write(to writer: inout VCardWriter) {
        writer.begin()
        if let uuid { writer.write("UID", plain: "urn:uuid:" + uuid) }
        writer.write("FN", text: completeName)
        writer.write("N", components: [lastName ?? "", firstName, middleName ?? "", "", ""])
        if let nickname { writer.write("NICKNAME", list: [nickname]) }
        if let gender { writer.write("GENDER", plain: gender) }
        for email in emails { writer.write("EMAIL", text: email) }
        for phone in phones { writer.write("TEL", text: phone) }
        for website in websites { writer.write("URL", plain: website) }
        // RFC 9554 §3.5.
        for profile in profiles ?? [] {
            writer.write("SOCIALPROFILE;SERVICE-TYPE=\(Self.quoted(profile.service));VALUE=text", text: profile.content)
        }
        for address in addresses {
            writer.write(
                address.name.map(Self.property(named:)) ?? "ADR",
                components: [
                    "", "", address.street ?? "", address.city ?? "", address.province ?? "", address.postalCode ?? "",
                    address.country ?? "",
                ])
        }
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
        if let description { writer.write("NOTE", text: description) }
        // The time distinguishes a note from the description (RFC 9554 §4.2).
        for note in notes {
            writer.write(note.createdAt.map { "NOTE;CREATED=" + Self.text(of: $0) } ?? "NOTE", text: note.text)
        }
        if !tags.isEmpty { writer.write("CATEGORIES", list: tags) }
        writer.write("REV", plain: Self.text(of: revised))
        writer.end()
    }

    /// Returns the property of an address. A name that is no type of addresses has a parameter of its own.
    private static func property(named name: String) -> String {
        ["home", "work"].contains(name) ? "ADR;TYPE=" + name : "ADR;X-NAME=" + quoted(name)
    }

    /// Returns the value of a parameter, in which neither quotes nor control characters may be.
    private static func quoted(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { $0 == "\"" || $0.properties.generalCategory == .control ? "'" : $0 }
        return "\"\(String(String.UnicodeScalarView(scalars)))\""
    }

    private static func text(of date: StoredDate) -> String {
        let digits = date.day.description.replacing("-", with: "")
        return switch date.kind {
        case .exact: digits
        case .ageBased: String(digits.prefix(4))
        case .yearUnknown: "--" + digits.suffix(4)
        }
    }

    /// Returns a time such as `20241026T142200Z`.
    private static func text(of time: Int64) -> String {
        Monica.Timestamp(milliseconds: time).description.replacing("-", with: "").replacing(":", with: "")
    }
}
