// JSONText.swift - composed values in one column, as JSON text that SQL can read.
//
// Invariant: a date in it is the text that a column of its own would have, so that SQLite's date functions take what json_extract gives.

import Foundation

enum JSONText {
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            if let text = DateText.text(of: date) {
                try container.encode(text)
            } else {
                try container.encode(date.timeIntervalSince1970)
            }
        }
        return encoder
    }()

    private static let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            if let seconds = try? container.decode(Double.self) { return Date(timeIntervalSince1970: seconds) }
            let text = try container.decode(String.self)
            if let date = DateText.date(of: text) { return date }
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is no date")
        }
        return decoder
    }()

    static func encode(_ value: some Encodable) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func decode<T: Decodable>(_ type: T.Type, from text: Data) throws -> T {
        try decoder.decode(type, from: text)
    }
}
