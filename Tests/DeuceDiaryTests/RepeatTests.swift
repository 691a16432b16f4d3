import ContractCheck
import DeuceDiaryAPI
import DeuceDiaryCheck
import DeuceDiaryClient
import Testbed
import Testing

/// Uploads that are repeated before the first is answered.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryRepeatTests {
    @Test(arguments: Stack.all, [8, 32])
    func repeatsAtOnceAreOnePicture(_ stack: Stack, _ count: Int) async throws {
        try await withDeuceDiary(on: stack) { host in
            let john = try await host.world().person()
            let picture = SampleImage.jpeg(width: 8, height: 8)
            let answers = try await together(count) { _ in
                let upload = Upload(.bytes(picture), filename: "x.jpg", contentType: "image/jpeg")
                return try await john.client.answer(
                    DeuceDiary.UploadProfilePicture(upload), idempotencyKey: "picture"
                ).output
            }
            #expect(Set(answers).count == 1 && answers.allSatisfy { $0 != nil })
            #expect(try await host.objects.allKeys().count == 1)
        }
    }
}
