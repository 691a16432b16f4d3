import Foundation
import Testbed

/// Makes vCards that are as varied and irregular as those of real programs.
struct CardGenerator {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private static let firstNames = [
        "John", "Jane", "José", "Zoë", "Łukasz", "Αλέξανδρος", "Мария", "美咲", "محمد", "אבי", "Anne-Marie", "D'Arcy",
        "👩‍👩‍👧", "İpek", "Straße", "e\u{301}mile",
    ]
    private static let lastNames = [
        "Doe", "Müller", "O'Brien", "van der Berg", "Nguyễn", "Škvorecký", "山田", "García Márquez", "Smith; Jr.",
        "A,B", "back\\slash", "100%", "under_score",
    ]

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    private mutating func pick<T>(_ elements: [T]) -> T { elements[Int.random(in: 0..<elements.count, using: &random)] }

    /// Returns text without control characters, so that it can be compared after an export.
    private mutating func text(upTo maximum: Int) -> String {
        String(
            String.UnicodeScalarView(
                random.text(upTo: maximum).unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }

    private static func escape(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing(",", with: "\\,").replacing(";", with: "\\;")
            .replacing("\n", with: "\\n")
    }

    mutating func card() -> String {
        let end = pick(["\r\n", "\n"])
        var lines = [pick(["BEGIN:VCARD", "begin:vcard"]), "VERSION:" + pick(["3.0", "4.0"])]
        let (first, last) = (pick(Self.firstNames), pick(Self.lastNames))
        switch Int.random(in: 0..<20, using: &random) {
        case 0: lines += ["N:;;;;", "FN:"]
        case 1: lines += ["FN:" + Self.escape(first + " " + last)]
        case 2: lines += ["N:\(Self.escape(last));;;;", "FN:\(Self.escape(last))"]
        case 3:
            lines += [
                "N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:"
                    + Self.quotedPrintable("\(Self.escape(last));\(Self.escape(first));;;")
            ]
        default:
            let middle = chance(20) ? Self.escape(text(upTo: 12)) : ""
            lines += [
                "N:\(Self.escape(last));\(Self.escape(first));\(middle);;", "FN:\(Self.escape(first + " " + last))",
            ]
        }
        if chance(30) { lines.append("NICKNAME:" + Self.escape(text(upTo: 20))) }
        if chance(50) {
            lines.append("item1.EMAIL;TYPE=INTERNET:n\(Int.random(in: 0..<9999, using: &random))@example.com")
        }
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            lines.append(
                pick([
                    "TEL;TYPE=\"cell,voice\":+1 555 0100", "TEL;VALUE=uri;TYPE=home:tel:+1-555-0101", "TEL;WORK:٠١٢٣",
                    "item2.TEL;type=pref:" + Self.escape(text(upTo: 20)),
                ]))
        }
        if chance(30) {
            let parts = (0..<7).map { _ in chance(60) ? Self.escape(text(upTo: 20)) : "" }
            lines.append(pick(["ADR:", "ADR;TYPE=home:", "ADR;WORK;PREF:"]) + parts.joined(separator: ";"))
        }
        if chance(15) { lines.append(pick(["URL:https://example.com/a,b;c?d=e", "URL:not a website"])) }
        if chance(15) { lines.append(pick(["GENDER:M", "GENDER:F", "GENDER:O;words", "GENDER:U"])) }
        if chance(5) { lines.append("IMPP:xmpp:john@example.com") }
        if chance(2) { lines.append(pick(["KIND:group", "X-ADDRESSBOOKSERVER-KIND:group"])) }
        if chance(20) { lines.append("UID:people-\(Int.random(in: 0..<Int.max, using: &random))") }
        if chance(40) {
            lines.append(
                pick([
                    "BDAY:1980-10-10", "BDAY:19801010", "BDAY:--0229", "BDAY:1970", "BDAY:unknown",
                    "BDAY;VALUE=date:2001-02-30",
                ]))
        }
        if chance(5) { lines.append(pick(["DEATHDATE:20200101", "DEATHDATE;VALUE=text:unknown"])) }
        for _ in 0..<Int.random(in: 0...2, using: &random) where chance(40) {
            lines.append("NOTE:" + Self.escape(text(upTo: 400)))
        }
        if chance(30) { lines.append("CATEGORIES:" + pick(["Family", "Friends,Work", "Été à Paris", "a\\,b"])) }
        if chance(20) { lines.append("ORG:" + Self.escape(text(upTo: 30)) + ";Department") }
        if chance(20) { lines.append("TITLE:" + Self.escape(text(upTo: 300))) }
        if chance(5) { lines.append("PHOTO;ENCODING=b;TYPE=JPEG:" + String(repeating: "QUJD", count: 200) + "=") }
        if chance(10) { lines.append("") }
        lines.append("END:VCARD")
        return lines.map { fold($0, end) }.joined(separator: end) + end
    }

    /// Folds a line at any place, as old programs do, but never within a character.
    private mutating func fold(_ line: String, _ end: String) -> String {
        guard line.utf8.count > 75 || (line.utf8.count > 10 && chance(5)), !line.contains("QUOTED") else { return line }
        var folded = ""
        for (index, scalar) in line.unicodeScalars.enumerated() {
            if index > 0, index % 60 == 0 { folded += end + pick([" ", "\t"]) }
            folded.unicodeScalars.append(scalar)
        }
        return folded
    }

    private static func quotedPrintable(_ text: String) -> String {
        text.utf8.map { byte in
            byte == 0x3D || byte > 0x7E || byte < 0x20
                ? "=" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) : String(Unicode.Scalar(byte))
        }.joined()
    }
}
