import Contract
import Foundation

/// A file with the data of an account: an export of Monica 4, or one of this server. It is read a record at a time.
public struct ExportFile: Sendable {
    enum Origin: Sendable {
        case monica4
        case concord
    }

    /// A list of records in the file.
    struct List: Sendable {
        /// The place of the list, such as `account.data[1].values`.
        let path: String
        /// The name of its records, such as `contact`.
        let name: String
        /// The places of the records in the file's bytes.
        var ranges: [Range<Int>] = []
    }

    let origin: Origin
    private let bytes: Data
    private let lists: [List]

    /// The number of records in the file's lists.
    public var count: Int { lists.reduce(0) { $0 + $1.ranges.count } }

    /// Returns whether a file is meant as JSON, and not as vCards.
    public static func isJSON(_ bytes: Data) -> Bool {
        let start = bytes.prefix(1024).drop { $0 <= 0x20 || [0xEF, 0xBB, 0xBF].contains($0) }
        return start.first == UInt8(ascii: "{")
    }

    /// Reads the form of a file.
    ///
    /// - Throws: ``MonicaService/ImportRefused`` when the file is no JSON, with the line, or no export.
    public init(_ bytes: Data) throws {
        var outline = Outline()
        let skipped = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        try bytes.withUnsafeBytes { raw in
            let buffer = raw.bindMemory(to: UInt8.self)
            var reader = JSONFileReader(buffer, skipped..<buffer.count)
            try outline.read(&reader)
            try reader.requireEnd()
        }
        if outline.members.contains("account"), outline.members.contains("app_version") {
            origin = .monica4
        } else if outline.members.isSuperset(of: ["version", "exported_at", "contacts"]) {
            origin = .concord
        } else {
            throw MonicaService.ImportRefused(
                description: "it is neither an export of Monica 4 nor one of 'concord monica export'")
        }
        self.bytes = bytes
        lists = outline.lists
    }

    func lists(_ name: String) -> [List] { lists.filter { $0.name == name } }

    /// The lists whose records have one of some names.
    func lists(except names: Set<String>) -> [List] { lists.filter { !names.contains($0.name) } }

    /// Reads the records of a name, one after the other.
    func forEach(_ name: String, _ body: (JSONValue) throws -> Void) throws {
        for list in lists(name) {
            for index in list.ranges.indices { try body(try record(index, of: list)) }
        }
    }

    /// Reads a record.
    func record(_ index: Int, of list: List) throws -> JSONValue {
        try bytes.withUnsafeBytes { raw in
            var reader = JSONFileReader(raw.bindMemory(to: UInt8.self), list.ranges[index])
            return try reader.value()
        }
    }
}

/// The names of a file's members, and its lists of records.
private struct Outline {
    var members: Set<String> = []
    var lists: [ExportFile.List] = []

    mutating func read(_ reader: inout JSONFileReader) throws {
        try reader.object { name, reader in
            members.insert(name)
            if name == "account" {
                try account(&reader)
            } else {
                try list(name, name, &reader)
            }
        }
    }

    /// Reads the account of an export of Monica 4.
    private mutating func account(_ reader: inout JSONFileReader) throws {
        guard reader.isAt(UInt8(ascii: "{")) else {
            _ = try reader.value(isKept: false)
            return
        }
        try reader.object { part, reader in
            if part == "data", reader.isAt(UInt8(ascii: "[")) {
                var index = 0
                try reader.list { reader in
                    try typed("account.data[\(index)]", &reader)
                    index += 1
                }
            } else if part == "properties" || part == "instance", reader.isAt(UInt8(ascii: "{")) {
                try reader.object { name, reader in try list("account.\(part).\(name)", name, &reader) }
            } else {
                _ = try reader.value(isKept: false)
            }
        }
    }

    /// Reads a list that tells the type of its records.
    private mutating func typed(_ path: String, _ reader: inout JSONFileReader) throws {
        guard reader.isAt(UInt8(ascii: "{")) else {
            _ = try reader.value(isKept: false)
            return
        }
        var type = ""
        let first = lists.count
        try reader.object { name, reader in
            if name == "values" {
                try list("\(path).values", "", &reader)
            } else if name == "type", case .string(let text) = try reader.value() {
                type = text
            } else if name != "type" {
                _ = try reader.value(isKept: false)
            }
        }
        for index in first..<lists.count {
            lists[index] = .init(path: lists[index].path, name: type, ranges: lists[index].ranges)
        }
    }

    /// Reads a list of records; another value is only checked.
    private mutating func list(_ path: String, _ name: String, _ reader: inout JSONFileReader) throws {
        guard reader.isAt(UInt8(ascii: "[")) else {
            _ = try reader.value(isKept: false)
            return
        }
        var found = ExportFile.List(path: path, name: name)
        try reader.list { reader in
            let start = reader.index
            _ = try reader.value(isKept: false)
            found.ranges.append(start..<reader.index)
        }
        lists.append(found)
    }
}
