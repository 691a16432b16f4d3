extension MonicaExamples {
    package static let currency =
        #"{ "id": #1, "object": = "currency", "iso": "USD", "name": "US Dollar", "symbol": "$" }"#

    static let currencies = """
        GET /currencies limited addition: Returns all currencies, by their ids.
        < 200 \(whole(currency, "/currencies"))

        GET /currencies/{id} limited addition: Returns a currency.
        > /currencies/1
        < 200 \(one(currency))
        ! 404 \(missing("currency"))
        """
}
