import Backend
import Contract
import MonicaAPI

/// A file of vCards, read.
public struct CardFile: Sendable {
    /// What was found in the file beside its cards.
    public struct Findings: Sendable, Codable, Hashable {
        /// Lines that are no part of a vCard.
        public struct Unreadable: Sendable, Codable, Hashable {
            public var lines: ClosedRange<Int>
            public var reason: String
        }

        /// Cards of groups, which are no people.
        public var groups = 0
        /// What was left out, in the order of the file.
        public var unreadable: [Unreadable] = []
        /// Names of character sets that are not known, and how many texts were read as Windows-1252 for that.
        public var unknownCharsets: [String: Int] = [:]

        public init() {}
    }

    /// Of people, in the order of the file.
    public private(set) var cards: [CardReading]
    public private(set) var findings: Findings

    /// - Parameter skippingUnreadable: Whether what is no vCard is left out, and listed in the findings.
    /// - Throws: ``MonicaService/ImportRefused`` with the first line that is no vCard.
    public init(_ bytes: [UInt8], skippingUnreadable: Bool = false) throws {
        let today = Monica.Timestamp(milliseconds: TimeSource.system.milliseconds()).day
        try self.init(bytes, skippingUnreadable: skippingUnreadable, today: today)
    }

    init(_ bytes: [UInt8], skippingUnreadable: Bool, today: Day) throws {
        var reader = VCardReader(skippingUnreadable: skippingUnreadable)
        let cards: [VCard]
        do {
            cards = try reader.read(bytes)
        } catch let error as VCardReader.Malformed {
            throw MonicaService.ImportRefused(description: "\(error)")
        }
        findings = reader.findings
        self.cards = cards.filter { !$0.isGroup }.map { CardReading($0, today: today) }
        findings.groups = cards.count - self.cards.count
    }
}
