import Backend
import Contract
import ContractDescribe
import OperatorPage

/// The description of the API of the operator's page, which is made as those of the APIs of this program are.
enum OperatorDescription {
    static let name = OperatorPageAPI.type.name

    /// Makes the description, which takes about a second.
    static func make() -> APIDescription { made(of: OperatorPageAPI.type) }

    private static func made<API: ServiceAPI>(of api: API.Type) -> APIDescription {
        APIDescription(
            api, title: "Concord's operator", version: Concord.number, examples: OperatorExamples.all,
            signIn: """
                `concord operator link` prints an address with a token, with which `POST /sign-in` sets the cookie of a \
                session. Its name ends with the port: `\(OperatorPageAPI.cookie)_8090`.
                """)
    }
}
