import ContractServer
import Foundation

extension Benchmark {
    static let json = Benchmark(
        name: "json", abstract: "50 objects of 10 fields as JSON, against Foundation's encoder", needsServer: false
    ) { setting in
        let contacts = (0..<50).map(Contact.init)
        // One encoder is reused, which is faster than a new one for each list.
        let foundation = JSONEncoder()
        var (ours, theirs): ([Double], [Double]) = ([], [])
        for _ in 0..<setting.turns {
            ours.append(try microseconds(setting.turn / 4) { try JSONBody.encode(contacts).readableBytes })
            theirs.append(try microseconds(setting.turn / 4) { try foundation.encode(contacts).count })
        }
        return [
            // The figure is the ratio of Foundation's time to this package's, so that more is better.
            Row(
                name: "json, lists encoded", unit: "/s", result: 1_000_000 / ours.median,
                floor: 1_000_000 / theirs.median, beside: "Foundation's JSONEncoder", aim: .ratioAtLeast(3)),
            Row(
                name: "json, time for a list", unit: "µs", result: ours.median, floor: theirs.median,
                beside: "Foundation's JSONEncoder"),
        ]
    }

    private static func microseconds(_ duration: Duration, _ body: () throws -> Int) rethrows -> Double {
        let start = ContinuousClock.now
        var (count, bytes) = (0, 0)
        while ContinuousClock.now - start < duration {
            for _ in 0..<10 { bytes &+= try body() }
            count += 10
        }
        let elapsed = ContinuousClock.now - start
        precondition(bytes > 0, "the encoders were run")
        return elapsed.inMicroseconds / Double(count)
    }

    /// An object as in typical lists: numbers, texts, a boolean, and a field that is mostly absent.
    private struct Contact: Encodable {
        let id: Int
        let accountID: Int
        let firstName: String
        let lastName: String
        let nickname: String?
        let job: String
        let notes: String
        let isStarred: Bool
        let weight: Double
        let createdAt: String

        init(_ number: Int) {
            id = 1_000_000 + number
            accountID = 42
            firstName = "Ada"
            lastName = "Lovelace the \(number)th"
            nickname = number.isMultiple(of: 5) ? "Countess" : nil
            job = "Mathematician"
            notes = "Met at \"Somerset House\";\nwrote about the Analytical Engine, née Byron."
            isStarred = number.isMultiple(of: 2)
            weight = Double(number) + 0.25
            createdAt = "2024-05-17T09:30:00Z"
        }

        enum CodingKeys: String, CodingKey {
            case id
            case accountID = "account_id"
            case firstName = "first_name"
            case lastName = "last_name"
            case nickname, job, notes
            case isStarred = "is_starred"
            case weight
            case createdAt = "created_at"
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(accountID, forKey: .accountID)
            try container.encode(firstName, forKey: .firstName)
            try container.encode(lastName, forKey: .lastName)
            try container.encode(nickname, forKey: .nickname)
            try container.encode(job, forKey: .job)
            try container.encode(notes, forKey: .notes)
            try container.encode(isStarred, forKey: .isStarred)
            try container.encode(weight, forKey: .weight)
            try container.encode(createdAt, forKey: .createdAt)
        }
    }
}
