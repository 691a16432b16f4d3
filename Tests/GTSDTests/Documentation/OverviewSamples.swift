import Foundation
import GTSDClient
import Testbed

// The sample of the landing page, of GTSDClient's own documentation and of the README.

enum OverviewSamples {
    static func begin(_ url: URL) async throws -> GTSDClient {
        // sample
        let gtsd = GTSDClient(baseURL: url, store: KeychainTokenStore(service: "gtsd"))
        try await gtsd.signIn(email: "anna@example.com", password: "Secret-123")

        let today = try await gtsd.send(GTSD.ListTasks()).data
        let done = try await gtsd.send(
            GTSD.SubmitEvidence(taskId: today.tasks[0].id, type: .textLog, data: .init(text: "5 sets of 5")))
        print(done.data.newStreak)
        // end
        return gtsd
    }
}
