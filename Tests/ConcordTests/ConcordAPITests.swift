import Backend
import Foundation
import Testbed
import Testing

@testable import concord

/// The server and all commands use one array of APIs.
@Suite(.timeLimit(.minutes(30))) struct ConcordAPITests {
    private let apis = ConcordAPI.all.map(\.hosted)

    private func output(_ arguments: [String]) async throws -> String {
        let process = try ConcordProcess(arguments)
        let output = await process.wholeOutput()
        #expect(await process.status() == 0)
        return output
    }

    @Test func noTwoAPIsShareANameAPortAKeyOrACommand() {
        for names in [
            apis.map(\.name), apis.map(\.title), apis.map { "\($0.port)" }, apis.flatMap(\.keys).map(\.name),
            apis.flatMap(\.keys).map(\.variable), apis.flatMap(\.operatorCommands).map { $0.name },
        ] {
            #expect(Set(names).count == names.count, "\(names)")
        }
        // The name of an API's database file comes from the API, and the name of its PostgreSQL schema from the schema.
        for api in apis { #expect(api.schema.name == api.name) }
    }

    @Test func theHelpOfTheServerNamesEveryAPIWithItsKeysAndLimits() async throws {
        let help = try await output(["serve", "--help"]).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for api in apis {
            #expect(help.contains("\(api.name)=\(api.port)"))
            for key in api.keys { #expect(help.contains(key.variable)) }
            if let limits = api.storageLimits { #expect(help.contains("\(api.name)=\(limits.quota >> 30)G")) }
        }
    }

    @Test(arguments: ConcordAPI.names)
    func everyAPIHasChecks(_ name: String) async throws {
        #expect(try await output(["check", name, "--list"]).split(separator: "\n").count > 10)
    }
}
