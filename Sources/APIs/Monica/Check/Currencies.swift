@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static let currencies: [Scenario<MonicaWorld>] = [
        Scenario("The currencies are those of ISO 4217, the account's among them", clause: "GET /currencies") {
            _, owner in
            let currencies = try await owner.get("/currencies").succeeded(200)["data"]?.elements ?? []
            try expect(currencies.count, equals: 154)
            try expect(currencies.compactMap { $0["id"]?.integer }, equals: (1...154).map { Int64($0) })
            try expect(Set(currencies.compactMap { $0["iso"]?.string }).count, equals: 154)
            for currency in currencies {
                let code = currency["iso"]?.string ?? ""
                try expect(code.wholeMatch(of: #/[A-Z]{3}/#) != nil, "the code \(code)")
                for member in ["name", "symbol"] {
                    try expect(currency[member]?.string?.isEmpty == false, "the \(member) of \(code)")
                }
            }
            let own = try await owner.get("/me").succeeded(200)["data"]?["currency"]
            try expect(currencies.first, equals: own)
            let euro = currencies.first { $0["iso"] == "EUR" } ?? nil
            try expect(euro["name"], equals: "Euro")
            try expect(euro["symbol"], equals: "€")
            try expect(try await owner.get("/currencies/\(euro["id"] ?? nil)").succeeded(200)["data"], equals: euro)
            for id in ["0", "155", "x", "-9223372036854775808"] {
                try await owner.get("/currencies/\(id)").refused(404, 31, "The requested currency was not found.", id)
            }
        }
    ]
}
