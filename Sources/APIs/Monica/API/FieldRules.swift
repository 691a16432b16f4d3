import Contract

// The service reads the fields of a write one by one, and refuses all mistakes together; these are its rules in the words of
// the API's description.
extension Monica {
    /// The most characters of a text of one line, such as a name.
    package static let lineLength = 255
    /// The most characters of a longer text, such as a note.
    package static let textLength = 100_000

    private static let line = FieldRule(lengths: 0...lineLength)
    private static let requiredLine = FieldRule(lengths: 1...lineLength, pattern: FieldRule.visible, isRequired: true)
    private static let text = FieldRule(lengths: 0...textLength)
    private static let id = FieldRule(numbers: 1...(.infinity))
    private static let day = FieldRule(format: "date")
    private static let required = FieldRule(isRequired: true)
    private static let requiredID = FieldRule(numbers: 1...(.infinity), isRequired: true)
    private static let month = FieldRule(numbers: 1...12)
    private static let dayOfMonth = FieldRule(numbers: 1...31)
    private static let amount = #"^(0|[1-9][0-9]{0,8})(\.[0-9]{1,2})?$"#
    private static let year = FieldRule(numbers: 1...9999)

    /// The rules of an activity's fields.
    static let activityRules = [
        "summary": requiredLine, "description": text, "happened_at": FieldRule(format: "date", isRequired: true),
        "contacts": FieldRule(counts: 1..., isRequired: true), "contacts.*": id, "activity_type_id": id,
    ]
    /// The rules of a note's fields.
    static let noteRules = [
        "contact_id": requiredID,
        "body": FieldRule(lengths: 1...textLength, pattern: FieldRule.visible, isRequired: true),
    ]
    /// The rules of a task's fields, all of which a change replaces.
    static let taskRules = newTaskRules.merging(["completed": required]) { $1 }
    /// The rules of a new task's fields.
    static let newTaskRules = ["title": requiredLine, "description": text, "contact_id": id]
    /// The rules of a gift's fields.
    static let giftRules = [
        "contact_id": requiredID, "name": requiredLine,
        "status": FieldRule(values: GiftStatus.known.map(\.rawValue), isRequired: true), "comment": text, "url": text,
        "amount": FieldRule(pattern: amount), "date": day, "recipient_id": id,
    ]
    /// The rules of a contact field's fields.
    static let contactFieldRules = [
        "contact_id": requiredID, "contact_field_type_id": requiredID, "data": requiredLine,
    ]
    /// The rules of the fields of a type of contact fields.
    static let contactFieldTypeRules = [
        "name": requiredLine, "fontawesome_icon": line, "protocol": line, "type": line,
    ]
    /// The rules of an address's fields.
    static let addressRules = [
        "contact_id": requiredID, "name": line, "street": line, "city": line, "province": line, "postal_code": line,
        "country": FieldRule("A text of up to three letters is a code of ISO 3166.", lengths: 0...lineLength),
    ]
    /// The rules of a call's fields. A changed call's contact may be left out.
    static let callRules = [
        "contact_id": id, "called_at": FieldRule(format: "date-time", isRequired: true), "content": text,
    ]
    /// The rules of a new call's fields.
    static let newCallRules = callRules.merging(["contact_id": requiredID]) { $1 }
    /// The rules of a conversation's fields. A changed conversation's contact may be left out.
    static let conversationRules = [
        "contact_id": id, "happened_at": FieldRule(format: "date-time", isRequired: true),
        "contact_field_type_id": requiredID,
    ]
    /// The rules of a new conversation's fields.
    static let newConversationRules = conversationRules.merging(["contact_id": requiredID]) { $1 }
    /// The rules of a message's fields.
    static let messageRules = [
        "written_at": FieldRule(format: "date-time", isRequired: true), "written_by_me": required,
        "content": FieldRule(lengths: 1...textLength, pattern: FieldRule.visible, isRequired: true),
    ]
    /// The rules of a reminder's fields.
    static let reminderRules = [
        "contact_id": requiredID, "initial_date": FieldRule(format: "date", isRequired: true),
        "frequency_type": FieldRule(values: ReminderFrequency.known.map(\.rawValue), isRequired: true),
        "frequency_number": FieldRule(numbers: 1...Double(Reminder.maximumFrequency), isRequired: true),
        "title": FieldRule(lengths: 1...textLength, pattern: FieldRule.visible, isRequired: true), "description": text,
    ]
    /// The rules of the fields of an entry of the journal.
    static let journalRules = [
        "title": requiredLine, "date": day,
        "post": FieldRule(lengths: 1...textLength, pattern: FieldRule.visible, isRequired: true),
    ]
    /// The rules of a debt's fields.
    static let debtRules = [
        "contact_id": requiredID, "in_debt": FieldRule(values: InDebt.known.map(\.rawValue), isRequired: true),
        "status": FieldRule(values: DebtStatus.known.map(\.rawValue), isRequired: true),
        "amount": FieldRule(pattern: amount, isRequired: true), "reason": text,
    ]
    /// The rules of a pet's fields.
    static let petRules = [
        "pet_category_id": FieldRule(numbers: 1...Double(PetCategory.known.count), isRequired: true),
        "contact_id": requiredID, "name": line,
    ]
    /// The rules of a life event's fields. A change may leave out the contact.
    static let lifeEventRules = [
        "contact_id": id,
        "life_event_type_id": FieldRule(numbers: 1...Double(LifeEventKind.known.count), isRequired: true),
        "happened_at": FieldRule(format: "date-time", isRequired: true), "name": line, "note": text,
    ]
    /// The rules of a new life event's fields.
    static let newLifeEventRules = lifeEventRules.merging([
        "contact_id": requiredID, "has_reminder": required, "happened_at_month_unknown": required,
        "happened_at_day_unknown": required,
    ]) { $1 }
    /// The rules of a relationship's fields. A changed relationship's contacts may be left out.
    static let relationshipRules = ["contact_is": id, "of_contact": id, "relationship_type_id": requiredID]
    /// The rules of a new relationship's fields.
    static let newRelationshipRules = relationshipRules.mapValues { _ in requiredID }
    /// The rules of the fields of a merge.
    static let mergeRules = ["contact_id": requiredID]
    /// The rules of the fields beside a document.
    static let documentRules = ["contact_id": requiredID]
    /// The rules of the fields beside a photo.
    static let photoRules = [
        "contact_id": requiredID,
        "data": FieldRule(
            "The bytes in Base64, or a data: URL of them, in place of a file.", lengths: 1...1_048_576),
    ]
    /// The rules of the choice of a contact's picture.
    static let avatarRules = ["source": FieldRule(values: AvatarChoice.words, isRequired: true), "photo_id": id]
    /// The rules of a gender's fields.
    static let genderRules = [
        "name": requiredLine, "type": FieldRule(values: GenderType.known.map(\.rawValue), isRequired: true),
    ]
    /// The rules of the fields of a type of activities.
    static let activityTypeRules = ["activity_type_category_id": requiredID, "name": requiredLine]
    /// The rules of the fields of a category of types of activities.
    static let activityTypeCategoryRules = ["name": requiredLine]
    /// The rules of the fields of a personal token.
    static let personalTokenRules = [
        "name": requiredLine, "dialect": FieldRule(values: TokenDialect.known.map(\.rawValue)),
    ]
    /// The rules of a tag's fields.
    static let tagRules = ["name": requiredLine]
    /// The rules of a contact's fields.
    static let contactRules = [
        "first_name": requiredLine, "middle_name": line, "last_name": line, "nickname": line, "description": line,
        "gender_id": id, "email": FieldRule(lengths: 0...lineLength, format: "email"), "is_birthdate_known": required,
        "birthdate_year": year, "birthdate_month": month, "birthdate_day": dayOfMonth,
        "is_deceased_date_known": required, "deceased_date_age": FieldRule(numbers: 0...1000),
    ]
    /// The rules of the fields that a new contact must have.
    static let newContactRules = contactRules.merging(["is_deceased": required]) { $1 }
    static let workRules = ["job": line, "company": line]
    static let foodRules = ["food_preferences": text]
    static let introductionRules = [
        "general_information": text, "met_through_contact_id": id, "is_date_known": required, "year": year,
        "month": month, "day": dayOfMonth,
    ]
    static let tagNamesRules = ["tags": FieldRule(counts: 1..., isRequired: true), "tags.*": line]
    static let tagIDsRules = ["tags": FieldRule(counts: 1..., isRequired: true), "tags.*": id]

    /// The rules of a list's page and order.
    ///
    /// - Parameter maximum: The maximum number of elements in a page.
    static func rules<By: Order>(of _: Part<By>.Type, maximum: Int) -> [String: FieldRule] {
        [
            "page": FieldRule(numbers: 1...(.infinity)), "limit": FieldRule(numbers: 1...Double(maximum)),
            "sort": FieldRule(values: By.allCases.flatMap { [$0.rawValue, "-" + $0.rawValue] }),
            "contact_id": FieldRule(numbers: 1...(.infinity)),
        ]
    }
}
