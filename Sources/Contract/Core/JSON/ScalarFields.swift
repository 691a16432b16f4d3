// A field whose JSON is a scalar is encoded as that scalar. A coder then does not make an encoder, and a container, for a
// number or a text. What is written is the same.

extension KeyedEncodingContainer {
    /// Encodes an id as its number.
    public mutating func encode<Named>(_ id: Identifier<Named>, forKey key: Key) throws {
        try encode(id.rawValue, forKey: key)
    }

    /// Encodes an id as its number, if there is one.
    public mutating func encodeIfPresent<Named>(_ id: Identifier<Named>?, forKey key: Key) throws {
        if let id { try encode(id.rawValue, forKey: key) }
    }

    /// Encodes an id as its text.
    public mutating func encode<Named>(_ id: TextIdentifier<Named>, forKey key: Key) throws {
        try encode(id.rawValue, forKey: key)
    }

    /// Encodes an id as its text, if there is one.
    public mutating func encodeIfPresent<Named>(_ id: TextIdentifier<Named>?, forKey key: Key) throws {
        if let id { try encode(id.rawValue, forKey: key) }
    }

    /// Encodes a value of an enumeration as its text.
    public mutating func encode(_ value: some OpenEnumeration, forKey key: Key) throws {
        try encode(value.rawValue, forKey: key)
    }

    /// Encodes a value of an enumeration as its text, if there is one.
    public mutating func encodeIfPresent<Value: OpenEnumeration>(_ value: Value?, forKey key: Key) throws {
        if let value { try encode(value.rawValue, forKey: key) }
    }
}

extension KeyedEncodingContainer {
    /// Encodes a value, or null.
    public mutating func encode<Wrapped: Encodable>(_ value: OrNull<Wrapped>, forKey key: Key) throws {
        if let value = value.wrappedValue { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    /// Encodes a text, or null.
    public mutating func encode(_ value: OrNull<String>, forKey key: Key) throws {
        if let text = value.wrappedValue { try encode(text, forKey: key) } else { try encodeNil(forKey: key) }
    }

    /// Encodes a number, or null.
    public mutating func encode(_ value: OrNull<Int>, forKey key: Key) throws {
        if let number = value.wrappedValue { try encode(number, forKey: key) } else { try encodeNil(forKey: key) }
    }

    /// Encodes an id as its number, or null.
    public mutating func encode<Named>(_ value: OrNull<Identifier<Named>>, forKey key: Key) throws {
        if let id = value.wrappedValue { try encode(id, forKey: key) } else { try encodeNil(forKey: key) }
    }

    /// Encodes an id as its text, or null.
    public mutating func encode<Named>(_ value: OrNull<TextIdentifier<Named>>, forKey key: Key) throws {
        if let id = value.wrappedValue { try encode(id, forKey: key) } else { try encodeNil(forKey: key) }
    }

    /// Encodes a value of an enumeration as its text, or null.
    public mutating func encode<Value: OpenEnumeration>(_ value: OrNull<Value>, forKey key: Key) throws {
        if let value = value.wrappedValue { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }
}
