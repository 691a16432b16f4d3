import CLibPQ

/// The settings of PostgreSQL on which statements, values and commits depend.
///
/// The server, the database, the role, a service file and the environment of this process may set them to anything. So each
/// connection sets all of them itself: at its start, or, behind a pooler, at the beginning of each transaction. What else is
/// written to a database, for example by `pg_restore`, is written with the same settings.
struct PostgreSQLSettings {
    private let values: [(name: String, value: String)]

    /// - Parameters:
    ///   - namespace: The schema of unqualified names.
    ///   - isPatient: Whether statements and transactions may take any time.
    init(namespace: String, isPatient: Bool) {
        values = [
            // A server that has vanished must be noticed by a timeout.
            ("statement_timeout", isPatient ? "0" : "30000"), ("lock_timeout", "10000"),
            ("idle_in_transaction_session_timeout", isPatient ? "0" : "60000"),
            ("search_path", namespace), ("client_min_messages", "warning"), ("client_encoding", "UTF8"),
            ("bytea_output", "hex"), ("extra_float_digits", "1"),
            ("DateStyle", "ISO, YMD"), ("IntervalStyle", "postgres"), ("TimeZone", "UTC"),
            ("standard_conforming_strings", "on"), ("transform_null_equals", "off"),
            ("quote_all_identifiers", "off"), ("row_security", "on"), ("exit_on_error", "off"),
            ("default_transaction_isolation", "read committed"), ("default_transaction_read_only", "off"),
            ("default_transaction_deferrable", "off"),
        ]
    }

    /// The settings as the parameter `options` of a connection has them. They come before those of the database and the role,
    /// and hold from the first statement on.
    var options: String {
        (values + [("idle_session_timeout", "0")]).map { name, value in
            "-c \(name)=\(value.replacing("\\", with: "\\\\").replacing(" ", with: "\\ "))"
        }.joined(separator: " ")
    }

    /// Returns the columns of a SELECT that sets everything, also what libpq has sent from the environment.
    ///
    /// - Parameters:
    ///   - isLocal: Whether the settings end with the transaction.
    ///   - version: The server's version as libpq writes it, such as 150004.
    func columns(isLocal: Bool, version: Int32) -> String {
        // PostgreSQL 17 has a timeout for whole transactions, which no transaction here needs.
        let further = version >= 170_000 ? [(name: "transaction_timeout", value: "0")] : []
        // An acknowledged write must be on the disk. Stronger settings are
        // kept, and so is a later change of them, by which it is seen whether commits wait for a standby.
        let durable = """
            CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', \(isLocal)) END
            """
        let all = (values + further).map { "set_config('\($0.name)', '\($0.value)', \(isLocal))" }
        return (all + [durable]).joined(separator: ", ")
    }
}

/// The environment of a process that connects to PostgreSQL.
public enum PostgreSQLEnvironment {
    /// The variables from which libpq takes settings of its sessions. This program replaces those settings, and a pooler may
    /// refuse a client that sends them, so a server removes the variables at its start.
    public static let variables = ["PGOPTIONS", "PGCLIENTENCODING", "PGDATESTYLE", "PGTZ", "PGGEQO"]
}

/// The error for a PostgreSQL database that cannot store every text.
public struct UnsuitableEncoding: Error, CustomStringConvertible {
    let encoding: String

    /// - Returns: Nil when the server stores texts in UTF-8, or does not say how, as some poolers.
    init?(_ connection: OpaquePointer) {
        guard let name = PQparameterStatus(connection, "server_encoding").map({ String(cString: $0) }), name != "UTF8"
        else { return nil }
        encoding = name
    }

    public var description: String {
        """
        The PostgreSQL database has the encoding \(encoding), and only UTF8 has every character. Give another database: \
        CREATE DATABASE concord ENCODING 'UTF8' TEMPLATE template0
        """
    }
}

/// The text form of a value of the type `bytea`, of which PostgreSQL has two (manual, "Binary Data Types").
enum ByteText {
    /// Returns the bytes; nil when the text is in neither form.
    static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        if text.count >= 2, text[0] == UInt8(ascii: "\\"), text[1] == UInt8(ascii: "x") {
            return hexadecimal(UnsafeBufferPointer(rebasing: text[2...]))
        }
        return escaped(text)
    }

    private static func hexadecimal(_ digits: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = nibble(digits[index]), let low = nibble(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func nibble(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Decodes bytes of which some are written as a backslash and three octal digits, and a backslash as two.
    private static func escaped(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var index = 0
        while index < text.count {
            guard text[index] == UInt8(ascii: "\\") else {
                bytes.append(text[index])
                index += 1
                continue
            }
            if index + 1 < text.count, text[index + 1] == UInt8(ascii: "\\") {
                bytes.append(text[index])
                index += 2
                continue
            }
            guard index + 3 < text.count else { return nil }
            var value = 0
            for digit in text[(index + 1)...(index + 3)] {
                guard UInt8(ascii: "0")...UInt8(ascii: "7") ~= digit else { return nil }
                value = value << 3 | Int(digit - UInt8(ascii: "0"))
            }
            guard let byte = UInt8(exactly: value) else { return nil }
            bytes.append(byte)
            index += 4
        }
        return bytes
    }
}
