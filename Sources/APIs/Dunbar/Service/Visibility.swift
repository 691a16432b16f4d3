import Backend
import Database
import DunbarAPI

/// Who may see what. One condition decides it for posts, comments, the feed, reports and deletion; whatever shows something
/// that belongs to somebody asks here, in the transaction that reads it. From admins nothing is hidden.
enum Visibility {
    /// Whether a viewer sees the posts of user `u`, as a condition: one's own, everything as an admin, and of those whom no
    /// block keeps apart the posts of public accounts, and of private ones whom one follows.
    static func ofPosts(to viewer: Dunbar.User.ID) -> SQL {
        """
        (u.id = \(viewer) OR \(isAdmin(viewer)) OR (
            NOT \(isBlocked(viewer, by: "u.id")) AND NOT \(isBlocked("u.id", by: viewer))
            AND (u.is_private = 0 OR EXISTS (
                SELECT 1 FROM follows v
                WHERE v.follower_id = \(viewer) AND v.target_id = u.id AND v.is_accepted = 1))))
        """
    }

    /// Whether a viewer sees what a user has written under somebody's post, and finds the user: unless one of them has
    /// blocked the other.
    ///
    /// - Parameter user: The column with the user's id.
    static func ofPerson(_ user: SQL = "u.id", to viewer: Dunbar.User.ID) -> SQL {
        "(NOT \(isBlocked(viewer, by: user)) AND NOT \(isBlocked(user, by: viewer)) OR \(isAdmin(viewer)))"
    }

    /// Whether a viewer is told that there is user `u`: the blocked one is not, the one who blocks is.
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
