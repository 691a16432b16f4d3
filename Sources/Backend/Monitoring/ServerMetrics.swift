import CoreMetrics
public import PrometheusMetrics

/// The metrics that a server records, with their meaning. docs/monitoring.md has a row for each.
public enum ServerMetrics {
    public static let descriptions = requests + sockets + databases + limits + resources + process

    private static let requests: [MetricDescription] = [
        .init(
            "concord_http_request_duration_seconds", .histogram,
            "The time from a request's head to its answer, by API, route, method and status."),
        .init("concord_http_requests_in_flight", .gauge, "The requests that have no answer yet."),
        .init(
            "concord_http_malformed_requests_total", .counter,
            "The requests that were refused because they are not HTTP."),
        .init("concord_connections", .gauge, "The connections of clients that are open, over all APIs."),
        .init("concord_connections_limit", .gauge, "The most connections that may be open."),
        .init(
            "concord_connections_refused_total", .counter,
            "The connections that were refused because the server or the client's address has too many."),
        .init("concord_request_memory_bytes", .gauge, "The memory that bodies or answers larger than 16 KiB take."),
        .init("concord_request_memory_waiting", .gauge, "The requests that wait for memory for their body or answer."),
    ]

    private static let sockets: [MetricDescription] = [
        .init("concord_sockets", .gauge, "The live sockets that are open."),
        .init("concord_socket_handshakes_total", .counter, "The handshakes of sockets, by the status of the answer."),
        .init(
            "concord_socket_closes_total", .counter,
            "The sockets that the server has closed, by the code: 1013 is a client that reads too slowly."),
        .init("concord_socket_frames_total", .counter, "The messages on live sockets, by direction."),
        .init("concord_subscriptions", .gauge, "The subscriptions of sockets to chats, groups and the like."),
    ]

    private static let databases: [MetricDescription] = [
        .init(
            "concord_database_transaction_duration_seconds", .histogram,
            "The time that a transaction takes, with the wait for its turn, by kind: read or write."),
        .init("concord_database_wait_seconds", .histogram, "The time for which a transaction waits for its turn."),
        .init("concord_database_waiting", .gauge, "The transactions that wait for their turn."),
        .init(
            "concord_database_refused_total", .counter,
            "The transactions that were refused because too many waited; their requests are answered with 503."),
        .init(
            "concord_database_group_commit_size", .histogram,
            "The writes that SQLite makes durable with one flush to the disk.", buckets: MetricDescription.counts),
        .init("concord_database_connections", .gauge, "The most connections to the database that may be in use."),
        .init("concord_database_connections_in_use", .gauge, "The connections to the database that are in use."),
        .init("concord_database_file_bytes", .gauge, "The size of SQLite's file."),
        .init("concord_database_wal_bytes", .gauge, "The size of SQLite's write-ahead log."),
        .init("concord_database_replica_used", .gauge, "1 while reads go to the replica, else 0."),
        .init("concord_database_replica_reads_total", .counter, "The reads that the replica answered."),
        .init("concord_bus_connected", .gauge, "1 while the event bus between nodes is connected, else 0."),
        .init("concord_bus_waiting", .gauge, "The announcements that wait to be sent to other nodes."),
        .init("concord_bus_announcements_total", .counter, "The announcements that were sent to other nodes."),
        .init(
            "concord_bus_gaps_total", .counter,
            "The times at which announcements of other nodes may have been missed, so that sockets read again."),
    ]

    private static let limits: [MetricDescription] = [
        .init(
            "concord_sign_in_refusals_total", .counter,
            "The sign-ins that were refused with 429, because there were too many with a wrong password before."),
        .init(
            "concord_rate_limit_refusals_total", .counter, "The requests above a limit on the requests of a minute."),
        .init("concord_password_hashing_waiting", .gauge, "The passwords that wait to be hashed."),
        .init("concord_cache_requests_total", .counter, "The look-ups in caches, by cache and result: hit or miss."),
    ]

    private static let resources: [MetricDescription] = [
        .init("concord_disk_available_bytes", .gauge, "The space that is left on the disk of the data folder."),
        .init("concord_disk_size_bytes", .gauge, "The size of the disk of the data folder."),
        .init("concord_disk_reserve_bytes", .gauge, "The available space below which uploads are refused with 507."),
        .init("concord_emails_waiting", .gauge, "The e-mails that have not been sent, of all nodes together."),
        .init("concord_emails_total", .counter, "The attempts to send an e-mail, by result: sent, failed or given_up."),
        .init(
            "concord_pushes_waiting", .gauge,
            "The messages of which devices have not been notified yet, of all nodes together."),
        .init(
            "concord_pushes_total", .counter,
            "The attempts to notify a device, by result: sent, failed, refused or removed."),
        .init("concord_reports_open", .gauge, "The reports on which no operator has acted yet, of all nodes together."),
        .init(
            "concord_reports_oldest_age_seconds", .gauge, "The age of the oldest of them; 0 when there is none."),
        .init(
            "concord_log_lines_dropped_total", .counter,
            "The log lines that were dropped because no program read the log."),
        .init("concord_spans_exported_total", .counter, "The spans that a collector of traces has taken."),
        .init(
            "concord_spans_dropped_total", .counter,
            "The spans that were dropped, because the collector of traces did not take them."),
        .init(
            "concord_certificate_expiry_timestamp_seconds", .gauge,
            "The time at which the TLS certificate expires, in Unix seconds."),
        .init("concord_build_info", .gauge, "1, with the version and the commit of the program as labels."),
    ]

    // The names that every program with a Prometheus client has.
    private static let process: [MetricDescription] = [
        .init("process_cpu_seconds_total", .counter, "The processor time that the process has taken."),
        .init("process_resident_memory_bytes", .gauge, "The memory of the process that is in RAM."),
        .init("process_open_fds", .gauge, "The file descriptors that are open."),
        .init("process_max_fds", .gauge, "The most file descriptors that may be open."),
        .init("process_start_time_seconds", .gauge, "The time at which the process was started, in Unix seconds."),
    ]
}

extension MetricsFactory {
    /// Returns a factory whose metrics have the name of an API as a label.
    func labelled(api: String) -> any MetricsFactory {
        withLabelAndDimensionsMapping { label, dimensions in (label, [("api", api)] + dimensions) }
    }
}
