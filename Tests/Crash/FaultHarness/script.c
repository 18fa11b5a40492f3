/* script.c - the statements that are interrupted: every way in which a store is read and changed. */
#include "session.h"

#define LONG_TEXT "printf('%.*c', 600, 'k')"

const char script_setup[] =
    "CREATE TABLE account (id INTEGER PRIMARY KEY, owner TEXT NOT NULL UNIQUE, balance INTEGER NOT NULL CHECK (balance "
    ">= 0));"
    "CREATE TABLE transfer (id INTEGER PRIMARY KEY AUTOINCREMENT, source INTEGER REFERENCES account (id),"
    " target INTEGER REFERENCES account (id) ON DELETE CASCADE, amount INTEGER);"
    "CREATE INDEX transferBySource ON transfer (source, amount DESC);"
    "CREATE TABLE note (k TEXT PRIMARY KEY, v, n INTEGER GENERATED ALWAYS AS (length(v)) VIRTUAL) WITHOUT ROWID;"
    "CREATE INDEX noteByLength ON note (n);"
    "CREATE TABLE log (line TEXT);"
    "CREATE TRIGGER transferred AFTER INSERT ON transfer BEGIN"
    " INSERT INTO log VALUES (new.source || ' to ' || new.target || ': ' || new.amount); END;"
    "CREATE VIEW rich AS SELECT owner FROM account WHERE balance > 900;"
    "INSERT INTO account (owner, balance) VALUES ('a', 1000), ('b', 1000), ('c', 1000);";

const unit script[] = {
    {"INSERT INTO account (owner, balance) VALUES ('d', 1000), ('e', 1000), ('f', 50)", false},
    {"BEGIN; UPDATE account SET balance = balance - 100 WHERE owner = 'a'; UPDATE account SET balance = balance + 100 "
     "WHERE "
     "owner = 'b'; INSERT INTO transfer (source, target, amount) VALUES (1, 2, 100); COMMIT",
     false},
    {"SELECT owner, balance, (SELECT count(*) FROM transfer WHERE source = account.id) FROM account WHERE balance "
     "BETWEEN 0 "
     "AND 1100 ORDER BY balance DESC, owner",
     false},
    {"INSERT INTO note (k, v) VALUES ('short', 'text'), (" LONG_TEXT " || '1', zeroblob(20000)), (" LONG_TEXT
     " || '2', 3.5), (" LONG_TEXT " || '0', NULL)",
     false},
    {"INSERT INTO account (owner, balance) VALUES ('a', 1) ON CONFLICT (owner) DO UPDATE SET balance = balance + "
     "excluded.balance RETURNING owner, balance",
     false},
    {"SAVEPOINT outside; DELETE FROM transfer; SAVEPOINT inside; UPDATE note SET v = 'changed' WHERE k LIKE 'kk%'; "
     "ROLLBACK TO "
     "outside; INSERT INTO log VALUES ('savepoints'); RELEASE outside",
     false},
    {"INSERT OR IGNORE INTO account VALUES (1, 'x', 1), (7, 'b', 1), (8, 'g', 8)", false},
    {"INSERT OR REPLACE INTO account VALUES (6, 'f', 60), (9, 'g', 9)", false},
    {"INSERT INTO account VALUES (10, 'h', 10), (11, 'h', 11)", true},
    {"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) INSERT INTO transfer (source, "
     "target, "
     "amount) SELECT i % 5 + 1, (i + 1) % 5 + 1, i FROM n",
     false},
    {"SELECT source, sum(amount), group_concat(target) FROM transfer JOIN account ON account.id = source GROUP BY "
     "source "
     "ORDER BY 1",
     false},
    {"SELECT amount FROM transfer WHERE source IN (1, 3) ORDER BY source, amount DESC LIMIT 5", false},
    /* Transient indexes: in a snapshot, and in the write transaction. */
    {"SELECT t.id, count(u.id), sum(u.source) FROM transfer AS t CROSS JOIN transfer AS u ON u.amount = t.target AND "
     "u.target = t.source "
     "GROUP BY t.id ORDER BY 1",
     false},
    {"BEGIN; INSERT INTO log SELECT id FROM transfer; SELECT count(*) FROM log CROSS JOIN transfer AS t ON t.target = "
     "log.line; COMMIT",
     false},
    {"SELECT DISTINCT n FROM note WHERE n > 3 UNION SELECT id FROM account ORDER BY 1", false},
    {"CREATE TABLE extra (a INTEGER, b TEXT COLLATE NOCASE, UNIQUE (b))", false},
    {"BEGIN IMMEDIATE; SELECT count(*) FROM extra; INSERT INTO extra SELECT id, owner FROM account; COMMIT", false},
    {"CREATE INDEX extraByA ON extra (a DESC)", false},
    {"ALTER TABLE extra ADD COLUMN c TEXT DEFAULT 'new'", false},
    {"ALTER TABLE extra RENAME COLUMN a TO number", false},
    {"UPDATE extra SET number = number + 100, b = b || b WHERE number < 5", false},
    {"UPDATE account SET id = id + 100 WHERE owner IN ('e', 'f', 'g')", true},
    {"BEGIN; DELETE FROM transfer WHERE target = 5 OR source = 5; DELETE FROM account WHERE owner = 'e'; COMMIT",
     false},
    {"BEGIN; CREATE TABLE two (a PRIMARY KEY) WITHOUT ROWID; INSERT INTO two VALUES (1), ('1'), (NULL)", true},
    {"BEGIN; CREATE TABLE two (a PRIMARY KEY) WITHOUT ROWID; INSERT INTO two VALUES (1), ('1'), (x'31'); CREATE INDEX "
     "twoA ON "
     "two (a); COMMIT",
     false},
    {"ANALYZE", false},
    {"CREATE TRIGGER noted AFTER UPDATE OF v ON note WHEN old.v IS NOT new.v BEGIN INSERT INTO log VALUES (old.k); END",
     false},
    {"UPDATE note SET v = coalesce(v, '') || 'z' WHERE k >= 'k'", false},
    {"REINDEX", false},
    {"PRAGMA table_info (extra); PRAGMA index_list (transfer); PRAGMA foreign_key_check; PRAGMA integrity_check",
     false},
    {"ALTER TABLE extra RENAME TO other", false},
    {"ALTER TABLE other DROP COLUMN c", false},
    {"DROP INDEX extraByA", false},
    {"DROP TRIGGER noted", false},
    {"DELETE FROM account WHERE owner = 'c'", true},
    {"DELETE FROM log", false},
    {"DROP TABLE other", false},
    {"UPDATE account SET balance = (SELECT total(amount) FROM transfer WHERE target = account.id) RETURNING id, "
     "balance",
     false},
};

const int script_count = (int)(sizeof script / sizeof script[0]);
