import Contract
import ContractMocks
import DeuceDiaryAPI

extension DeuceDiary.TopDay {
    /// The example: John's day with the most logs.
    public static let example: Self = contractExample(#"{ "date": "2025-05-20", "count": 5 }"#)
}

extension DeuceDiaryMock {
    func analytics() {
        server.example(of: DeuceDiary.GetMostDeuces.self) { _ in .init(topDay: .example) }
    }
}
