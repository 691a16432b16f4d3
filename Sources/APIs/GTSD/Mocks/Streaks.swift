import Contract
import ContractMocks
import GTSDAPI
import GTSDExamples

extension GTSD.Streak {
    /// The example: Anna's streak of 14 days.
    public static let example: Self = contractExample(GTSDExamples.streak)
}

extension GTSD.Badge {
    /// The example: Anna's badge for a week.
    public static let example: Self = contractExample(GTSDExamples.badge)
}
