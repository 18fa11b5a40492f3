// DateText.swift - SQLite's text forms of a point in time, read and written without a formatter.
//
// Invariant: what `text(of:)` writes, `date(of:)` reads as the same millisecond.

import Foundation

enum DateText {
    /// `2026-11-23 07:44:02.125`, in UTC; `nil` outside the years 0 to 9999.
    static func text(of date: Date) -> String? {
        let exact = (date.timeIntervalSince1970 * 1000).rounded()
        guard exact >= -62_167_219_200_000, exact < 253_402_300_800_000 else { return nil }
        let milliseconds = Int64(exact)
        let (days, time) = floorDivide(milliseconds, 86_400_000)
        let (year, month, day) = civil(days)
        var text = ""
        text.reserveCapacity(23)
        func append(_ number: Int64, _ width: Int, _ separator: String = "") {
            let digits = String(number)
            text += String(repeating: "0", count: width - digits.count) + digits + separator
        }
        append(year, 4, "-")
        append(month, 2, "-")
        append(day, 2, " ")
        append(time / 3_600_000, 2, ":")
        append(time / 60_000 % 60, 2, ":")
        append(time / 1000 % 60, 2, ".")
        append(time % 1000, 3)
        return text
    }

    /// The point in time that `text` tells, or `nil` if it has none of the forms. Without a zone it is UTC.
    static func date(of text: String) -> Date? {
        var text = text
        return text.withUTF8 { bytes in
            var reader = Reader(bytes: bytes)
            guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), (1...12).contains(month),
                reader.skip("-"), let day = reader.number(2), (1...31).contains(day)
            else { return nil }
            var seconds = Double(days(year, month, day)) * 86_400
            if reader.isAtEnd { return Date(timeIntervalSince1970: seconds) }
            guard reader.skip(" ") || reader.skip("T"), let hour = reader.number(2), hour < 24, reader.skip(":"),
                let minute = reader.number(2), minute < 60
            else { return nil }
            seconds += Double(hour * 3600 + minute * 60)
            if reader.skip(":") {
                guard let second = reader.number(2), second < 60 else { return nil }
                seconds += Double(second)
                if reader.skip(".") {
                    guard let fraction = reader.fraction() else { return nil }
                    seconds += fraction
                }
            }
            guard let offset = reader.zone(), reader.isAtEnd else { return nil }
            return Date(timeIntervalSince1970: seconds - Double(offset))
        }
    }

    private struct Reader {
        let bytes: UnsafeBufferPointer<UInt8>
        var position = 0

        var isAtEnd: Bool { position == bytes.count }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        mutating func digit() -> Int64? {
            guard position < bytes.count, (0x30...0x39).contains(bytes[position]) else { return nil }
            defer { position += 1 }
            return Int64(bytes[position] - 0x30)
        }

        mutating func number(_ width: Int) -> Int64? {
            var number: Int64 = 0
            for _ in 0..<width {
                guard let digit = digit() else { return nil }
                number = number * 10 + digit
            }
            return number
        }

        /// The digits behind the point, of which those beyond the fifteenth tell nothing.
        mutating func fraction() -> Double? {
            guard var number = digit() else { return nil }
            var scale: Double = 10
            var count = 1
            while let digit = digit() {
                count += 1
                guard count <= 15 else { continue }
                number = number * 10 + digit
                scale *= 10
            }
            return Double(number) / scale
        }

        /// Seconds east of UTC: 0 without a zone and for `Z`.
        mutating func zone() -> Int64? {
            while skip(" ") {}
            if isAtEnd || skip("Z") || skip("z") { return 0 }
            let isWest = skip("-")
            guard isWest || skip("+"), let hours = number(2), hours < 15, skip(":"), let minutes = number(2),
                minutes < 60
            else { return nil }
            return (hours * 3600 + minutes * 60) * (isWest ? -1 : 1)
        }
    }

    private static func floorDivide(_ number: Int64, _ divisor: Int64) -> (Int64, Int64) {
        let rest = (number % divisor + divisor) % divisor
        return ((number - rest) / divisor, rest)
    }

    /// Days since 1970-01-01 of a date of the Gregorian calendar. Years begin in March, so that a leap day is the last one.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let (era, ofEra) = floorDivide(year, 400)
        let ofYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }

    /// The date of the Gregorian calendar, from days since 1970-01-01.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, ofEra) = floorDivide(days + 719_468, 146_097)
        let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * year + year / 4 - year / 100)
        let month = (5 * ofYear + 2) / 153
        let day = ofYear - (153 * month + 2) / 5 + 1
        let civilMonth = month < 10 ? month + 3 : month - 9
        return (year + era * 400 + (civilMonth <= 2 ? 1 : 0), civilMonth, day)
    }
}
