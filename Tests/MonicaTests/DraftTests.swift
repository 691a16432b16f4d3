import Contract
import ContractCheck
import Foundation
import MonicaClient
import Testbed
import Testing

@testable import MonicaCheck

/// A draft that is made from a read value and sent back unchanged changes nothing.
@Suite(.timeLimit(.minutes(30))) struct MonicaDraftTests {
    @Test(arguments: Stack.all)
    func aDraftOfAContactKeepsIt(_ stack: Stack) async throws {
        try await withMonica(on: stack) { host in
            let owner = try await host.world().owner()
            let dates: [(Monica.DraftDate?, Monica.DraftDate?)] = [
                (nil, nil), (.day(try #require(Day("1969-12-31"))), .day(try #require(Day("2020-02-29")))),
                (.dayOfYear(month: 2, day: 29), nil), (.age(41), .dayOfYear(month: 12, day: 31)),
            ]
            for (birth, death) in dates {
                let contact = try await owner.client.create(
                    Monica.ContactDraft(
                        firstName: "John", middleName: "Q.", lastName: "Doe", nickname: "Johnny",
                        description: "A friend", genderID: 1, birthdate: birth, isDeceased: death != nil,
                        deceasedDate: death, isStarred: true))
                var draft = Monica.ContactDraft(contact, today: host.clock.date)
                let same = try await owner.send(Monica.Update<Monica.Contact>(id: contact.id, draft)).data
                #expect(Self.timeless(same) == Self.timeless(contact))
                draft.nickname = nil
                let changed = try await owner.send(Monica.Update<Monica.Contact>(id: contact.id, draft)).data
                #expect(changed.nickname == nil)
                #expect(changed.middleName == "Q.")
            }
        }
    }

    private static func timeless(_ contact: Monica.Contact) -> Monica.Contact {
        var contact = contact
        contact.updatedAt = contact.createdAt
        return contact
    }

    @Test func draftsOfOtherThingsKeepThem() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess), clock: TestClock()) { host in
            let owner = try await host.world().owner()
            let john = try await owner.contact("John").id
            let jane = try await owner.contact("Jane").id
            let note = try await owner.client.create(Monica.NoteDraft(contactID: john, body: "x", isFavorited: true))
            #expect(try await owner.send(Monica.Update<Monica.Note>(id: note.id, .init(note))).data == note)
            let task = try await owner.client.create(
                Monica.TaskDraft(title: "t", description: "d", contactID: john))
            #expect(try await owner.send(Monica.Update<Monica.Task>(id: task.id, .init(task))).data == task)
            let gift = try await owner.client.create(
                Monica.GiftDraft(
                    contactID: john, name: "g", status: .offered, comment: "c", url: "https://example.com",
                    amount: "12.34", date: Day("2026-01-02"), recipientID: jane))
            #expect(try await owner.send(Monica.Update<Monica.Gift>(id: gift.id, .init(gift))).data == gift)
            let activity = try await owner.client.create(
                Monica.ActivityDraft(
                    summary: "s", description: "d", happenedAt: try #require(Day("2026-01-02")),
                    contacts: [john, jane], activityTypeID: 1))
            #expect(
                try await owner.send(Monica.Update<Monica.Activity>(id: activity.id, .init(activity))).data == activity)
            let call = try await owner.client.create(
                Monica.CallDraft(
                    contactID: john, calledAt: try #require(.init("2026-01-02T03:04:05Z")), content: "c",
                    contactCalled: true))
            #expect(try await owner.send(Monica.Update<Monica.Call>(id: call.id, .init(call))).data == call)
            let conversation = try await owner.client.create(
                Monica.ConversationDraft(
                    contactID: john, happenedAt: try #require(.init("2026-01-02T03:04:05Z")), typeID: 2))
            #expect(
                try await owner.send(Monica.Update<Monica.Conversation>(id: conversation.id, .init(conversation))).data
                    == conversation)
            let talk = try await owner.send(
                Monica.CreateMessage(
                    conversation: conversation.id,
                    Monica.MessageDraft(
                        content: "m", writtenAt: try #require(.init("2026-01-02T03:04:06Z")), writtenByMe: true))
            ).data
            let message = try #require(talk.messages.first)
            #expect(
                try await owner.send(
                    Monica.UpdateMessage(conversation: talk.id, message: message.id, .init(message))
                ).data == talk)
            let reminder = try await owner.client.create(
                Monica.ReminderDraft(
                    contactID: john, title: "r", initialDate: try #require(Day("2026-01-02")), frequencyType: .week,
                    frequencyNumber: 2, description: "d"))
            #expect(
                try await owner.send(Monica.Update<Monica.Reminder>(id: reminder.id, .init(reminder))).data == reminder)
            let entry = try await owner.client.create(
                Monica.JournalDraft(title: "j", post: "p", day: try #require(Day("2026-01-02"))))
            #expect(try await owner.send(Monica.Update<Monica.JournalEntry>(id: entry.id, .init(entry))).data == entry)
            let debt = try await owner.client.create(
                Monica.DebtDraft(contactID: john, inDebt: .no, amount: "1.05", status: .completed, reason: "d"))
            #expect(try await owner.send(Monica.Update<Monica.Debt>(id: debt.id, .init(debt))).data == debt)
            let pet = try await owner.client.create(
                Monica.PetDraft(contactID: john, category: .smallAnimal, name: "p"))
            #expect(try await owner.send(Monica.Update<Monica.Pet>(id: pet.id, .init(pet))).data == pet)
            let event = try await owner.client.create(
                Monica.LifeEventDraft(
                    contactID: john, typeID: 3, happenedAt: try #require(.init("2026-01-02T03:04:05Z")), name: "e",
                    note: "n", isMonthUnknown: true, isDayUnknown: true))
            #expect(try await owner.send(Monica.Update<Monica.LifeEvent>(id: event.id, .init(event))).data == event)
            let mary = try await owner.contact("Mary").id
            let relationship = try await owner.client.create(
                Monica.RelationshipDraft(contactIs: john, typeID: 8, ofContact: mary))
            #expect(
                try await owner.send(Monica.Update<Monica.Relationship>(id: relationship.id, .init(relationship))).data
                    == relationship)
            let gender = try await owner.client.create(Monica.GenderDraft(name: "g", type: .female))
            #expect(try await owner.send(Monica.Update<Monica.Gender>(id: gender.id, .init(gender))).data == gender)
            let category = try await owner.client.create(Monica.ActivityTypeCategoryDraft(name: "c"))
            #expect(
                try await owner.send(Monica.Update<Monica.ActivityTypeCategory>(id: category.id, .init(category))).data
                    == category)
            let type = try await owner.client.create(Monica.ActivityTypeDraft(name: "t", categoryID: category.id))
            #expect(try await owner.send(Monica.Update<Monica.ActivityType>(id: type.id, .init(type))).data == type)
            let tag = try await owner.client.create(Monica.TagDraft(name: "friends"))
            #expect(try await owner.send(Monica.Update<Monica.Tag>(id: tag.id, .init(tag))).data == tag)
        }
    }

    // MARK: Lists

    @Test func tagsAndPartsOfContactsAreReadInPages() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let owner = try await host.world().owner()
            for number in 1...5 {
                let contact = try await owner.contact("John \(number)")
                try await owner.client.create(Monica.NoteDraft(contactID: contact.id, body: "n\(number)"))
                try await owner.client.create(Monica.TagDraft(name: "tag \(number)"))
            }
            var tags: [String] = []
            for try await tag in owner.client.tags(pageSize: 2) { tags.append(tag.name) }
            #expect(tags == (1...5).map { "tag \($0)" })
            var notes: [String] = []
            for try await contact in owner.client.contacts(with: .contactFields, pageSize: 2) {
                #expect(contact.contactFields != nil)
                notes.append(contact.firstName)
            }
            #expect(notes == (1...5).map { "John \($0)" })
        }
    }
}
