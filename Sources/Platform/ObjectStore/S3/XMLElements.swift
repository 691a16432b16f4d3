import Foundation
import NIOCore

#if canImport(FoundationXML)
import FoundationXML
#endif

/// The texts of a small XML document, in order, each with the path of its element: `("Error/Code", "NoSuchKey")`.
/// Attributes and namespaces are ignored; S3 has no data in them.
struct XMLElements {
    let leaves: [(path: String, text: String)]

    /// Parses a document; nil when it is not well-formed XML.
    init?(_ body: ByteBuffer) {
        // The parser does not read external entities by default.
        let parser = XMLParser(data: Data(body.readableBytesView))
        let collector = Collector()
        parser.delegate = collector
        guard parser.parse() else { return nil }
        leaves = collector.leaves
    }

    func all(_ path: String) -> [String] {
        leaves.filter { $0.path == path }.map(\.text)
    }

    func first(_ path: String) -> String? {
        leaves.first { $0.path == path }?.text
    }

    private final class Collector: NSObject, XMLParserDelegate {
        var leaves: [(path: String, text: String)] = []
        private var open: [String] = []
        private var text = ""
        private var isLeaf = false

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            open.append(name)
            text = ""
            isLeaf = true
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) {
            text += string
        }

        func parser(_ parser: XMLParser, foundCDATA block: Data) {
            text += String(decoding: block, as: UTF8.self)
        }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
        ) {
            if isLeaf { leaves.append((open.joined(separator: "/"), text)) }
            isLeaf = false
            open.removeLast()
        }
    }
}
