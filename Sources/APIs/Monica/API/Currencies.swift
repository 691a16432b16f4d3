import Contract

extension Monica {
    static let currencies = Section("Currencies", [ListCurrencies.self, Get<Currency>.self])

    /// `GET /currencies`: returns all currencies, by their ids. Amounts are in the currency of the account
    /// (``User/currency``).
    public struct ListCurrencies: Endpoint {
        public static let route = Route.get("/currencies")
        public typealias Output = APIResponse<[Currency]>

        public init() {}
    }

    /// A currency.
    public struct Currency: Resource, ReadByMembers, Identifiable {
        public static let plural = "currencies"
        public static let singular = "currency"

        /// The currency's id.
        public var id: Int
        /// The type of the object on the wire.
        public private(set) var object = "currency"
        /// The ISO 4217 code, such as `USD`.
        public var iso: String
        /// The name.
        public var name: String
        /// The symbol, such as `$`.
        public var symbol: String
        private init(derived: Never) { switch derived {} }
    }
}
