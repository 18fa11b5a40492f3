"""Kept INSERTs and UPDATEs whose rows break a NOT NULL ON CONFLICT ROLLBACK, one at times behind a NOT NULL ON CONFLICT REPLACE, run again."""
import sqlite3
db=sqlite3.connect('data.db',isolation_level=None)
for n,decl in enumerate(["a NOT NULL ON CONFLICT REPLACE DEFAULT 5, b, g AS (b+1) NOT NULL ON CONFLICT ROLLBACK",
  "a TEXT NOT NULL ON CONFLICT REPLACE DEFAULT word, b NOT NULL ON CONFLICT ROLLBACK",
  "a NOT NULL ON CONFLICT REPLACE DEFAULT NULL, b NOT NULL ON CONFLICT ROLLBACK DEFAULT 3",
  "a REAL NOT NULL ON CONFLICT REPLACE DEFAULT (abs(-7)), b INT NOT NULL ON CONFLICT ROLLBACK DEFAULT 3, g AS (a||b) CHECK (g<>'7.02')",
  "b NOT NULL ON CONFLICT IGNORE, a NOT NULL ON CONFLICT REPLACE DEFAULT 1, g AS (a+nullif(b,4)) NOT NULL ON CONFLICT ROLLBACK",
  "b NOT NULL ON CONFLICT FAIL, a NOT NULL ON CONFLICT REPLACE DEFAULT 1 UNIQUE ON CONFLICT ROLLBACK, g AS (a+nullif(b,4)) NOT NULL ON CONFLICT ROLLBACK",
  "a NOT NULL ON CONFLICT REPLACE DEFAULT 'x', b INT NOT NULL ON CONFLICT ROLLBACK, c CHECK (c<>3 OR typeof(a)='integer')"]):
    db.execute("CREATE TABLE t%d(%s)"%(n,decl))
    for s in ("INSERT INTO t%d(a,b) VALUES(?,?)","UPDATE t%d SET a=?, b=? WHERE rowid%%2=1","INSERT OR REPLACE INTO t%d(a,b) VALUES(?,?)","INSERT INTO t%d(a,b) SELECT ?,? UNION ALL SELECT 8,9","UPDATE OR FAIL t%d SET a=?, b=?"):
        s=s%n
        for args in [(1,1),(None,None),(2,2),(None,None),(None,3),(4,4),(None,2),(6,None)]:
            for begin in (0,1):
                try:
                    if begin: db.execute("BEGIN"); db.execute("INSERT INTO t%d(a,b) VALUES(9,9)"%n)
                except Exception as e: print('begin',e)
                try:
                    db.execute(s,args); print(s,args,'ok',db.in_transaction)
                except Exception as e: print(s,args,e,db.in_transaction)
                if db.in_transaction: db.execute("COMMIT")
        print(db.execute("SELECT * FROM t%d"%n).fetchall(), db.execute("PRAGMA integrity_check").fetchall())
