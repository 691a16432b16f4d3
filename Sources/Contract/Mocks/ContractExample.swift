import Foundation

/// A value as the contract shows it, out of its JSON. The mocks' law tests read every one.
package func contractExample<Value: Decodable>(_ json: String) -> Value {
    do {
        return try JSONDecoder().decode(Value.self, from: Data(json.utf8))
    } catch {
        preconditionFailure("The example of \(Value.self) cannot be read: \(error)")
    }
}
