// A server may answer with shorter lists than the contract promises, and a scenario that reads beyond the end of one would
// end the whole run. So files that import this module with `@_spi(Scenarios)` have these subscripts instead of the standard
// library's, and the compiler asks for a `try` at each. `Tools/check-scenarios` makes sure that all scenarios import it.

/// A list is shorter than the contract promises.
public struct ShortList: Error, CustomStringConvertible {
    public let description: String

    fileprivate init(_ count: Int, missing: String) {
        description = "a list has \(count) elements, and so no \(missing)"
    }
}

@_spi(Scenarios) extension Array {
    /// Returns an element.
    ///
    /// - Throws: ``ShortList`` when the list has no such element.
    public subscript(index: Int) -> Element {
        get throws { try self[checked: index] }
    }

    /// Returns a part of the list.
    ///
    /// - Throws: ``ShortList`` when the list does not have all of it.
    public subscript(bounds: Range<Int>) -> ArraySlice<Element> {
        get throws { try self[checked: bounds] }
    }

    /// Returns a part of the list.
    ///
    /// - Throws: ``ShortList`` when the list does not have all of it.
    public subscript<Bounds: RangeExpression<Int>>(bounds: Bounds) -> ArraySlice<Element> {
        get throws { try self[checked: bounds.within(count)] }
    }
}

@_spi(Scenarios) extension ArraySlice {
    /// Returns an element.
    ///
    /// - Throws: ``ShortList`` when the list has no such element.
    public subscript(index: Int) -> Element {
        get throws { try self[checked: index] }
    }
}

extension RandomAccessCollection where Index == Int {
    fileprivate subscript(checked index: Int) -> Element {
        get throws {
            guard let element = indices.contains(index) ? dropFirst(index - startIndex).first : nil else {
                throw ShortList(count, missing: "element \(index)")
            }
            return element
        }
    }
}

extension Array {
    fileprivate subscript(checked bounds: Range<Int>) -> ArraySlice<Element> {
        get throws {
            guard bounds.lowerBound >= 0, bounds.upperBound <= count else {
                throw ShortList(count, missing: "elements \(bounds.lowerBound) to \(bounds.upperBound - 1)")
            }
            return dropFirst(bounds.lowerBound).prefix(bounds.count)
        }
    }
}

extension RangeExpression<Int> {
    /// Returns the range in a list, which may still end beyond the list.
    fileprivate func within(_ count: Int) throws -> Range<Int> {
        // Otherwise this range, which would begin behind its end, would end the process.
        if let range = self as? PartialRangeFrom<Int>, range.lowerBound > count {
            throw ShortList(count, missing: "element \(range.lowerBound)")
        }
        return relative(to: 0..<count)
    }
}
