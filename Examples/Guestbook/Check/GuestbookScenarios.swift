import ContractCheck
import GuestbookClient
import GuestbookExamples

/// The contract, as something to try on a running server.
public enum GuestbookScenarios {
    public static let checklist = Checklist(
        of: Guestbook.self, examples: GuestbookExamples.all, probe: "/entries",
        signUp: { Guestbook.SignUp(name: $0, password: $1) }, scenarios: all)

    static let all: [Scenario<SessionWorld<Guestbook>>] = [
        Scenario("A name has one account", clause: "POST /users") { world in
            let name = world.freshName()
            let guest = try await world.person(named: name)
            try await expectRefusal(409, "Name is taken") {
                try await guest.send(Guestbook.SignUp(name: name, password: "close sesame"))
            }
            try await expectRefusal(401, "Wrong name or password") {
                try await guest.signIn(name: name, password: "close sesame")
            }
        },
        Scenario("What is written twice under a key is one entry", clause: "POST /entries") { world in
            let (guest, key) = (try await world.person(), world.freshName())
            let request = Guestbook.WriteEntry(text: "Lovely! \u{1F33B}")
            let first = try await guest.send(request, idempotencyKey: key)
            try expect(try await guest.send(request, idempotencyKey: key), equals: first)
        },
        Scenario("Anyone reads, page by page, the newest first", clause: "GET /entries") { world in
            let guest = try await world.person()
            var written: [Guestbook.Entry] = []
            for text in ["1", "2", "3"] { written.append(try await guest.send(Guestbook.WriteEntry(text: text))) }
            for try await entry in world.stranger().entries(pageSize: 2) where entry == written.last {
                written.removeLast()
                if written.isEmpty { return }
            }
            throw CheckFailure("not in the list: \(written)")
        },
        Scenario("An entry is its author's to delete", clause: "DELETE /entries/{id}") { world in
            let (guest, other) = (try await world.person(), try await world.person())
            let deletion = Guestbook.DeleteEntry(id: try await guest.send(Guestbook.WriteEntry(text: "Oops")).id)
            try await expectRefusal(403, "Not your entry") { try await other.send(deletion) }
            try await guest.send(deletion)
            try await expectRefusal(404, "Not found") { try await guest.send(deletion) }
        },
        Scenario("A socket hears what is written", clause: "/live") { world in
            let (guest, text) = (try await world.person(), world.freshName())
            let writing = Task {
                while true {
                    try await guest.send(Guestbook.WriteEntry(text: text))
                    try await Task.sleep(for: .seconds(3))
                }
            }
            defer { writing.cancel() }
            for try await entry in guest.live() where entry.text == text { return }
        },
    ]
}
