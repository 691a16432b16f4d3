import HTTPTypes

extension HTTPFields {
    /// Returns the value of a field, as the subscript does: the values of several fields of one name with commas between,
    /// and nil when there is none.
    ///
    /// The subscript joins even a single value, which for a request cost more than finding its operation.
    package func value(of name: HTTPField.Name) -> String? {
        guard contains(name) else { return nil }
        var found: String?
        for field in self where field.name == name {
            guard found == nil else { return self[name] }
            found = field.value
        }
        return found
    }
}
