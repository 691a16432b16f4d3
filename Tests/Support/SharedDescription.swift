import Contract
import ContractDescribe
import ContractExamples

/// The description of an API, which all its tests share.
///
/// A debug build needs up to a minute to find the rules of all fields, so this is done once.
public struct SharedDescription: Sendable {
    private let made: Task<(APIDescription, DescribedTransport.Documents), Never>

    /// Begins to describe an API.
    ///
    /// - Parameter title: The API's name in sentences.
    public init<API: ServiceAPI>(_ api: API.Type, title: String, examples: Examples) {
        made = Task {
            await onThread {
                let description = APIDescription(api, title: title, version: "1", examples: examples)
                return (description, DescribedTransport.Documents(description))
            }
        }
    }

    public var description: APIDescription { get async { await made.value.0 } }

    var documents: DescribedTransport.Documents { get async { await made.value.1 } }
}
