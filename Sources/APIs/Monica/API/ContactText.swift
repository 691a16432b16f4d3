import Contract

// A page has many contacts of many parts. Their members are written one by one, because Swift looks up the type of the
// container for each part that the compiler's `encode(to:)` writes.

extension Monica.Contact {
    public func encode(to encoder: any Encoder) throws {
        var fields = try ObjectWriter(encoder)
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
        try fields.write("information", encoding: information)
        try fields.write("addresses", encoding: addresses)
        try fields.write("tags", encoding: tags)
        try fields.write("statistics", encoding: statistics)
        if let contactFields { try fields.write("contactFields", encoding: contactFields) }
        if let notes { try fields.write("notes", encoding: notes) }
        try fields.write("url", url)
        try fields.write("account", encoding: account)
        try fields.write("created_at", createdAt)
        try fields.write("updated_at", updatedAt)
        fields.finish()
    }
}

extension Monica.ShortContact {
    public func encode(to encoder: any Encoder) throws {
        var fields = try ObjectWriter(encoder)
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
        try fields.write("information", encoding: information)
        try fields.write("url", url)
        try fields.write("account", encoding: account)
        fields.finish()
    }
}

extension Monica.ShortInformation {
    public func encode(to encoder: any Encoder) throws {
        var fields = try ObjectWriter(encoder)
        try fields.write("birthdate", encoding: birthdate)
        try fields.write("deceased_date", encoding: deceasedDate)
        try fields.write("avatar", encoding: avatar)
        fields.finish()
    }
}

extension Monica.ContactInformation {
    public func encode(to encoder: any Encoder) throws {
        var fields = try ObjectWriter(encoder)
        try fields.write("relationships", encoding: relationships)
        try fields.write("dates", encoding: dates)
        try fields.write("career", encoding: career)
        try fields.write("avatar", encoding: avatar)
        try fields.write("food_preferences", foodPreferences)
        try fields.write("how_you_met", encoding: howYouMet)
        fields.finish()
    }
}

extension Monica.Relationships {
    public func encode(to encoder: any Encoder) throws {
        var fields = try ObjectWriter(encoder)
        try fields.write("love", encoding: love)
        try fields.write("family", encoding: family)
        try fields.write("friend", encoding: friend)
        try fields.write("work", encoding: work)
        fields.finish()
    }
}

extension Monica.Relations {
    public func encode(to encoder: any Encoder) throws {
        var fields = try ObjectWriter(encoder)
        try fields.write("total", total)
        try fields.write("contacts", encoding: contacts)
        fields.finish()
    }
}

extension Monica.ContactDates {
    public func encode(to encoder: any Encoder) throws {
        var fields = try ObjectWriter(encoder)
        try fields.write("birthdate", encoding: birthdate)
        try fields.write("deceased_date", encoding: deceasedDate)
        fields.finish()
    }
}

extension Monica.SpecialDate {
    public func encode(to encoder: any Encoder) throws {
        var fields = try ObjectWriter(encoder)
        try fields.write("is_age_based", isAgeBased)
        try fields.write("is_year_unknown", isYearUnknown)
        try fields.write("date", date)
        fields.finish()
    }
}

extension Monica.Career {
    public func encode(to encoder: any Encoder) throws {
        var fields = try ObjectWriter(encoder)
        try fields.write("job", job)
        try fields.write("company", company)
        fields.finish()
    }
}

extension Monica.Avatar {
    public func encode(to encoder: any Encoder) throws {
        var fields = try ObjectWriter(encoder)
        try fields.write("url", url)
        try fields.write("source", source)
        try fields.write("default_avatar_color", defaultAvatarColor)
        fields.finish()
    }
}

extension Monica.HowYouMet {
    public func encode(to encoder: any Encoder) throws {
        var fields = try ObjectWriter(encoder)
        try fields.write("general_information", generalInformation)
        try fields.write("first_met_date", encoding: firstMetDate)
        if let contact = firstMetThroughContact {
            try fields.write("first_met_through_contact", encoding: contact)
        } else {
            try fields.writeNull("first_met_through_contact")
        }
        fields.finish()
    }
}

extension Monica.ContactStatistics {
    public func encode(to encoder: any Encoder) throws {
        var fields = try ObjectWriter(encoder)
        try fields.write("number_of_calls", numberOfCalls)
        try fields.write("number_of_notes", numberOfNotes)
        try fields.write("number_of_activities", numberOfActivities)
        try fields.write("number_of_reminders", numberOfReminders)
        try fields.write("number_of_tasks", numberOfTasks)
        try fields.write("number_of_gifts", numberOfGifts)
        try fields.write("number_of_debts", numberOfDebts)
        fields.finish()
    }
}

extension Monica.AccountReference {
    public func encode(to encoder: any Encoder) throws {
        var fields = try ObjectWriter(encoder)
        try fields.write("id", id)
        fields.finish()
    }
}
