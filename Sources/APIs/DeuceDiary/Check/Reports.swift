@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DeuceDiaryClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    private static let user = "POST /api/users/{userId}/report"
    private static let entry = "POST /api/entries/{entryId}/report"

    static let reports: [Scenario<DeuceDiaryWorld>] = [
        Scenario("A user is reported once by each who knows them", clause: user) { world, john, jane, joan in
            let group = try await john.group(with: jane)
            let path = "/api/users/\(jane.id)/report"
            try await joan.post(path, ["reason": "rude"]).refused(404, "User not found")
            try await john.post("/api/users/\(world.unknownID())/report", ["reason": "rude"])
                .refused(404, "User not found")
            try await john.post("/api/users/\(john.id)/report", ["reason": "rude"])
                .refused(400, "You can't report yourself")
            try await john.send(DeuceDiary.ReportUser(user: jane.id, reason: " rude \n", details: "every day"))
            try await john.post(path, ["reason": "again"]).refused(400, "You've already reported this user")
            // It changes nothing for either of them.
            try expect(try await jane.send(DeuceDiary.GetGroup(group: group)).members.count, equals: 2)
            // Entries outlast a membership, and their author can still be reported.
            let mary = try await world.person()
            let invite = try await john.send(DeuceDiary.CreateInvite(group: group)).id
            try await mary.send(DeuceDiary.JoinGroup(invite: invite))
            try await mary.log("hello", in: group)
            try await mary.send(DeuceDiary.LeaveGroup(group: group))
            try await jane.send(DeuceDiary.ReportUser(user: mary.id, reason: "rude"))
        },
        Scenario("An entry is reported once by each member who has not written it", clause: entry) {
            world, john, jane, joan in
            let group = try await john.group(with: jane)
            let written = try await john.log("rude", in: group)[0].id
            let path = "/api/entries/\(written)/report"
            try await joan.post(path, ["reason": "rude"]).refused(403, "Not authorized to access this entry")
            try await jane.post("/api/entries/\(world.unknownID())/report", ["reason": "rude"])
                .refused(404, "Entry not found")
            try await john.post(path, ["reason": "rude"]).refused(400, "You can't report your own entry")
            try await jane.send(DeuceDiary.ReportEntry(entry: written, reason: "rude"))
            try await jane.post(path, ["reason": "again"]).refused(400, "You've already reported this entry")
            try expect(
                try await jane.send(DeuceDiary.GetGroup(group: group)).entries.map(\.id), equals: [written])
            try await john.send(DeuceDiary.DeleteDeuce(entry: written))
            try await jane.post(path, ["reason": "rude"]).refused(404, "Entry not found")
        },
        Scenario("A report needs a reason of up to 100 characters", clause: user) { _, john, jane in
            let group = try await john.group(with: jane)
            let written = try await john.log("rude", in: group)[0].id
            for path in ["/api/users/\(john.id)/report", "/api/entries/\(written)/report"] {
                for reason in ["", " \n", "\u{2800}"] {
                    try await jane.post(path, ["reason": .string(reason)]).refused(400, "Reason is required", path)
                }
                try await jane.post(path, ["reason": .string(String(repeating: "é", count: 101))])
                    .refused(400, "Reason must be 100 characters or less", path)
                try await jane.post(
                    path, ["reason": "x", "details": .string(String(repeating: "é", count: 2001))]
                ).refused(400, "Details must be 2000 characters or less", path)
                try await jane.post(
                    path,
                    [
                        "reason": .string(" \(String(repeating: "é", count: 100)) "),
                        "details": .string(String(repeating: "é", count: 2000)),
                    ]
                ).succeeded(path)
            }
        },
        Scenario("Many reports at once are one", clause: entry) { _, john, jane in
            let written = try await john.log("rude", in: try await john.group(with: jane))[0].id
            let answers = try await together(10) { _ in
                try await jane.post("/api/entries/\(written)/report", ["reason": "rude"])
            }
            try expect(answers.filter { $0.status == 200 }.count, equals: 1)
            for answer in answers where answer.status != 200 {
                try answer.refused(400, "You've already reported this entry")
            }
        },
    ]
}
