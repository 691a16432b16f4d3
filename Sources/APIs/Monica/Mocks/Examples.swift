import Contract
import ContractMocks
import MonicaAPI
import MonicaExamples

extension Monica.Contact {
    /// The contract's example: John Doe.
    public static let example: Self = contractExample(MonicaExamples.contact)
}

extension Monica.Activity {
    /// The example: an activity with ``Monica/Contact/example``.
    public static let example: Self = contractExample(MonicaExamples.activity)
}

extension Monica.Note {
    /// The example: a note about ``Monica/Contact/example``.
    public static let example: Self = contractExample(MonicaExamples.note)
}

extension Monica.Task {
    /// The example: a task for ``Monica/Contact/example``.
    public static let example: Self = contractExample(MonicaExamples.task)
}

extension Monica.Gift {
    /// The example: a gift for ``Monica/Contact/example``.
    public static let example: Self = contractExample(MonicaExamples.gift)
}

extension Monica.Tag {
    /// The example: the tag "Family".
    public static let example: Self = contractExample(MonicaExamples.tag)
}

extension Monica.ContactField {
    /// The example: an e-mail address of ``Monica/Contact/example``.
    public static let example: Self = contractExample(MonicaExamples.contactField)
}

extension Monica.ContactFieldType {
    /// The example: the type of e-mail addresses.
    public static let example: Self = contractExample(MonicaExamples.contactFieldType)
}

extension Monica.Address {
    /// The example: the home of ``Monica/Contact/example``.
    public static let example: Self = contractExample(MonicaExamples.address)
}

extension Monica.Call {
    /// The example: a call with ``Monica/Contact/example``.
    public static let example: Self = contractExample(MonicaExamples.call)
}

extension Monica.Conversation {
    /// The example: a conversation with ``Monica/Contact/example``, of one message.
    public static let example: Self = contractExample(MonicaExamples.conversation)
}

extension Monica.Reminder {
    /// The example: a reminder of ``Monica/Contact/example``.
    public static let example: Self = contractExample(MonicaExamples.reminder)
}

extension Monica.JournalEntry {
    /// The example: an entry of the owner's journal.
    public static let example: Self = contractExample(MonicaExamples.journalEntry)
}

extension Monica.Debt {
    /// The example: a sum that the owner owes ``Monica/Contact/example``.
    public static let example: Self = contractExample(MonicaExamples.debt)
}

extension Monica.Pet {
    /// The example: a cat of ``Monica/Contact/example``.
    public static let example: Self = contractExample(MonicaExamples.pet)
}

extension Monica.LifeEvent {
    /// The example: a new job of ``Monica/Contact/example``.
    public static let example: Self = contractExample(MonicaExamples.lifeEvent)
}

extension Monica.Merge {
    /// The example: a merge of another contact into ``Monica/Contact/example``.
    public static let example: Self = contractExample(MonicaExamples.merge)
}

extension Monica.Photo {
    /// The example: a photo of ``Monica/Contact/example``.
    public static let example: Self = contractExample(MonicaExamples.photo)
}

extension Monica.Document {
    /// The example: a document about ``Monica/Contact/example``.
    public static let example: Self = contractExample(MonicaExamples.document)
}

extension Monica.Relationship {
    /// The example: ``Monica/Contact/example`` is a parent.
    public static let example: Self = contractExample(MonicaExamples.relationship)
}

extension Monica.RelationshipType {
    /// The example: a parent's relationship to a child.
    public static let example: Self = contractExample(MonicaExamples.relationshipType)
}

extension Monica.RelationshipTypeGroup {
    /// The example: the group of relatives.
    public static let example: Self = contractExample(MonicaExamples.relationshipTypeGroup)
}

extension Monica.User {
    /// The example: the owner of the account.
    public static let example: Self = contractExample(MonicaExamples.user)
}

extension Monica.Gender {
    /// The example: a gender.
    public static let example: Self = contractExample(MonicaExamples.gender)
}

extension Monica.ActivityTypeCategory {
    /// The example: the category of meals.
    public static let example: Self = contractExample(MonicaExamples.activityTypeCategory)
}

extension Monica.Currency {
    /// The example: the US dollar.
    public static let example: Self = contractExample(MonicaExamples.currency)
}

extension Monica.ActivityType {
    /// The example: a type of activities.
    public static let example: Self = contractExample(MonicaExamples.activityType)
}

extension Monica.PersonalToken {
    /// The example: the token of a phone.
    public static let example: Self = contractExample(MonicaExamples.personalToken)
}
