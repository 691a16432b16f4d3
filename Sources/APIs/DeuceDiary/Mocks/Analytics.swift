import Contract
import ContractMocks
import DeuceDiaryAPI
import DeuceDiaryExamples

extension DeuceDiary.TopDay {
    /// The example: John's day with the most logs.
    public static let example: Self = contractExample(DeuceDiaryExamples.topDay)
}
