import Foundation

/// Decodes an example of the contract from its JSON. The law tests of the mocks decode every one.
package func contractExample<Value: Decodable>(_ json: String) -> Value {
    do {
        return try JSONDecoder().decode(Value.self, from: Data(json.utf8))
    } catch {
        preconditionFailure("The example of \(Value.self) cannot be read: \(error)")
    }
}
