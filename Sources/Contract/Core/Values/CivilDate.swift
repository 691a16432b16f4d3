/// A date of the proleptic Gregorian calendar. Foundation's formatters take 25 µs per call; this takes a few
/// divisions.
struct CivilDate {
    var year: Int64
    var month: Int64
    var day: Int64

    /// Counts in eras of 400 years (146,097 days) and in years that begin on 1 March, so that the leap day comes last.
    init(daysSince1970: Int64) {
        let shifted = daysSince1970 + 719_468
        let (era, dayOfEra) = shifted.quotientAndRemainderFlooring(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Fails when the calendar has no such day.
    init?(year: Int64, month: Int64, day: Int64) {
        guard 1...12 ~= month, day >= 1 else { return nil }
        self.year = year
        self.month = month
        self.day = day
        let back = CivilDate(daysSince1970: daysSince1970)
        guard back.month == month, back.day == day else { return nil }
    }

    var daysSince1970: Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = marchYear.quotientAndRemainderFlooring(dividingBy: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension Int64 {
    func quotientAndRemainderFlooring(dividingBy divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
