import HTTPTypes

/// The names of the fields that requests often have, which are recognised without making a text of each.
struct FieldNames {
    fileprivate struct Known {
        let bytes: [UInt8]
        let name: HTTPField.Name
    }

    /// The names by their number of bytes.
    private var known: [[Known]] = Array(repeating: [], count: 32)

    static let usual = FieldNames([
        .accept, .acceptEncoding, .acceptLanguage, .authorization, .cacheControl, .connection, .contentLength,
        .contentType, .cookie, .expect, .idempotencyKey, .ifModifiedSince, .ifNoneMatch, .origin, .range, .referer,
        .requestID, .transferEncoding, .upgrade, .userAgent, .forwardedFor,
    ])

    private init(_ names: [HTTPField.Name]) {
        for name in names {
            let bytes = Array(name.canonicalName.utf8)
            known[bytes.count].append(Known(bytes: bytes, name: name))
        }
    }

    /// Returns the name that some bytes are, in any letter case.
    ///
    /// - Parameter bytes: Characters of a token (RFC 9110 §5.6.2), at least one.
    func name(_ bytes: UnsafeRawBufferPointer) -> HTTPField.Name? {
        if bytes.count < known.count {
            for candidate in known[bytes.count] where candidate.matches(bytes) { return candidate.name }
        }
        return HTTPField.Name(String(decoding: bytes, as: UTF8.self))
    }
}

extension FieldNames.Known {
    fileprivate func matches(_ other: UnsafeRawBufferPointer) -> Bool {
        self.bytes.withUnsafeBytes { own in
            for index in own.indices where other[index] | 0x20 != own[index] | 0x20 { return false }
            return true
        }
    }
}
