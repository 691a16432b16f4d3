import Backend
import Contract
import ContractServer
import MonicaAPI

extension MonicaService {
    func currencies(_ routes: inout Routes<Monica, Caller>) {
        routes.on { (_: Monica.ListCurrencies, caller: Caller) in try await self.all(for: caller) }
        routes.on { (request: Monica.Get<Monica.Currency>, caller: Caller) in
            try await self.one(request.id, for: caller)
        }
    }
}

/// The currencies of ISO 4217 that are in use, with their usual English names. They are written here because the names and
/// symbols of a system's locales differ from machine to machine. The id of each is its place, from 1, so that new ones come
/// last.
enum Currencies {
    static let all = table.split(separator: ";").enumerated().map { index, entry in
        let words = entry.split(maxSplits: 2, whereSeparator: \.isWhitespace).map(String.init)
        return Monica.Currency(id: index + 1, iso: words[0], name: words[2], symbol: words[1])
    }

    private static let table = """
        USD $ US Dollar;AED Dh UAE Dirham;AFN ؋ Afghan Afghani;ALL L Albanian Lek;AMD ֏ Armenian Dram;
        AOA Kz Angolan Kwanza;ARS $ Argentine Peso;AUD $ Australian Dollar;AWG ƒ Aruban Florin;
        AZN ₼ Azerbaijani Manat;BAM KM Bosnia-Herzegovina Convertible Mark;BBD $ Barbadian Dollar;
        BDT ৳ Bangladeshi Taka;BHD BD Bahraini Dinar;BIF FBu Burundian Franc;BMD $ Bermudian Dollar;
        BND $ Brunei Dollar;BOB Bs Bolivian Boliviano;BRL R$ Brazilian Real;BSD $ Bahamian Dollar;
        BTN Nu. Bhutanese Ngultrum;BWP P Botswana Pula;BYN Br Belarusian Rouble;BZD $ Belize Dollar;
        CAD $ Canadian Dollar;CDF FC Congolese Franc;CHF CHF Swiss Franc;CLP $ Chilean Peso;CNY ¥ Chinese Yuan;
        COP $ Colombian Peso;CRC ₡ Costa Rican Colón;CUP $ Cuban Peso;CVE $ Cape Verdean Escudo;CZK Kč Czech Koruna;
        DJF Fdj Djiboutian Franc;DKK kr Danish Krone;DOP $ Dominican Peso;DZD DA Algerian Dinar;EGP E£ Egyptian Pound;
        ERN Nfk Eritrean Nakfa;ETB Br Ethiopian Birr;EUR € Euro;FJD $ Fijian Dollar;FKP £ Falkland Islands Pound;
        GBP £ British Pound;GEL ₾ Georgian Lari;GHS ₵ Ghanaian Cedi;GIP £ Gibraltar Pound;GMD D Gambian Dalasi;
        GNF FG Guinean Franc;GTQ Q Guatemalan Quetzal;GYD $ Guyanese Dollar;HKD $ Hong Kong Dollar;
        HNL L Honduran Lempira;HTG G Haitian Gourde;HUF Ft Hungarian Forint;IDR Rp Indonesian Rupiah;
        ILS ₪ Israeli Shekel;INR ₹ Indian Rupee;IQD ID Iraqi Dinar;IRR IR Iranian Rial;ISK kr Icelandic Króna;
        JMD $ Jamaican Dollar;JOD JD Jordanian Dinar;JPY ¥ Japanese Yen;KES KSh Kenyan Shilling;KGS ⃀ Kyrgyzstani Som;
        KHR ៛ Cambodian Riel;KMF CF Comorian Franc;KPW ₩ North Korean Won;KRW ₩ South Korean Won;KWD KD Kuwaiti Dinar;
        KYD $ Cayman Islands Dollar;KZT ₸ Kazakhstani Tenge;LAK ₭ Lao Kip;LBP L£ Lebanese Pound;
        LKR Rs Sri Lankan Rupee;LRD $ Liberian Dollar;LSL L Lesotho Loti;LYD LD Libyan Dinar;MAD DH Moroccan Dirham;
        MDL L Moldovan Leu;MGA Ar Malagasy Ariary;MKD ден Macedonian Denar;MMK K Myanmar Kyat;MNT ₮ Mongolian Tögrög;
        MOP MOP$ Macanese Pataca;MRU UM Mauritanian Ouguiya;MUR Rs Mauritian Rupee;MVR Rf Maldivian Rufiyaa;
        MWK MK Malawian Kwacha;MXN $ Mexican Peso;MYR RM Malaysian Ringgit;MZN MT Mozambican Metical;
        NAD $ Namibian Dollar;NGN ₦ Nigerian Naira;NIO C$ Nicaraguan Córdoba;NOK kr Norwegian Krone;
        NPR Rs Nepalese Rupee;NZD $ New Zealand Dollar;OMR RO Omani Rial;PAB B/. Panamanian Balboa;
        PEN S/ Peruvian Sol;PGK K Papua New Guinean Kina;PHP ₱ Philippine Peso;PKR Rs Pakistani Rupee;
        PLN zł Polish Złoty;PYG ₲ Paraguayan Guaraní;QAR QR Qatari Riyal;RON lei Romanian Leu;RSD din Serbian Dinar;
        RUB ₽ Russian Rouble;RWF RF Rwandan Franc;SAR SR Saudi Riyal;SBD $ Solomon Islands Dollar;
        SCR Rs Seychellois Rupee;SDG LS Sudanese Pound;SEK kr Swedish Krona;SGD $ Singapore Dollar;
        SHP £ Saint Helena Pound;SLE Le Sierra Leonean Leone;SOS Sh Somali Shilling;SRD $ Surinamese Dollar;
        SSP £ South Sudanese Pound;STN Db São Tomé and Príncipe Dobra;SVC ₡ Salvadoran Colón;SYP LS Syrian Pound;
        SZL E Swazi Lilangeni;THB ฿ Thai Baht;TJS SM Tajikistani Somoni;TMT m Turkmenistani Manat;
        TND DT Tunisian Dinar;TOP T$ Tongan Paʻanga;TRY ₺ Turkish Lira;TTD $ Trinidad and Tobago Dollar;
        TWD NT$ New Taiwan Dollar;TZS TSh Tanzanian Shilling;UAH ₴ Ukrainian Hryvnia;UGX USh Ugandan Shilling;
        UYU $ Uruguayan Peso;UZS soʻm Uzbekistani Soʻm;VES Bs Venezuelan Bolívar;VND ₫ Vietnamese Đồng;
        VUV VT Vanuatu Vatu;WST T Samoan Tālā;XAF FCFA Central African CFA Franc;XCD $ East Caribbean Dollar;
        XCG Cg Caribbean Guilder;XOF CFA West African CFA Franc;XPF ₣ CFP Franc;YER YR Yemeni Rial;
        ZAR R South African Rand;ZMW K Zambian Kwacha;ZWG ZiG Zimbabwe Gold
        """
}

extension Monica.Currency: AccountList {
    static func all(by loader: RecordLoader) throws -> [Self] { Currencies.all }
}
