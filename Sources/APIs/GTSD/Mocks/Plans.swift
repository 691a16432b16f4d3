import Contract
import ContractMocks
import GTSDAPI
import GTSDExamples

extension GTSD.Plan {
    /// The example: Anna's plan for a week.
    public static let example: Self = contractExample(GTSDExamples.plan)
}

extension GTSD.Profile {
    /// The example: Anna's profile.
    public static let example: Self = contractExample(GTSDExamples.profile)
}

extension GTSDMock {
    func plans() {
        server.example(of: GTSD.GeneratePlan.self) { request in
            APIResponse(.init(plan: .example, recomputed: request.forceRecompute ?? false))
        }
    }
}
