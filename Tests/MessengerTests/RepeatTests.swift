import ContractCheck
import MessengerCheck
import MessengerClient
import Testbed
import Testing

/// Uploads that are repeated before the first is answered.
@Suite(.timeLimit(.minutes(30))) struct RepeatTests {
    @Test(arguments: Stack.all, [8, 32])
    func repeatsAtOnceAreOneFile(_ stack: Stack, _ count: Int) async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            let answers = try await together(count) { _ in
                let upload = Upload(.bytes([1, 2, 3]), filename: "a.bin", contentType: "application/octet-stream")
                return try await alice.client.answer(Messenger.UploadFile(upload), idempotencyKey: "file").output
            }
            #expect(Set(answers).count == 1 && answers.allSatisfy { $0 != nil })
            #expect(try await host.objects.allKeys().count == 1)
        }
    }
}
