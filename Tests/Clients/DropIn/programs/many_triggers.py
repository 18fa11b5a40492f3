# Many triggers and views, of all kinds and with all kinds of names, on a database that is opened again and again.
import sqlite3


def show(db, sql, *values):
    try:
        print(sql[:60], db.execute(sql, values).fetchall())
    except sqlite3.Error as error:
        print(sql[:60], type(error).__name__, error)


def opened():
    return sqlite3.connect('data.db', isolation_level=None)


db = opened()
db.executescript('''
    CREATE TABLE log (id INTEGER PRIMARY KEY, who, what);
    CREATE TABLE "a table" (id INTEGER PRIMARY KEY, "the value" TEXT COLLATE NOCASE, n REAL);
    CREATE TABLE [w] (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
    CREATE VIEW "a view" ("first", second) AS SELECT id, "the value" FROM "a table";
    CREATE VIEW [v;2] AS SELECT ';' AS semicolon, k FROM w -- with a comment
    ;
    CREATE VIEW IF NOT EXISTS v3 AS WITH c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 3) SELECT x FROM c;
    CREATE TRIGGER "on view" INSTEAD OF INSERT ON "a view" BEGIN
        INSERT INTO "a table" ("the value") VALUES (new.second); END;
    CREATE TRIGGER IF NOT EXISTS main.[t;1] AFTER UPDATE OF v ON w FOR EACH ROW WHEN new.v IS NOT old.v BEGIN
        INSERT INTO log (who, what) SELECT 't;1', CASE WHEN new.v > 5 THEN 'more' ELSE 'less' END; END /* behind */;
    CREATE TEMP TRIGGER passing AFTER DELETE ON "a table" BEGIN INSERT INTO log (who, what) VALUES ('temp', old.id); END;
''')
for number in range(60):
    event = ('INSERT', 'DELETE', 'UPDATE OF n')[number % 3]
    row = 'old' if number % 3 == 1 else 'new'
    db.execute('CREATE TRIGGER "trigger %d" %s %s ON "a table" WHEN %s.id %% 10 = %d BEGIN '
               "INSERT INTO log (who, what) VALUES (%d, %s.\"the value\"); END"
               % (number, ('BEFORE', 'AFTER')[number % 2], event, row, number % 10, number, row))
# Longer than a page of the schema table has room for.
db.execute("CREATE TRIGGER long AFTER INSERT ON w BEGIN INSERT INTO log (who, what) VALUES ('long', length('%s')); END"
           % ('x' * 6000))
for number in range(60):
    db.execute('CREATE VIEW "view %d" AS SELECT count(*) AS n FROM "a table" WHERE id > %d' % (number, number))

for turn in range(3):
    db.close()
    db = opened()
    print(db.total_changes)
    show(db, "SELECT count(*), sum(length(sql)), group_concat(name) FROM (SELECT * FROM sqlite_master ORDER BY rowid)")
    show(db, 'INSERT INTO "a view" (second) VALUES (?), (?)', 'Text %d' % turn, 'other')
    show(db, 'INSERT INTO "a table" ("the value", n) VALUES (?, 1.5)', 'direct')
    show(db, 'UPDATE "a table" SET n = id')
    show(db, "INSERT INTO w VALUES (?, ?)", 'key %d' % turn, turn)
    show(db, 'UPDATE w SET v = v + 5')
    show(db, 'DELETE FROM "a table" WHERE id % 5 = 2')
    show(db, 'SELECT * FROM log')
    show(db, 'SELECT * FROM "view 3", v3, "v;2"')
    show(db, 'SELECT changes(), total_changes(), last_insert_rowid()')
    show(db, 'DROP TRIGGER "trigger %d"' % turn)
    show(db, 'DROP VIEW "view %d"' % turn)
    show(db, 'CREATE TRIGGER "again %d" AFTER INSERT ON log WHEN new.who = 1 BEGIN SELECT RAISE(IGNORE); END' % turn)
    show(db, 'PRAGMA integrity_check')
db.execute('BEGIN')
db.execute('ALTER TABLE "a table" RENAME TO renamed')
db.execute('DROP VIEW v3')
db.execute('ROLLBACK')
show(db, 'INSERT INTO "a table" VALUES (1010, 1, 2)')
db.execute('ALTER TABLE "a table" RENAME TO renamed')
db.close()
db = opened()
show(db, 'INSERT INTO renamed VALUES (1020, 1, 2)')
show(db, 'SELECT * FROM log WHERE id > (SELECT max(id) - 4 FROM log)')
show(db, 'SELECT name, tbl_name, sql FROM sqlite_master WHERE type IN (?, ?)', 'view', 'trigger')
