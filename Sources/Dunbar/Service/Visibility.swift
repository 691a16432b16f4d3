import Backend
import Database
import DunbarAPI

/// Who may see what. One condition decides it for posts, comments, the feed and deletion; whatever shows something that
/// belongs to somebody's posts asks here, in the transaction that reads it.
enum Visibility {
    /// Whether a viewer sees the posts of user `u`, as a condition: one's own, everything as an admin, those of public
    /// accounts, and those of private ones whom one follows.
    static func ofPosts(to viewer: Dunbar.User.ID) -> SQL {
        """
        (u.id = \(viewer) OR u.is_private = 0
            OR EXISTS (SELECT 1 FROM users v WHERE v.id = \(viewer) AND v.is_admin = 1)
            OR EXISTS (
                SELECT 1 FROM follows v
                WHERE v.follower_id = \(viewer) AND v.target_id = u.id AND v.is_accepted = 1))
        """
    }
}
