import Backend
import Contract
import MonicaAPI

/// The content of a file of vCards.
public struct CardFile: Sendable {
    /// The findings of reading a file, besides its cards.
    public struct Findings: Sendable, Codable, Hashable {
        /// Lines that are not part of a vCard.
        public struct Unreadable: Sendable, Codable, Hashable {
            public var lines: ClosedRange<Int>
            public var reason: String
        }

        /// The number of cards of groups.
        public var groups = 0
        /// The lines that were left out, in the order of the file.
        public var unreadable: [Unreadable] = []
        /// The character sets, by the names that the file gives them, of texts that were left out because the character
        /// set is not known or the text is not of it. The values are the numbers of texts.
        public var unreadableCharsets: [String: Int] = [:]

        public init() {}
    }

    /// The cards of people, in the order of the file.
    public private(set) var cards: [CardReading]
    public private(set) var findings: Findings

    /// Reads a file.
    ///
    /// - Parameter skippingUnreadable: Whether lines that are not part of a vCard are left out and listed in the
    ///   findings.
    /// - Throws: ``MonicaService/ImportRefused`` with the first line that is not part of a vCard.
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
