import ArgumentParser
import Backend

/// The backups that a server makes by itself.
struct BackupOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Make backups at this place: a folder, or a folder in a bucket, with the credentials AWS_ACCESS_KEY_ID and "
                + "AWS_SECRET_ACCESS_KEY. [CONCORD_BACKUP_TO] (default: none)",
            valueName: "dir|s3://bucket/folder?endpoint=…"))
    var backupTo: String?

    @Option(
        help: ArgumentHelp(
            "The times of the backups: daily@03:00, in the time zone of the machine, or 6h for every six hours. "
                + "[CONCORD_BACKUP_SCHEDULE] (default: daily@03:00)",
            valueName: "schedule"))
    var backupSchedule: String?

    @Option(
        help: ArgumentHelp(
            "The backups that are kept; older ones are removed. [CONCORD_BACKUP_KEEP] (default: 7)",
            valueName: "count"))
    var backupKeep: Int?

    func validate() throws {
        if let backupSchedule, BackupSchedule(backupSchedule) == nil {
            throw ValidationError("--backup-schedule must be like daily@03:00 or 6h, not '\(backupSchedule)'")
        }
        if let backupKeep, backupKeep < 1 { throw ValidationError("--backup-keep must be 1 or more") }
    }

    /// Returns nil when the server is to make no backups.
    func settings(_ environment: Environment) throws -> BackupSettings? {
        let place = try environment.value(backupTo, "CONCORD_BACKUP_TO", { $0 }, default: "")
        guard !place.isEmpty else { return nil }
        return BackupSettings(
            location: try BackupLocation(place),
            schedule: try environment.value(
                backupSchedule.flatMap { BackupSchedule($0) }, "CONCORD_BACKUP_SCHEDULE", { BackupSchedule($0) },
                default: .daily(hour: 3, minute: 0)),
            keep: try environment.value(
                backupKeep, "CONCORD_BACKUP_KEEP", { Int($0).flatMap { $0 > 0 ? $0 : nil } }, default: 7))
    }
}
