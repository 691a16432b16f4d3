import Contract
import ContractClient
import Foundation
import HTTPTypes
import Testbed

/// Mutants of devices.
extension Mutant {
    private static let register = "POST /devices"
    private static let remove = "DELETE /devices/{id}"

    static let devices: [Mutant] = [
        .status("answers 200 to a new token", register, of: register, 201, 200),
        .status("answers 201 to a known token", register, of: register, 200, 201),
        .body("leaves out the environment", register, of: register, #","environment":"\w+""#, ""),
        .body("calls every environment production", register, of: register, #""sandbox""#, #""production""#),
        .body("gives every device one id", register, of: register, #""id":\d+"#, #""id":1"#),
        .body("says whose it is", register, of: register, #"\}$"#, #","user_id":1}"#),
        .answer("answers the token in capitals", register, to: register) { response, _ in
            if response.status.code < 300 {
                response.text = response.text.replacingOccurrences(
                    of: #"[0-9a-f]{64}"#, with: String(repeating: "AB", count: 32), options: .regularExpression)
            }
        },
        .refusal("words it otherwise", register, "environment must be 'production' or 'sandbox'", "Bad environment"),
        .lenient("takes any token", register, of: register, to: "token must be 2 to 200 hexadecimal digits") {
            $0.json["token"] = .string(UUID().uuidString.replacingOccurrences(of: "-", with: ""))
        },
        .lenient(
            "takes any environment", register, of: register, to: "environment must be 'production' or 'sandbox'"
        ) { $0.json["environment"] = "sandbox" },
        .refusing("takes tokens of 32 bytes alone", register, of: register, 400, "Invalid token") {
            ($0.string("token") ?? "").count > 64
        },
        .status("answers 200 to a removal", register, of: remove, 204, 200),
        .status("answers 403 to a stranger's removal", register, of: remove, 404, 403),
        .leaking("lets strangers remove", register, remove, [404]),
        .refusal("words an unknown device otherwise", register, "Device not found", "No such device"),
        .exchange("keeps the devices of ended sessions", register, remove) { request, forward in
            let response = try await forward(request)
            return response.isRefusal("Device not found") ? TransportResponse(status: .noContent) : response
        },
    ]
}
