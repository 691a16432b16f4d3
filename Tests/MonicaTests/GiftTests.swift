import Contract
import ContractCheck
import Foundation
import HTTPTypes
import Testbed
import Testing

/// A gift's price is accepted in the forms that clients send.
@Suite(.timeLimit(.minutes(30))) struct MonicaGiftTests {
    /// Some clients send the amount under the name that answers use for the number. It is used where `amount` is
    /// absent.
    @Test(arguments: Stack.Engine.available)
    func aValueIsTakenWhereTheAmountIsAbsent(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            let token = try await host.token()
            let john = try await host.contact("John").id
            func send(_ method: HTTPRequest.Method, _ path: String, _ price: String) async throws -> RawAnswer {
                let body = #"{"contact_id":\#(john),"name":"Teapot","status":"idea"\#(price)}"#
                return try await raw.send(method, path, token: token, body: body)
            }
            let table: [(price: String, amount: JSONValue)] = [
                (#","value":12.34"#, "12.34"), (#","value":"12.34""#, "12.34"), (#","amount":null,"value":5"#, "5.00"),
                (#","amount":"7.50","value":12.34"#, "7.50"), (#","value":null"#, .null), ("", .null),
            ]
            for (price, amount) in table {
                let made = try await send(.post, "/gifts", price).succeeded(201, price)["data"]
                #expect(made?["amount"] == amount, "\(price)")
                // The same rule holds for updating a gift.
                let id = try #require(made?["id"]?.integer)
                let changed = try await send(.put, "/gifts/\(id)", #","value":"0.99""#).succeeded(200)["data"]
                #expect(changed?["amount"] == "0.99")
                let again = try await send(.put, "/gifts/\(id)", price).succeeded(200, price)["data"]
                #expect(again?["amount"] == amount, "\(price)")
            }
            for (price, name) in [
                (#","value":"x""#, "value"), (#","amount":"x","value":5"#, "amount"), (#","value":-1"#, "value"),
            ] {
                let answer = try await send(.post, "/gifts", price)
                #expect(answer.status == 422, "\(price): \(answer.text)")
                #expect(answer.text.contains(name), "\(price): \(answer.text)")
            }
        }
    }
}
