import Contract
import ContractServer
import HTTPTypes
import NIOCore
import WebSockets

extension TextFrame {
    /// Encodes a frame of an API, with its type.
    public init(_ frame: some ServerFrame) { self.init(json: TypedFrame(frame)) }

    /// Makes a frame from a value, encoded as JSON.
    ///
    /// - Parameter frame: A value of text, numbers and dates, so that encoding it cannot fail.
    public init(json frame: some Encodable) {
        self.init((try? JSONBody.encode(frame)) ?? ByteBuffer(string: "{}"))
    }
}

extension SocketAdmission {
    /// Refuses a handshake in an API's error shape.
    public static func refuse<API: ServiceAPI>(_ problem: Problem, in _: API.Type) -> SocketAdmission {
        var headers = problem.headers
        headers[.contentType] = "application/json"
        let body = try? JSONBody.encode(API.Failure(problem, requestID: ""))
        return .refuse(status: problem.status, headers: headers, body: body ?? ByteBuffer())
    }
}
