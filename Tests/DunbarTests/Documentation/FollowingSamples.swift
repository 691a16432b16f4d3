import DunbarClient
import Testbed

// The samples of Following.md.

enum FollowingSamples {
    static func search(_ dunbar: DunbarClient, show: (Dunbar.User, String) -> Void) async throws {
        // sample
        for user in try await dunbar.send(Dunbar.SearchUsers("sar", include: .relationship)) {
            show(user, user.isFollowing == true ? "Following" : user.isPending == true ? "Requested" : "Follow")
        }
        // end
    }

    static func follow(_ dunbar: DunbarClient, sarah id: Dunbar.User.ID, show: (String) -> Void) async throws {
        let sarah = Identified(id)
        // sample
        do {
            switch try await dunbar.follow(sarah.id) {
            case .following: show("You see her posts from now on.")
            case .requested: show("She has been asked.")
            }
        } catch let error as APIError where error.status == 400 {
            show(error.message ?? "")
        }
        // end
    }

    static func unfollow(_ dunbar: DunbarClient, sarah id: Dunbar.User.ID) async throws {
        let sarah = Identified(id)
        // sample
        try await dunbar.send(Dunbar.Unfollow(user: sarah.id))
        // end
    }

    static func block(_ dunbar: DunbarClient, sarah id: Dunbar.User.ID) async throws -> [Dunbar.User] {
        let sarah = Identified(id)
        // sample
        try await dunbar.send(Dunbar.ReportUser(user: sarah.id, reason: .harmfulOrAbusive))
        try await dunbar.send(Dunbar.Block(user: sarah.id))

        let blocked = try await dunbar.send(Dunbar.ListBlocks())
        // end
        return blocked
    }

    static func answer(_ dunbar: DunbarClient, knows: (Dunbar.UserSummary) -> Bool) async throws {
        // sample
        for request in try await dunbar.send(Dunbar.ListPendingRequests()) {
            if knows(request.follower) {
                try await dunbar.send(Dunbar.AcceptRequest(id: request.id))
            } else {
                try await dunbar.send(Dunbar.RejectRequest(id: request.id))
            }
        }
        // end
    }

    static func followers(
        _ dunbar: DunbarClient, me id: Dunbar.User.ID, knows: (Dunbar.User) -> Bool
    ) async throws {
        let me = Identified(id)
        // sample
        for follower in try await dunbar.send(Dunbar.ListFollowers(of: me.id)) where !knows(follower) {
            try await dunbar.send(Dunbar.RemoveFollower(follower: follower.id))
        }
        // end
    }

    static func open(_ dunbar: DunbarClient, me id: Dunbar.User.ID) async throws {
        let me = Identified(id)
        // sample
        try await dunbar.send(Dunbar.UpdateUser(id: me.id, isPrivate: false))
        // end
    }
}
