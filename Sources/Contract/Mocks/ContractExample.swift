import Contract
import ContractExamples
import Foundation

/// Returns the value of one of the contract's examples. The tests read every one.
///
/// - Parameter text: A value with the marks of `ExampleValue`.
package func contractExample<Value: Decodable>(_ text: String) -> Value {
    do {
        return try JSONDecoder().decode(Value.self, from: Data(ExampleValue(parsing: text).json().utf8))
    } catch {
        preconditionFailure("The example of \(Value.self) cannot be read: \(error)")
    }
}
