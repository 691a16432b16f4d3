import Contract
import Foundation
import NIOCore
import Testing

@testable import ContractServer

/// Values that JSON cannot express, and requests that the encoder does not support, are errors.
@Suite(.timeLimit(.minutes(30))) struct JSONFailureTests: JSONTests {
    struct Refusal: Error {}

    @Test func theBufferStaysAsItWas() throws {
        var buffer = ByteBuffer(string: "before ")
        #expect(throws: Refusal.self) {
            try JSONBody.encode([Body { _ in throw Refusal() }], into: &buffer)
        }
        #expect(throws: EncodingError.self) {
            try JSONBody.encode(["a": [1, Double.nan]], into: &buffer)
        }
        #expect(String(buffer: buffer) == "before ")
        try JSONBody.encode(["a": 1], into: &buffer)
        #expect(String(buffer: buffer) == #"before {"a":1}"#)
    }

    @Test func datesHaveNoFormat() {
        #expect(failure(["at": Date()])?.path == "at")
        #expect(failure(Date()) != nil)
        #expect(failure([Date?.some(Date())])?.path == "0")
    }

    @Test func nothingEncoded() {
        #expect(failure(Body { _ in })?.reason == "Body encoded nothing")
        #expect(failure(["a": [Body { _ in }]])?.path == "a.0")
        refuses { _ = $0.singleValueContainer() }
        refuses { encoder in
            var object = encoder.container(keyedBy: JSONText.Key.self)
            _ = object.superEncoder()
        }
        refuses { encoder in
            var list = encoder.unkeyedContainer()
            _ = list.superEncoder()
            try list.encode(1)
        }
    }

    private func refuses(
        sourceLocation: SourceLocation = #_sourceLocation, _ body: @escaping (any Encoder) throws -> Void
    ) {
        for nested in [false, true] {
            #expect(throws: EncodingError.self, sourceLocation: sourceLocation) {
                nested ? try text(["x": [Body(body: body)]]) : try text(Body(body: body))
            }
        }
    }

    @Test func misuses() {
        refuses { encoder in
            var single = encoder.singleValueContainer()
            try single.encode(1)
            try single.encode(2)
        }
        refuses { encoder in
            var single = encoder.singleValueContainer()
            try single.encode(1)
            _ = encoder.unkeyedContainer()
        }
        refuses { encoder in
            _ = encoder.unkeyedContainer()
            var object = encoder.container(keyedBy: JSONText.Key.self)
            try object.encode(1, forKey: "a")
        }
        refuses { encoder in
            _ = encoder.unkeyedContainer()
            var single = encoder.singleValueContainer()
            try single.encode(true)
        }
        refuses { encoder in
            var object = encoder.container(keyedBy: JSONText.Key.self)
            var early = object.nestedUnkeyedContainer(forKey: "early")
            try object.encode(1, forKey: "later")
            #expect(early.count == 0)
            try early.encode(2)
        }
        refuses { encoder in
            var list = encoder.unkeyedContainer()
            var first = list.nestedUnkeyedContainer()
            var second = list.nestedUnkeyedContainer()
            try second.encode(1)
            _ = first.nestedContainer(keyedBy: JSONText.Key.self)
        }
        refuses { encoder in
            var list = encoder.unkeyedContainer()
            var copy = list
            let inside = Body { _ in try copy.encode(1) }
            try list.encode(inside)
        }
    }

    /// A caller that catches an error and continues leaves no partial member behind.
    @Test func aMemberThatFailsLeavesNothingBehind() throws {
        let json = try written { encoder in
            var object = encoder.container(keyedBy: JSONText.Key.self)
            try? object.encode(Double.nan, forKey: "a")
            try? object.encode([["b": [1, .infinity]]], forKey: "b")
            try object.encode(1, forKey: "c")
            try? object.encode(Body { _ in throw Refusal() }, forKey: "d")
            var list = object.nestedUnkeyedContainer(forKey: "e")
            try? list.encode(Float.nan)
            try? list.encode([Date()])
            #expect(list.count == 0)
            try list.encode("x")
            try? list.encode(
                Body { encoder in
                    var inner = encoder.unkeyedContainer()
                    try inner.encode(1)
                    throw Refusal()
                })
            try list.encode("y")
            try? object.encode(
                Body { encoder in
                    var single = encoder.singleValueContainer()
                    try? single.encode(["half": Decimal.nan])
                    try single.encode("whole")
                }, forKey: "f")
        }
        #expect(json == #"{"c":1,"e":["x","y"],"f":"whole"}"#)
        let owed = try written { encoder in
            var list = encoder.unkeyedContainer()
            let first = list.superEncoder()
            #expect(throws: EncodingError.self) { try list.encode(1) }
            try 2.encode(to: first)
        }
        #expect(owed == "[2]")
    }
}
