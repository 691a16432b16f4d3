import Foundation

/// The proxies of docs/proxies.md, which `make test` unpacks (Tools/unpack-packages).
public enum Proxies {
    /// Runs one of them: `run nginx …`. Nil where `make test` has not unpacked them.
    public static let runner = ProcessInfo.processInfo.environment["CONCORD_PROXIES"].map { $0 + "/run" }

    /// Returns the code blocks of a page, by their language.
    public static func blocks(of page: String) throws -> [String: String] {
        let text = try String(contentsOfFile: "\(StockTools.package)/docs/\(page)", encoding: .utf8)
        var blocks: [String: String] = [:]
        for block in text.matches(of: #/(?ms)^```(\w+)\n(.*?)^```/#) {
            blocks[String(block.output.1)] = String(block.output.2)
        }
        return blocks
    }
}
