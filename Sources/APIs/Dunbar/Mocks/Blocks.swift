import Contract
import ContractMocks
import DunbarAPI

extension DunbarMock {
    func blocks() {
        server.example(of: Dunbar.Block.self) { request in
            guard try Self.requireUser(request.user) != .example else {
                throw Problem(.badRequest, "Cannot block yourself")
            }
            return .init(message: "User blocked")
        }
        server.example(of: Dunbar.Unblock.self) { request in
            _ = try Self.requireUser(request.user)
            return .init(message: "User unblocked")
        }
        server.example(of: Dunbar.ListBlocks.self) { _ in [] }
    }
}
