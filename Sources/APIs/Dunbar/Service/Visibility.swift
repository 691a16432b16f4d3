import Backend
import Database
import DunbarAPI

/// Decides who may see what. Posts, comments, the feed, reports and deletions all use these conditions, in the
/// transaction that reads the rows. An admin sees everything.
enum Visibility {
    /// Returns the condition under which a viewer may see the posts of user `u`. A viewer sees their own posts; an
    /// admin sees all. Otherwise there must be no block between the two, and the account must be public or followed by
    /// the viewer.
    static func ofPosts(to viewer: Dunbar.User.ID) -> SQL {
        """
        (u.id = \(viewer) OR \(isAdmin(viewer)) OR (
            NOT \(isBlocked(viewer, by: "u.id")) AND NOT \(isBlocked("u.id", by: viewer))
            AND (u.is_private = 0 OR EXISTS (
                SELECT 1 FROM follows v
                WHERE v.follower_id = \(viewer) AND v.target_id = u.id AND v.is_accepted = 1))))
        """
    }

    /// Returns the condition under which a viewer sees the posts of a user whom they follow: ``ofPosts(to:)`` without what
    /// an accepted follow answers. A viewer who has no block, as most have none, costs one look for all whom they follow.
    ///
    /// - Parameter user: The column with the user's id.
    static func ofFollowed(_ user: SQL, by viewer: Dunbar.User.ID) -> SQL {
        """
        (\(isAdmin(viewer))
            OR NOT EXISTS (SELECT 1 FROM blocks v WHERE v.blocker_id = \(viewer))
            AND NOT EXISTS (SELECT 1 FROM blocks v WHERE v.blocked_id = \(viewer))
            OR NOT \(isBlocked(viewer, by: user)) AND NOT \(isBlocked(user, by: viewer)))
        """
    }

    /// Returns the condition under which a viewer sees a user's comments and finds the user: neither has blocked the
    /// other.
    ///
    /// - Parameter user: The column with the user's id.
    static func ofPerson(_ user: SQL = "u.id", to viewer: Dunbar.User.ID) -> SQL {
        "(NOT \(isBlocked(viewer, by: user)) AND NOT \(isBlocked(user, by: viewer)) OR \(isAdmin(viewer)))"
    }

    /// Returns the condition under which a viewer learns that user `u` exists: `u` has not blocked the viewer.
    static func ofAccount(to viewer: Dunbar.User.ID) -> SQL {
        "(NOT \(isBlocked(viewer, by: "u.id")) OR \(isAdmin(viewer)))"
    }

    private static func isAdmin(_ viewer: Dunbar.User.ID) -> SQL {
        "EXISTS (SELECT 1 FROM users v WHERE v.id = \(viewer) AND v.is_admin = 1)"
    }

    private static func isBlocked(_ viewer: Dunbar.User.ID, by user: SQL) -> SQL {
        "EXISTS (SELECT 1 FROM blocks v WHERE v.blocker_id = \(user) AND v.blocked_id = \(viewer))"
    }

    private static func isBlocked(_ user: SQL, by viewer: Dunbar.User.ID) -> SQL {
        "EXISTS (SELECT 1 FROM blocks v WHERE v.blocker_id = \(viewer) AND v.blocked_id = \(user))"
    }
}
