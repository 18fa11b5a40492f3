import Rootstock
import Testing

@Suite struct ValueTests {
    @Test func literalsAndConversionsMakeValues() {
        let literals: [Value] = [nil, 1, 1.5, "one", true, "\(1) plus"]
        #expect(literals == [.null, .integer(1), .real(1.5), .text("one"), .integer(1), .text("1 plus")])
        #expect(Value(UInt8(200)) == .integer(200))
        #expect(Value(Float(0.5)) == .real(0.5))
        #expect(Value([1, 2] as [UInt8]) == .blob([1, 2]))
        #expect(Value(String?.none) == .null)
        #expect(Value("a" as String?) == .text("a"))
        #expect(literals.map(\.storageClass) == ["null", "integer", "real", "text", "integer", "text"])
    }

    @Test func conversionIsExactOrFails() {
        #expect(Int8(databaseValue: 127) == 127)
        #expect(Int8(databaseValue: 128) == nil)
        #expect(UInt64(databaseValue: -1) == nil)
        #expect(Int(databaseValue: "1") == nil)
        #expect(Int(databaseValue: 1.0) == nil)
        #expect(Double(databaseValue: 3) == 3.0)
        #expect(Double(databaseValue: .integer((1 << 53) + 1)) == nil)
        #expect(Float(databaseValue: 0.1) == nil)
        #expect(Bool(databaseValue: 2) == true)
        #expect(String(databaseValue: nil) == nil)
        #expect(String?(databaseValue: nil) == .some(nil))
        #expect(String?(databaseValue: 1) == nil)
    }

    @Test func numbersAreWrittenAsSQLiteWritesThem() {
        #expect(0.1.sqlText(digits: 15) == "0.1")
        #expect(1e20.sqlText(digits: 15) == "1.0e+20")
        #expect(3.0.sqlText(digits: 15) == "3.0")
        #expect(0.1.sqlText(digits: 17) == "0.10000000000000001")
        #expect((-Double.infinity).sqlText(digits: 15) == "-1e999")
    }

    /// A name is found as SQLite compares names, however many there are; one in the same letters comes first.
    @Test func namesAreFoundInWideRows() {
        let names = (0..<300).map { $0 % 3 == 0 ? "column\($0)" : $0 % 3 == 1 ? "Spalte \($0) é" : "" }
        let row = Row(columnNames: names + ["a", "A", "a"], values: (0..<303).map { Value($0) })
        for (position, name) in names.enumerated() where !name.isEmpty {
            #expect(row[name] == Value(position))
            #expect(row[name.uppercased().replacing("É", with: "é")] == Value(position))
        }
        #expect(row[""] == 2 && row["a"] == 300 && row["A"] == 301)
        #expect(row["column1"] == nil && row["Spalte 1 É"] == nil)
        #expect(Row(columnNames: [], values: [])["a"] == nil)
        #expect(row == Row(columnNames: names + ["a", "A", "a"], values: row.values))
        #expect(row != Row(columnNames: names + ["a", "A", "b"], values: row.values))
    }

    @Test func rowsAreReadByNameAndPosition() throws {
        let row = Row(columnNames: ["id", "Title", "id"], values: [1, "one", 2])
        #expect(row["ID"] == 1)
        #expect(row["title"] == "one")
        #expect(row["nothing"] == nil)
        #expect(Array(row) == [1, "one", 2])
        #expect(try row.get("title", as: String.self) == "one")
        #expect(try row.get(2) as Int == 2)
        #expect(try databaseError { _ = try row.get("title", as: Int.self) }?.code == .mismatch)
        #expect(try databaseError { _ = try row.get("nothing", as: Int.self) }?.message == "no such column: nothing")
    }
}
