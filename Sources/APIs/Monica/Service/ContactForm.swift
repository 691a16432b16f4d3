import Contract
import MonicaAPI

/// The fields with which a contact is created or replaced.
struct ContactForm: Sendable {
    var firstName: String
    var middleName: String?
    var lastName: String?
    var nickname: String?
    var description: String?
    var gender: Int?
    var email: String?
    var isPartial: Bool
    var isStarred: Bool
    var isDead: Bool
    var birth: StoredDate?
    var death: StoredDate?
    var job: String?
    var company: String?
    /// The digest that identifies the vCard of a contact, when the card has no UUID.
    var card: [UInt8]?
    /// The same as ``ContactCard/formattedName``.
    var formattedName: String?
    /// The time of that vCard's last revision, in milliseconds since 1970.
    var revisedAt: Int64?
    /// The import that creates the contact.
    var importID: Int?

    init(firstName: String) {
        self.firstName = firstName
        isPartial = false
        isStarred = false
        isDead = false
    }

    /// Reads the fields from a form.
    ///
    /// - Parameter current: The contact that is changed; nil for a new one.
    /// - Throws: A `Problem` with 422 that names every invalid field.
    init(_ form: Monica.Form, genders: [Int: Monica.Gender], current: ContactRow?, at now: Int64) throws {
        var input = FormReader(form)
        let today = Monica.Timestamp(milliseconds: now).day
        let first = input.text("first_name", required: true)
        middleName = input.text("middle_name")
        lastName = input.text("last_name")
        nickname = input.text("nickname")
        description = input.text("description")
        gender = input.integer("gender_id")
        if let gender, genders[gender] == nil { input.rejectSelection("gender_id") }
        email = current == nil ? input.email("email") : nil
        isPartial = input.bool("is_partial") ?? false
        isStarred = input.bool("is_starred") ?? current?.isStarred ?? false
        let isBirthKnown = input.bool("is_birthdate_known", required: true) ?? false
        birth = isBirthKnown ? input.date("birthdate_", named: "birthdate", today: today) : nil
        isDead = input.bool("is_deceased", required: current == nil) ?? false
        let isDeathKnown = input.bool("is_deceased_date_known", required: true) ?? false
        death = isDeathKnown ? input.date("deceased_date_", named: "deceased_date", today: today) : nil
        try input.check()
        firstName = first ?? ""
        // A living contact has no date of death.
        if !isDead { death = nil }
    }

    func apply(to row: inout ContactRow) {
        let isSameName = (row.firstName, row.middleName, row.lastName) == (firstName, middleName, lastName)
        row.formattedName = formattedName ?? (isSameName ? row.formattedName : nil)
        row.firstName = firstName
        row.middleName = middleName
        row.lastName = lastName
        row.nickname = nickname
        row.description = description
        row.gender = gender
        row.isPartial = isPartial
        row.isStarred = isStarred
        row.isDead = isDead
        row.birth = birth
        row.death = death
    }
}
