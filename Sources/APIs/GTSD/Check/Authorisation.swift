@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import Foundation
import GTSDClient
import HTTPTypes

/// The table of the decisions' §5, cell by cell.
extension GTSDScenarios {
    static let authorisation: [Scenario<GTSDWorld>] = [
        Scenario("No user reads or changes anything of another user", clause: "§5") { _, anna, berta in
            let task = try await anna.tasks()[0]
            try await anna.prove(task, "secret")
            let _: GTSD.OnboardingStatus = try await anna.send(Person.body)
            let missing = "Task \(task.id) not found or does not belong to user"
            try await berta.post(
                "/v1/evidence", ["taskId": task.id.json, "type": "text_log", "data": ["text": "a"]]
            ).refused(404, missing)
            for verb in ["complete", "uncomplete"] {
                try await berta.post("/v1/tasks/\(task.id)/\(verb)").refused(404, missing)
                try await berta.post("/v1/tasks/0/\(verb)").invalid("taskId: Task ID must be a positive integer")
                try await berta.post("/v1/tasks/x/\(verb)").invalid("taskId: Task ID must be a positive integer")
            }
            // The largest number is a number as any other.
            for none in [Int64.max - 1, Int64.max] {
                let unknown = "Task \(none) not found or does not belong to user"
                for verb in ["complete", "uncomplete"] {
                    try await berta.post("/v1/tasks/\(none)/\(verb)").refused(404, unknown)
                }
                try await berta.post(
                    "/v1/evidence", ["taskId": .integer(none), "type": "text_log", "data": ["text": "a"]]
                ).refused(404, unknown)
                try await berta.raw(.delete, "/v1/progress/photo/\(none)")
                    .refused(404, "Photo \(none) not found or does not belong to user")
                try expect(try await berta.get("/v1/progress/photos?taskId=\(none)").data()["photos"], equals: [])
            }
            let bytes = SampleImage.jpeg(width: 8, height: 8)
            let place = try await berta.put(bytes)
            try await berta.post(
                "/v1/progress/photo/confirm",
                [
                    "fileKey": .string(place.fileKey), "fileSize": .integer(Int64(bytes.count)),
                    "contentType": "image/jpeg", "taskId": task.id.json, "evidenceType": "before",
                ]
            ).refused(404, missing)
            for path in [
                "/v1/tasks/today", "/v1/streaks/me", "/v1/badges/me", "/v1/progress/photos", "/v1/streaks/history",
                "/v1/progress/photos?taskId=\(task.id)", "/v1/badges/available", "/auth/me",
            ] {
                let answer = try await berta.get(path)
                try answer.data(200, path)
                try expect(!answer.text.contains("secret") && !answer.text.contains(anna.email), "\(path) tells")
            }
            try await berta.get("/v1/onboarding").refused(404, "Onboarding has not been completed")
            try await berta.raw(.delete, "/v1/progress/photo/x")
                .invalid("photoId: Photo ID must be a positive integer")
            try expect(try await anna.tasks()[0].evidence?.data.text, equals: "secret")
        }
    ]
}
