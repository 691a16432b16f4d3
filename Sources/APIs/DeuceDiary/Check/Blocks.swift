@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DeuceDiaryClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    private static let block = "POST /api/users/{userId}/block"

    static let blocks: [Scenario<DeuceDiaryWorld>] = [
        Scenario("A user blocks another whom they know, once or often", clause: block) { world, john, jane, joan in
            _ = try await john.group(with: jane)
            try await joan.post("/api/users/\(jane.id)/block").refused(404, "User not found")
            try await john.post("/api/users/\(world.unknownID())/block").refused(404, "User not found")
            try await john.post("/api/users/\(john.id)/block").refused(400, "You can't block yourself")
            try expect(try await john.send(DeuceDiary.ListBlocks()).map(\.id), equals: [])
            for _ in 0..<2 {
                let answer = try await john.send(DeuceDiary.BlockUser(user: jane.id))
                try expect(answer.message, equals: "User blocked")
            }
            try expect(try await john.send(DeuceDiary.ListBlocks()).map(\.id), equals: [jane.id])
            // No other user sees it, and addresses stay their owners'.
            try expect(try await jane.send(DeuceDiary.ListBlocks()).map(\.id), equals: [])
            try expect(try await john.send(DeuceDiary.ListBlocks()).first?.email, equals: nil)
            for _ in 0..<2 {
                let answer = try await john.send(DeuceDiary.UnblockUser(user: jane.id))
                try expect(answer.message, equals: "User unblocked")
            }
            try expect(try await john.send(DeuceDiary.ListBlocks()).map(\.id), equals: [])
        },
        Scenario("A block bars reactions on both sides, and nothing that is read or deleted", clause: block) {
            _, john, jane, joan in
            let group = try await john.group(with: jane, joan)
            let (johns, janes) = (try await john.log(in: group)[0].id, try await jane.log(in: group)[0].id)
            try await jane.send(DeuceDiary.AddReaction(entry: johns, emoji: "💩"))
            try await john.send(DeuceDiary.BlockUser(user: jane.id))
            for (person, entry) in [(jane, johns), (john, janes)] {
                try await person.post("/api/entries/\(entry)/reactions", ["emoji": "🚽"])
                    .refused(403, "Not authorized to react to this entry")
                try await person.get("/api/entries/\(entry)/reactions").succeeded()
            }
            try await joan.send(DeuceDiary.AddReaction(entry: johns, emoji: "🚽"))
            let seen = try await jane.send(DeuceDiary.GetGroup(group: group))
            try expect(seen.entries.map(\.id), equals: [janes, johns])
            try expect(seen.members.count, equals: 3)
            try await jane.send(DeuceDiary.RemoveReaction(entry: johns, emoji: "💩"))
            try expect(
                try await john.send(DeuceDiary.ListReactions(entry: johns)).map(\.userId), equals: [joan.id])
            try await john.send(DeuceDiary.UnblockUser(user: jane.id))
            try await jane.send(DeuceDiary.AddReaction(entry: johns, emoji: "🚽"))
        },
        Scenario("A block bars joining by the other's invite, on both sides", clause: block) { _, john, jane, joan in
            let shared = try await john.group(with: jane)
            try await jane.send(DeuceDiary.BlockUser(user: john.id))
            for (maker, guest) in [(john, jane), (jane, john)] {
                let group = try await maker.group(with: joan)
                let invite = try await maker.send(DeuceDiary.CreateInvite(group: group)).id
                try await guest.post("/api/join/\(invite)").refused(400, "Invalid or expired invite")
                // Another member may invite both.
                let other = try await joan.send(DeuceDiary.CreateInvite(group: group)).id
                try await guest.send(DeuceDiary.JoinGroup(invite: other))
                // A member of the group stays in it.
                try expect(
                    try await guest.send(DeuceDiary.JoinGroup(invite: invite)).message,
                    equals: "Already a member of this group")
            }
            try await john.send(DeuceDiary.LeaveGroup(group: shared))
        },
    ]
}
