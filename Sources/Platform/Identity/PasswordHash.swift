/// A stored password hash in the PHC string format: `$scrypt$ln=14,r=8,p=5$<salt>$<key>`, with salt and key in base64
/// without padding. A hash contains its parameters, so raising the cost keeps old passwords valid.
struct PasswordHash: Sendable, Equatable {
    let cost: Passwords.Cost
    let salt: [UInt8]
    let key: [UInt8]

    init(cost: Passwords.Cost, salt: [UInt8], key: [UInt8]) {
        self.cost = cost
        self.salt = salt
        self.key = key
    }

    /// Parses a hash; nil unless it is well-formed, with a cost in range, a salt of 1…64 bytes and a key of 16…64
    /// bytes. A shorter key would be guessable, and an empty one would match every password.
    init?(_ text: String) {
        guard text.utf8.count <= 256 else { return nil }
        let fields = text.split(separator: "$", omittingEmptySubsequences: false)
        guard fields.count == 5, fields[0].isEmpty, fields[1] == "scrypt" else { return nil }
        let parameters = fields[2].split(separator: ",", omittingEmptySubsequences: false)
        guard parameters.count == 3,
            let logN = Self.number(parameters[0], named: "ln"),
            let blockSize = Self.number(parameters[1], named: "r"),
            let parallelism = Self.number(parameters[2], named: "p"),
            let cost = Passwords.Cost(logN: logN, blockSize: blockSize, parallelism: parallelism),
            let salt = Base64.decode(String(fields[3])), 1...64 ~= salt.count,
            let key = Base64.decode(String(fields[4])), 16...64 ~= key.count
        else { return nil }
        self.init(cost: cost, salt: salt, key: key)
    }

    var text: String {
        "$scrypt$ln=\(cost.logN),r=\(cost.blockSize),p=\(cost.parallelism)"
            + "$\(Base64.encode(salt))$\(Base64.encode(key))"
    }

    private static func number(_ field: Substring, named name: String) -> Int? {
        guard field.hasPrefix(name + "=") else { return nil }
        let digits = field.dropFirst(name.count + 1)
        // `Int` would also accept a sign.
        guard digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int(digits)
    }
}
