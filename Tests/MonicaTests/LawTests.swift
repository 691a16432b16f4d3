import Backend
import Contract
import ContractCheck
import Foundation
import MonicaAPI
import Testbed
import Testing

extension Example {
    /// One for every operation; of each optional field one that has it.
    static let all: [Example] = {
        do {
            let sorted = Monica.Sort<Monica.ContactOrder>.descending(.updatedAt)
            return [
                try Example(Monica.ListContacts()),
                try Example(
                    Monica.ListContacts(
                        query: "50% & a+b=c?/#é", page: 2, limit: 50, sort: sorted, with: .contactFields)),
                try Example(Monica.GetContact(id: 7)),
                try Example(Monica.GetContact(id: 7, with: .contactFields)),
                try Example(
                    Monica.Create<Monica.Contact>(
                        Monica.ContactDraft(
                            firstName: "J\u{F6}hn \"x\"", middleName: "M", lastName: "D", nickname: "N",
                            description: "\n",
                            genderID: 1, email: "a+b@example.com", birthdate: .day(Day("1980-10-10")!),
                            isDeceased: true,
                            deceasedDate: .age(3), isPartial: true, isStarred: true))),
                try Example(
                    Monica.Update<Monica.Contact>(
                        id: 7,
                        Monica.ContactDraft(firstName: "J", birthdate: .dayOfYear(month: 2, day: 29)))),
                try Example(Monica.Delete<Monica.Contact>(id: 7)),
                try Example(Monica.SetWork(id: 7, job: "Baker", company: nil)),
                try Example(Monica.SetFood(id: 7, preferences: "No nuts")),
                try Example(
                    Monica.SetIntroduction(
                        id: 7, generalInformation: "x", metThrough: 8, date: .day(Day("2020-01-02")!))),
                try Example(Monica.SetTags(id: 7, names: ["a", "é"])),
                try Example(Monica.UnsetTag(id: 7, tags: [1, 2])),
                try Example(Monica.UnsetTags(id: 7)),
                try Example(Monica.List<Monica.Activity>(contact: 5, page: 2, limit: 3, sort: .ascending(.happenedAt))),
                try Example(Monica.ListOfContact<Monica.Activity>(contact: 7, page: 2)),
                try Example(Monica.Get<Monica.Activity>(id: 7)),
                try Example(
                    Monica.Create<Monica.Activity>(
                        Monica.ActivityDraft(
                            summary: "x", description: "y", happenedAt: Day("2024-10-20")!, contacts: [1, 2],
                            activityTypeID: 3))),
                try Example(
                    Monica.Update<Monica.Activity>(
                        id: 7, Monica.ActivityDraft(summary: "x", happenedAt: Day("2024-10-20")!, contacts: [1]))),
                try Example(Monica.Delete<Monica.Activity>(id: 7)),
                try Example(Monica.List<Monica.Note>(contact: 5)),
                try Example(Monica.ListOfContact<Monica.Note>(contact: 7, limit: 50)),
                try Example(Monica.Get<Monica.Note>(id: 7)),
                try Example(Monica.Create<Monica.Note>(Monica.NoteDraft(contactID: 5, body: "\r\n\t\u{1F}é🎉"))),
                try Example(
                    Monica.Update<Monica.Note>(id: 7, Monica.NoteDraft(contactID: 5, body: "x", isFavorited: true))),
                try Example(Monica.Delete<Monica.Note>(id: 7)),
                try Example(Monica.List<Monica.Task>(sort: .descending(.completedAt))),
                try Example(Monica.ListOfContact<Monica.Task>(contact: 7)),
                try Example(Monica.Get<Monica.Task>(id: 7)),
                try Example(Monica.Create<Monica.Task>(Monica.TaskDraft(title: "x", description: "y", contactID: 5))),
                try Example(Monica.Update<Monica.Task>(id: 7, Monica.TaskDraft(title: "x", completed: true))),
                try Example(Monica.Delete<Monica.Task>(id: 7)),
                try Example(Monica.List<Monica.Gift>()),
                try Example(Monica.ListOfContact<Monica.Gift>(contact: 7)),
                try Example(Monica.Get<Monica.Gift>(id: 7)),
                try Example(
                    Monica.Create<Monica.Gift>(
                        Monica.GiftDraft(
                            contactID: 5, name: "x", status: .offered, comment: "c", url: "https://example.com",
                            amount: "12.50", date: Day("2024-10-20")!, recipientID: 6))),
                try Example(Monica.Update<Monica.Gift>(id: 7, Monica.GiftDraft(contactID: 5, name: "x"))),
                try Example(Monica.Delete<Monica.Gift>(id: 7)),
                try Example(Monica.ListTags(sort: .descending(.name), page: 2)),
                try Example(Monica.Get<Monica.Tag>(id: 7)),
                try Example(Monica.ListContactsOfTag(tag: 7, page: 2, limit: 9, sort: sorted)),
                try Example(Monica.Create<Monica.Tag>(Monica.TagDraft(name: "Family"))),
                try Example(Monica.Update<Monica.Tag>(id: 7, Monica.TagDraft(name: "Family"))),
                try Example(Monica.Delete<Monica.Tag>(id: 7)),
                try Example(Monica.GetMe()), try Example(Monica.ListGenders()),
                try Example(Monica.ListActivityTypes()), try Example(Monica.ExportJSON()),
                try Example(Monica.ExportVCard()),
            ]
        } catch {
            preconditionFailure("\(error)")
        }
    }()
}

/// What must hold for the API as a whole, so that no operation is forgotten anywhere.
@Suite(.timeLimit(.minutes(30))) struct MonicaLawTests {
    /// The contract's operations and those of the decisions, section by section.
    static let summary = [
        "GET /contacts", "GET /contacts/{id}", "POST /contacts", "PUT /contacts/{id}", "DELETE /contacts/{id}",
        "PUT /contacts/{id}/work", "PUT /contacts/{id}/food", "PUT /contacts/{id}/introduction",
        "POST /contacts/{id}/setTags", "POST /contacts/{id}/unsetTag", "POST /contacts/{id}/unsetTags",
        "GET /activities", "GET /contacts/{id}/activities", "GET /activities/{id}", "POST /activities",
        "PUT /activities/{id}", "DELETE /activities/{id}",
        "GET /notes", "GET /contacts/{id}/notes", "GET /notes/{id}", "POST /notes", "PUT /notes/{id}",
        "DELETE /notes/{id}",
        "GET /tasks", "GET /contacts/{id}/tasks", "GET /tasks/{id}", "POST /tasks", "PUT /tasks/{id}",
        "DELETE /tasks/{id}",
        "GET /gifts", "GET /contacts/{id}/gifts", "GET /gifts/{id}", "POST /gifts", "PUT /gifts/{id}",
        "DELETE /gifts/{id}",
        "GET /tags", "GET /tags/{id}", "GET /tags/{id}/contacts", "POST /tags", "PUT /tags/{id}", "DELETE /tags/{id}",
        "GET /me", "GET /genders", "GET /activitytypes", "GET /export/json", "GET /export/vcard",
    ]

    static let laws = Laws<Monica>(summary: summary, examples: Example.all) { status, message, _ in
        let code = status == 401 ? 42 : 0
        return #"{"error":{"message":"\#(message)","code":\#(status),"error_code":\#(code)}}"#
    }

    // MARK: Of the types

    @Test func theTypesAreTheContracts() {
        Self.laws.holdTheTypes()
        Self.laws.holdTheKeys([
            "POST /contacts", "POST /activities", "POST /notes", "POST /tasks", "POST /gifts", "POST /tags",
        ])
    }

    @Test func aPATCHDoesWhatAPUTDoes() {
        for endpoint in Monica.endpoints {
            #expect(endpoint.route.alternatives == (endpoint.route.method == .put ? [.patch] : []))
        }
    }

    @Test(arguments: Example.all)
    func aRequestSurvivesTheWire(_ example: Example) throws { try example.surviveTheWire() }

    // MARK: Of the server

    @Test func everyOperationIsAnsweredAndNothingElse() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            #expect(Self.laws.beyond(host.app.router) == ["GET /health", "GET /ready"])
        }
    }

    @Test(arguments: Stack.all)
    func withoutATokenNothingIsLookedAt(_ stack: Stack) async throws {
        try await withMonica(on: stack) { try await Self.laws.refuseStrangers(of: $0, "Unauthenticated.") }
    }

    @Test(arguments: Stack.all)
    func otherMethodsAre405(_ stack: Stack) async throws {
        try await withMonica(on: stack) { try await Self.laws.refuseOtherMethods(of: $0) }
    }

    @Test(arguments: Stack.all)
    func healthIsOutsideOfTheAPI(_ stack: Stack) async throws {
        try await withMonica(on: stack) { host in
            try await Self.laws.answerHealth(of: host)
            let root = try #require(URL(string: String(host.baseURL.absoluteString.dropLast("/api".count))))
            let elsewhere = try await RawClient(baseURL: root, transport: host.transport).send(.get, "/contacts")
            #expect(elsewhere.status == 404)
            #expect(
                elsewhere.text
                    == #"{"error":{"message":"The requested resource was not found.","code":404,"error_code":31}}"#)
        }
    }
}
