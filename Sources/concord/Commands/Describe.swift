import ArgumentParser
import ContractDescribe

/// `concord describe messenger`: an API's description for programs.
struct Describe: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "describe", abstract: "Print an API's description: OpenAPI, or AsyncAPI of its socket.",
        discussion: """
            Prints the OpenAPI 3.1 document of the operations, or with --async the AsyncAPI 3.0 document of the live \
            socket, as JSON. A server answers the same documents at /openapi.json and /asyncapi.json of each API. \
            'operator' is the API of the operator's page.
            """)

    @Argument(help: "The API: \((ConcordAPI.names + [OperatorDescription.name]).joined(separator: ", ")).")
    var api: String

    @Flag(name: .customLong("async"), help: "Print the AsyncAPI document of the live socket.")
    var isAsync = false

    func run() throws {
        let isOperators = api == OperatorDescription.name
        let description = isOperators ? OperatorDescription.make() : try ConcordAPI.named(api).describe()
        guard isAsync else { return print(description.openAPI.pretty, terminator: "") }
        guard let document = description.asyncAPI else { throw ValidationError("\(api) has no live socket") }
        print(document.pretty, terminator: "")
    }
}
