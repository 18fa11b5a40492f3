import Rootstock
import Testing

@testable import OwnData

@Suite struct WorkloadFileTests {
    private func read(_ text: String) throws -> WorkloadFile { try WorkloadFile(text: text, name: "q.sql") }

    @Test func everyDirectiveIsRead() throws {
        let file = try read(
            """
            -- remarks are remarks; so is this: and -- this
            -- pragma: foreign_keys = ON
            /* -- weight: 7 */
            -- name: open
            -- weight: 20
            -- repeat: 500
            -- :id = sample(article.uniqueID)
            SELECT ';' || ":no", [x;y] FROM article WHERE uniqueID = :id ORDER BY 1;
            -- order: any
            -- :low, :high = range("odd ""t x".[a b], 0.25)
            SELECT * FROM (SELECT 1) WHERE a BETWEEN :low AND :high ORDER BY 2;
            -- :who = zipf(author.id, 1.2)
            -- transaction: save
            -- :n = uniform(1, 6)
            -- :r = uniform(0.5, 2)
            -- times: 3
            INSERT INTO t VALUES (:who, :n, :r);
            -- $s = sequence(-5)
            -- @t = text(8)
            -- :b = blob(4)
            -- :c = choose('it''s', NULL, 3, -1.5)
            -- :x = next(t.id)
            UPDATE t SET a = $s, b = @t, c = :b, d = :c, e = :x WHERE f = :who
            -- end
            """)
        #expect(file.pragmas == ["foreign_keys = on"])
        #expect(file.operations.map(\.name) == ["open", "statement 2", "save"])
        let open = file.operations[0]
        #expect(open.weight == 20 && open.repeats == 500 && !open.writes && !open.isTransaction)
        #expect(open.statements[0].parameters.map(\.draw) == [.sample(table: "article", columns: ["uniqueID"])])
        #expect(open.statements[0].isOrdered && open.statements[0].line == 8)
        let second = file.operations[1]
        #expect(second.weight == 1 && second.repeats == nil && !second.statements[0].isOrdered)
        #expect(second.statements[0].parameters[0].draw == .range(table: "odd \"t x", column: "a b", fraction: 0.25))
        let save = file.operations[2]
        #expect(save.isTransaction && save.writes && save.statements.map(\.times) == [3, 1])
        #expect(save.parameters.map(\.names) == [[":who"]])
        #expect(save.parameters[0].draw == .zipf(table: "author", column: "id", exponent: 1.2))
        #expect(save.statements[0].parameters.map(\.draw) == [.uniform(1...6), .uniformReal(0.5...2)])
        #expect(
            save.statements[1].parameters.map(\.draw) == [
                .sequence(-5), .text(8), .blob(4),
                .choose([.text("it's"), .null, .integer(3), .real(-1.5)]), .next(table: "t", column: "id"),
            ])
    }

    /// Each fault names its line and what to write.
    @Test(arguments: [
        ("SELECT :id", 1, "parameter :id has no value: write '-- :id = sample(table.column)'"),
        ("\nSELECT ?", 2, "give the parameter '?' a name"),
        ("-- :x = sample(a.b)\nSELECT 1", 1, "the statement below has no parameter :x"),
        ("-- :x = sample(a)\nSELECT :x", 1, "'sample' takes table.column"),
        ("-- :x, :y = sample(a.b)\nSELECT :x, :y", 1, "gives 1 value here, and 2 parameters are named"),
        ("-- :x = range(a.b, 0.1)\nSELECT :x", 1, "gives 2 values here, and 1 parameter is named"),
        ("-- :x, :y = sample(a.b, c.d)\nSELECT :x, :y", 1, "those of one table, here a"),
        ("-- :x = dice(6)\nSELECT :x", 1, "there is no draw 'dice'; there are sample"),
        ("-- :x = uniform(9, 1)\nSELECT :x", 1, "the smaller number first"),
        ("-- :x = range(a.b, 3)\nSELECT :x", 1, "above 0 and at most 1"),
        ("-- :x = sample(a.b\nSELECT :x", 1, "a ')' is missing"),
        ("-- :x sample(a.b)\nSELECT :x", 1, "write ':name = draw(...)'"),
        ("-- :x = sample(a.b) twice\nSELECT :x", 1, "nothing follows"),
        ("-- :x = text(1)\n-- :x = text(2)\nSELECT :x", 2, "has been given a value already"),
        ("-- wieght: 5\nSELECT 1", 1, "there is no directive 'wieght'; there are name, weight"),
        ("-- weight: many\nSELECT 1", 1, "takes a whole number above 0"),
        ("-- weight: 0\nSELECT 1", 1, "takes a whole number above 0"),
        ("-- times: 3\nSELECT 1", 1, "outside write '-- repeat: 3'"),
        ("-- order: none\nSELECT 1", 1, "write '-- order: any'"),
        ("-- pragma: cache_size = 5\nSELECT 1", 1, "--configuration"),
        ("SELECT 1;\n-- pragma: foreign_keys = on\nSELECT 2", 2, "top of the file"),
        ("BEGIN; SELECT 1; COMMIT", 1, "'-- transaction: name' and '-- end'"),
        ("CREATE TABLE t (a)", 1, "cannot be measured over and over"),
        ("PRAGMA foreign_keys = on", 1, "write '-- pragma:"),
        ("-- transaction: t\nSELECT 1", 1, "write '-- end'"),
        ("-- transaction: t\n-- transaction: u\n", 2, "a transaction is open already"),
        ("-- transaction: t\n-- end", 1, "holds no statement"),
        ("-- end\nSELECT 1", 1, "without a '-- transaction:'"),
        ("-- transaction: t\n-- weight: 2\nSELECT 1;\n-- end", 3, "above '-- transaction:'"),
        ("-- :x = text(1)\n-- transaction: t\nSELECT 1;\n-- end", 1, "no statement of the transaction has"),
        ("SELECT 1; -- weight: 3\nSELECT 2", 1, "move it up"),
        ("SELECT 1;\n-- weight: 3\n", 2, "has no statement below it"),
        ("-- name: a\nSELECT 1;\n-- name: A\nSELECT 2", 4, "the name of line 2 already"),
        ("-- name: mix\nSELECT 1", 2, "all operations together"),
        ("SELECT 'open", 1, "the quotation is not closed"),
        ("/* open", 1, "the comment is not closed"),
        ("-- nothing here", 1, "'rootstock suggest' writes one"),
    ])
    func aFaultNamesItsLineAndWhatToWrite(text: String, line: Int, words: String) {
        let error = #expect(throws: WorkloadFileError.self) { try read(text) }
        #expect(error?.description.hasPrefix("q.sql:\(line): ") == true, "\(error?.description ?? "")")
        #expect(error?.message.contains(words) == true, "\(error?.description ?? "")")
    }

    @Test func namesInsideQuotesAndCommentsAreNotParameters() {
        #expect(SQLTokens.parameters("SELECT ':a', \":b\", /* :c */ :d -- :e\n, @f, $g") == [":d", "@f", "$g"])
        #expect(SQLTokens.mentions("SELECT * FROM \"a\"\"b\" JOIN [c d]", "A\"B"))
        #expect(SQLTokens.mentions("SELECT * FROM [c d]", "c d"))
        #expect(!SQLTokens.mentions("SELECT 1 -- search", "search"))
        #expect(!SQLTokens.ordersItsRows("SELECT row_number() OVER (ORDER BY a) FROM (SELECT 1 ORDER BY 1)"))
    }

    @Test func calibratedCountsAreRound() {
        #expect([1, 3, 7, 19, 20, 55, 999, 100_000].map(OwnData.roundedDown) == [1, 2, 5, 10, 20, 50, 500, 100_000])
    }
}
