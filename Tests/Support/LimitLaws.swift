import Contract
import ContractCheck
import ContractDescribe
import Foundation
import Testing

extension Laws {
    /// Checks what the description says of each `limit` on a server: a larger number than its `maximum` is refused, and
    /// without one the description says as which number a larger one counts, or that none counts.
    ///
    /// - Parameters:
    ///   - targets: The targets of operations that need the ids of a server, by their signatures.
    ///   - get: Sends a request of a caller.
    public func checkLimits(
        in description: APIDescription, at targets: [String: String], get: (_ target: String) async throws -> RawAnswer
    ) async throws {
        for path in description.openAPI["paths"]?.members ?? [] {
            let parameters = path.value["get"]?["parameters"]?.elements ?? []
            guard let limit = parameters.first(where: { $0["name"]?.text == "limit" })?["schema"] else { continue }
            let target = targets["GET \(path.name)"] ?? path.name
            func status(_ number: Int) async throws -> Int {
                try await get("\(target)\(target.contains("?") ? "&" : "?")limit=\(number)").status
            }
            let description = limit["description"]?.text ?? ""
            if description.hasSuffix("does not count.") {
                for number in [0, 1, .max] { #expect(try await status(number) == 200, "\(path.name) \(number)") }
                continue
            }
            #expect(try await status(0) == 400, "\(path.name)")
            #expect(limit["minimum"] == .number(1), "\(path.name)")
            let note = description.firstMatch(of: #/counts as (\d+)\.$/#)?.output.1
            if let maximum = limit["maximum"]?.whole {
                #expect(note == nil, "\(path.name)")
                #expect(try await status(maximum) == 200, "\(path.name)")
                for number in [maximum + 1, .max] { #expect(try await status(number) == 400, "\(path.name) \(number)") }
            } else {
                let greatest = try #require(
                    note.flatMap { Int($0) }, "\(path.name) does not say what a larger limit does")
                for number in [greatest, greatest + 1, .max] {
                    #expect(try await status(number) == 200, "\(path.name) \(number)")
                }
            }
        }
    }
}

extension JSONTree {
    fileprivate var whole: Int? {
        switch self {
        case .integer(let number): Int(number)
        case .number(let number): Int(exactly: number)
        default: nil
        }
    }
}
