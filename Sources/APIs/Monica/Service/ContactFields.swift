import Contract
import MonicaAPI

/// The fields that a contact is made of or written anew with.
struct ContactFields: Sendable {
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
    /// Which vCard it is made of, where that has no UUID.
    var card: [UInt8]?
    /// As ``ContactCard/formattedName``.
    var formattedName: String?
    /// The time of that vCard's last revision, in milliseconds since 1970.
    var revisedAt: Int64?
    /// The import that makes it.
    var importID: Int?

    init(firstName: String) {
        self.firstName = firstName
        isPartial = false
        isStarred = false
        isDead = false
    }

    /// - Parameter current: The contact that is written anew; nil for a new one.
    /// - Throws: 422.
    init(_ form: Monica.Form, genders: [Int: Monica.Gender], current: ContactRow?, at now: Int64) throws {
        var input = Input(form)
        let today = Monica.Timestamp(milliseconds: now).day
        let first = input.text("first_name", required: true)
        middleName = input.text("middle_name")
        lastName = input.text("last_name")
        nickname = input.text("nickname")
        description = input.text("description")
        gender = input.integer("gender_id")
        if let gender, genders[gender] == nil { input.refuseSelection("gender_id") }
        email = current == nil ? input.email("email") : nil
        isPartial = input.truth("is_partial") ?? false
        isStarred = input.truth("is_starred") ?? current?.isStarred ?? false
        let isBirthKnown = input.truth("is_birthdate_known", required: true) ?? false
        birth = isBirthKnown ? input.date("birthdate_", named: "birthdate", today: today) : nil
        isDead = input.truth("is_deceased", required: current == nil) ?? false
        let isDeathKnown = input.truth("is_deceased_date_known", required: true) ?? false
        death = isDeathKnown ? input.date("deceased_date_", named: "deceased_date", today: today) : nil
        try input.check()
        firstName = first ?? ""
        // Of the living nobody knows the day.
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
