import Contract

// A page has many contacts of many parts. Their members are written one by one, because Swift looks up the type of the
// container for each part that the compiler's `encode(to:)` writes.

extension Monica.Contact: WrittenByMembers {
    public func encode(to encoder: any Encoder) throws { try encodeMembers(to: encoder) }

    @usableFromInline
    package func write(to fields: inout ObjectWriter) throws {
        try fields.write("id", id)
        try fields.write("uuid", uuid)
        try fields.write("object", object)
        try fields.write("hash_id", hashID)
        try fields.write("first_name", firstName)
        try fields.write("middle_name", middleName)
        try fields.write("last_name", lastName)
        try fields.write("nickname", nickname)
        try fields.write("complete_name", completeName)
        try fields.write("initials", initials)
        try fields.write("description", description)
        try fields.write("gender_id", genderID)
        try fields.write("gender", gender)
        try fields.write("gender_type", genderType)
        try fields.write("is_starred", isStarred)
        try fields.write("is_partial", isPartial)
        try fields.write("is_active", isActive)
        try fields.write("is_dead", isDead)
        try fields.write("is_me", isMe)
        try fields.write("last_called", lastCalled)
        try fields.write("last_activity_together", lastActivityTogether)
        try fields.write("stay_in_touch_frequency", stayInTouchFrequency)
        try fields.write("stay_in_touch_trigger_date", stayInTouchTriggerDate)
        try fields.write("information", information)
        try fields.write("addresses", encoding: addresses)
        try fields.write("tags", encoding: tags)
        try fields.write("statistics", statistics)
        if let contactFields { try fields.write("contactFields", encoding: contactFields) }
        if let notes { try fields.write("notes", encoding: notes) }
        try fields.write("url", url)
        try fields.write("account", account)
        try fields.write("created_at", createdAt)
        try fields.write("updated_at", updatedAt)
    }
}

extension Monica.ShortContact: WrittenByMembers {
    public func encode(to encoder: any Encoder) throws { try encodeMembers(to: encoder) }

    @usableFromInline
    package func write(to fields: inout ObjectWriter) throws {
        try fields.write("id", id)
        try fields.write("uuid", uuid)
        try fields.write("object", object)
        try fields.write("hash_id", hashID)
        try fields.write("first_name", firstName)
        try fields.write("last_name", lastName)
        try fields.write("nickname", nickname)
        try fields.write("complete_name", completeName)
        try fields.write("initials", initials)
        try fields.write("gender_id", genderID)
        try fields.write("gender", gender)
        try fields.write("gender_type", genderType)
        try fields.write("is_starred", isStarred)
        try fields.write("is_partial", isPartial)
        try fields.write("is_active", isActive)
        try fields.write("is_dead", isDead)
        try fields.write("is_me", isMe)
        try fields.write("information", information)
        try fields.write("url", url)
        try fields.write("account", account)
    }
}

extension Monica.ShortInformation: WrittenByMembers {
    public func encode(to encoder: any Encoder) throws { try encodeMembers(to: encoder) }

    @usableFromInline
    package func write(to fields: inout ObjectWriter) throws {
        try fields.write("birthdate", birthdate)
        try fields.write("deceased_date", deceasedDate)
        try fields.write("avatar", avatar)
    }
}

extension Monica.ContactInformation: WrittenByMembers {
    public func encode(to encoder: any Encoder) throws { try encodeMembers(to: encoder) }

    @usableFromInline
    package func write(to fields: inout ObjectWriter) throws {
        try fields.write("relationships", relationships)
        try fields.write("dates", dates)
        try fields.write("career", career)
        try fields.write("avatar", avatar)
        try fields.write("food_preferences", foodPreferences)
        try fields.write("how_you_met", howYouMet)
    }
}

extension Monica.Relationships: WrittenByMembers {
    public func encode(to encoder: any Encoder) throws { try encodeMembers(to: encoder) }

    @usableFromInline
    package func write(to fields: inout ObjectWriter) throws {
        try fields.write("love", love)
        try fields.write("family", family)
        try fields.write("friend", friend)
        try fields.write("work", work)
    }
}

extension Monica.Relations: WrittenByMembers {
    public func encode(to encoder: any Encoder) throws { try encodeMembers(to: encoder) }

    @usableFromInline
    package func write(to fields: inout ObjectWriter) throws {
        try fields.write("total", total)
        try fields.write("contacts", encoding: contacts)
    }
}

extension Monica.ContactDates: WrittenByMembers {
    public func encode(to encoder: any Encoder) throws { try encodeMembers(to: encoder) }

    @usableFromInline
    package func write(to fields: inout ObjectWriter) throws {
        try fields.write("birthdate", birthdate)
        try fields.write("deceased_date", deceasedDate)
    }
}

extension Monica.SpecialDate: WrittenByMembers {
    public func encode(to encoder: any Encoder) throws { try encodeMembers(to: encoder) }

    @usableFromInline
    package func write(to fields: inout ObjectWriter) throws {
        try fields.write("is_age_based", isAgeBased)
        try fields.write("is_year_unknown", isYearUnknown)
        try fields.write("date", date)
    }
}

extension Monica.Career: WrittenByMembers {
    public func encode(to encoder: any Encoder) throws { try encodeMembers(to: encoder) }

    @usableFromInline
    package func write(to fields: inout ObjectWriter) throws {
        try fields.write("job", job)
        try fields.write("company", company)
    }
}

extension Monica.Avatar: WrittenByMembers {
    public func encode(to encoder: any Encoder) throws { try encodeMembers(to: encoder) }

    @usableFromInline
    package func write(to fields: inout ObjectWriter) throws {
        try fields.write("url", url)
        try fields.write("source", source)
        try fields.write("default_avatar_color", defaultAvatarColor)
    }
}

extension Monica.HowYouMet: WrittenByMembers {
    public func encode(to encoder: any Encoder) throws { try encodeMembers(to: encoder) }

    @usableFromInline
    package func write(to fields: inout ObjectWriter) throws {
        try fields.write("general_information", generalInformation)
        try fields.write("first_met_date", firstMetDate)
        if let contact = firstMetThroughContact {
            try fields.write("first_met_through_contact", contact)
        } else {
            try fields.writeNull("first_met_through_contact")
        }
    }
}

extension Monica.ContactStatistics: WrittenByMembers {
    public func encode(to encoder: any Encoder) throws { try encodeMembers(to: encoder) }

    @usableFromInline
    package func write(to fields: inout ObjectWriter) throws {
        try fields.write("number_of_calls", numberOfCalls)
        try fields.write("number_of_notes", numberOfNotes)
        try fields.write("number_of_activities", numberOfActivities)
        try fields.write("number_of_reminders", numberOfReminders)
        try fields.write("number_of_tasks", numberOfTasks)
        try fields.write("number_of_gifts", numberOfGifts)
        try fields.write("number_of_debts", numberOfDebts)
    }
}

extension Monica.AccountReference: WrittenByMembers {
    public func encode(to encoder: any Encoder) throws { try encodeMembers(to: encoder) }

    @usableFromInline
    package func write(to fields: inout ObjectWriter) throws {
        try fields.write("id", id)
    }
}
