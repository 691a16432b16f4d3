import Contract
import Foundation

// Drafts that are made from read values, to be changed in part and sent back: a write replaces every field of a draft.

extension Monica.ContactDraft {
    /// Creates a draft from a contact, to be changed in part and sent back.
    ///
    /// Other servers do not send the middle name (``Monica/Contact/middleName``), and a draft without one removes it there.
    ///
    /// - Parameter today: The day by which an age is counted, if that is all that is known of a date.
    public init(_ contact: Monica.Contact, today: Date = Date()) {
        let year = Monica.DraftDate.parts(of: Day(today, in: .gmt))[0]
        let dates = contact.information.dates
        self.init(
            firstName: contact.firstName, middleName: contact.middleName, lastName: contact.lastName,
            nickname: contact.nickname, description: contact.description, genderID: contact.genderID,
            birthdate: .init(dates.birthdate, in: year), isDeceased: contact.isDead,
            deceasedDate: .init(dates.deceasedDate, in: year), isPartial: contact.isPartial,
            isStarred: contact.isStarred)
    }
}

extension Monica.DraftDate {
    /// Creates a date from one that was read; nil if it is not known.
    ///
    /// - Parameter year: The present year, in which an age is counted.
    init?(_ date: Monica.SpecialDate, in year: Int) {
        // The API writes days as their beginnings in UTC.
        guard let day = date.date.map({ Day($0.date, in: .gmt) }) else { return nil }
        let parts = Self.parts(of: day)
        if date.isAgeBased == true {
            self = .age(year - parts[0])
        } else if date.isYearUnknown == true {
            self = .dayOfYear(month: parts[1], day: parts[2])
        } else {
            self = .day(day)
        }
    }

    /// Returns the year, the month and the day.
    fileprivate static func parts(of day: Day) -> [Int] { day.description.split(separator: "-").compactMap { Int($0) } }
}

extension Monica.NoteDraft {
    /// Creates a draft from a note, to be changed in part and sent back.
    public init(_ note: Monica.Note) {
        self.init(contactID: note.contactID, body: note.body, isFavorited: note.isFavorited)
    }
}

extension Monica.GiftDraft {
    /// Creates a draft from a gift, to be changed in part and sent back.
    public init(_ gift: Monica.Gift) {
        self.init(
            contactID: gift.contactID, name: gift.name, status: gift.status, comment: gift.comment, url: gift.url,
            amount: gift.amount, date: gift.date, recipientID: gift.recipient?.id)
    }
}

extension Monica.ActivityDraft {
    /// Creates a draft from an activity, to be changed in part and sent back.
    public init(_ activity: Monica.Activity) {
        self.init(
            summary: activity.summary, description: activity.description, happenedAt: activity.happenedAt,
            contacts: activity.attendees.contacts.map(\.id), activityTypeID: activity.activityTypeID)
    }
}

extension Monica.ContactFieldDraft {
    /// Creates a draft from a contact field, to be changed in part and sent back.
    public init(_ field: Monica.ContactField) {
        self.init(contactID: field.contact?.id ?? 0, typeID: field.contactFieldType.id, content: field.content)
    }
}

extension Monica.ContactFieldTypeDraft {
    /// Creates a draft from a type of contact fields, to be changed in part and sent back.
    public init(_ type: Monica.ContactFieldType) {
        self.init(name: type.name, icon: type.fontawesomeIcon, protocol: type.protocol, type: type.type)
    }
}

extension Monica.AddressDraft {
    /// Creates a draft from an address, to be changed in part and sent back.
    public init(_ address: Monica.Address) {
        self.init(
            contactID: address.contact?.id ?? 0, name: address.name, street: address.street, city: address.city,
            province: address.province, postalCode: address.postalCode,
            country: address.country?.id ?? address.country?.name)
    }
}

extension Monica.CallDraft {
    /// Creates a draft from a call, to be changed in part and sent back.
    public init(_ call: Monica.Call) {
        self.init(
            contactID: call.contact?.id ?? 0, calledAt: call.calledAt, content: call.content,
            contactCalled: call.contactCalled)
    }
}

extension Monica.ConversationDraft {
    /// Creates a draft from a conversation, to be changed in part and sent back.
    public init(_ conversation: Monica.Conversation) {
        self.init(
            contactID: conversation.contact?.id ?? 0, happenedAt: conversation.happenedAt,
            typeID: conversation.contactFieldType.id)
    }
}

extension Monica.MessageDraft {
    /// Creates a draft from a message, to be changed in part and sent back.
    public init(_ message: Monica.Message) {
        self.init(content: message.content, writtenAt: message.writtenAt, writtenByMe: message.writtenByMe)
    }
}

extension Monica.ReminderDraft {
    /// Creates a draft from a reminder, to be changed in part and sent back.
    public init(_ reminder: Monica.Reminder) {
        self.init(
            contactID: reminder.contact?.id ?? 0, title: reminder.title, initialDate: reminder.initialDay,
            frequencyType: reminder.frequencyType, frequencyNumber: reminder.frequencyNumber,
            description: reminder.description)
    }
}

extension Monica.JournalDraft {
    /// Creates a draft from an entry of the journal, to be changed in part and sent back.
    public init(_ entry: Monica.JournalEntry) { self.init(title: entry.title, post: entry.post, day: entry.day) }
}

extension Monica.DebtDraft {
    /// Creates a draft from a debt, to be changed in part and sent back.
    public init(_ debt: Monica.Debt) {
        self.init(
            contactID: debt.contact?.id ?? 0, inDebt: debt.inDebt, amount: debt.amount, status: debt.status,
            reason: debt.reason)
    }
}

extension Monica.PetDraft {
    /// Creates a draft from a pet, to be changed in part and sent back.
    public init(_ pet: Monica.Pet) {
        self.init(contactID: pet.contact?.id ?? 0, category: pet.petCategory, name: pet.name)
    }
}

extension Monica.LifeEventDraft {
    /// Creates a draft from a life event, to be changed in part and sent back.
    public init(_ event: Monica.LifeEvent) {
        self.init(
            contactID: event.contact?.id ?? 0, typeID: event.lifeEventType.id, happenedAt: event.happenedAt,
            name: event.name, note: event.note, isMonthUnknown: event.happenedAtMonthUnknown,
            isDayUnknown: event.happenedAtDayUnknown)
    }
}

extension Monica.RelationshipDraft {
    /// Creates a draft from a relationship, to be changed in part and sent back.
    public init(_ relationship: Monica.Relationship) {
        self.init(
            contactIs: relationship.contactIs.id, typeID: relationship.relationshipType.id,
            ofContact: relationship.ofContact.id)
    }
}

extension Monica.GenderDraft {
    /// Creates a draft from a gender, to be changed in part and sent back.
    public init(_ gender: Monica.Gender) {
        self.init(name: gender.name, type: gender.type.map(Monica.GenderType.init(rawValue:)) ?? .other)
    }
}

extension Monica.ActivityTypeDraft {
    /// Creates a draft from a type of activities, to be changed in part and sent back.
    public init(_ type: Monica.ActivityType) {
        self.init(name: type.name, categoryID: type.activityTypeCategory?.id ?? 0)
    }
}

extension Monica.ActivityTypeCategoryDraft {
    /// Creates a draft from a category, to be renamed and sent back.
    public init(_ category: Monica.ActivityTypeCategory) { self.init(name: category.name) }
}

extension Monica.TagDraft {
    /// Creates a draft from a tag, to be renamed and sent back.
    public init(_ tag: Monica.Tag) { self.init(name: tag.name) }
}
