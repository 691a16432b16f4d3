import Contract
import ContractMocks
import DunbarAPI
import DunbarExamples

extension Dunbar.PendingRequest {
    /// The example: Sarah's request to John.
    public static let example: Self = contractExample(DunbarExamples.pendingRequest)
}

extension Dunbar.OutgoingRequest {
    /// The example: John's request to Alex.
    public static let example: Self = contractExample(DunbarExamples.outgoingRequest)
}

extension DunbarMock {
    func follows() {
        server.example(of: Dunbar.Follow.self) { request in
            let user = try Self.requireUser(request.user)
            guard user != .example else { throw Problem(.badRequest, "Cannot follow yourself") }
            guard user != .alex else {
                throw Problem(.badRequest, "Already following or requested to follow this user")
            }
            return .init(message: Dunbar.Follow.requested)
        }
        server.example(of: Dunbar.Unfollow.self) { request in
            guard try Self.requireUser(request.user) == .alex else {
                throw Problem(.badRequest, "Not following this user")
            }
            return .init(message: "Follow request withdrawn")
        }
        server.example(of: Dunbar.RemoveFollower.self) { _ in
            throw Problem(.badRequest, "This user is not your follower")
        }
        server.example(of: Dunbar.ListFollowers.self) { request in
            try Self.requireSelf(request.user, "You can only view your own followers")
            return []
        }
        server.example(of: Dunbar.ListFollowing.self) { request in
            try Self.requireSelf(request.user, "You can only view your own following list")
            return []
        }
        server.example(of: Dunbar.ListPendingRequests.self) { $0.before == nil ? [.example] : [] }
        server.example(of: Dunbar.ListOutgoingRequests.self) { $0.before == nil ? [.example] : [] }
        server.example(of: Dunbar.AcceptRequest.self) { request in
            try Self.requirePending(request.id)
            return .init(message: "Follow request accepted")
        }
        server.example(of: Dunbar.RejectRequest.self) { request in
            try Self.requirePending(request.id)
            return .init(message: "Follow request rejected")
        }
    }

    private static func requirePending(_ id: Dunbar.FollowRequest.ID) throws {
        guard id == Dunbar.PendingRequest.example.id else { throw Problem(.notFound, "Follow request not found") }
    }
}
