-- Names of result columns: rowids, expressions over the schema tables and pragma functions, subqueries, views.
CREATE TABLE a(id INTEGER PRIMARY KEY, b); CREATE TABLE n(b); CREATE TABLE r(rowid, k INTEGER PRIMARY KEY); CREATE TABLE w(x PRIMARY KEY, y) WITHOUT ROWID; INSERT INTO a VALUES(3,'x'),(5,'y'); INSERT INTO n VALUES(1); INSERT INTO r VALUES(7,8);
SELECT sqlite_master.name FROM sqlite_schema; SELECT sqlite_master.name FROM sqlite_master; SELECT s.name FROM sqlite_schema s;
SELECT rowid FROM a; SELECT oid, _rowid_, "rowid", [oid] FROM a; SELECT a.rowid FROM a; SELECT x.rowid FROM a x; SELECT x.rowid, y.rowid FROM a x, a AS y LIMIT 1; SELECT main.a.rowid FROM a; SELECT rowid AS z FROM a; SELECT rowid z FROM a; SELECT rowid, * FROM a; SELECT DISTINCT rowid FROM a; SELECT ALL rowid FROM a ORDER BY id DESC; SELECT rowid+1, -rowid FROM a; SELECT max(rowid) FROM a; SELECT rowid FROM n; SELECT rowid, oid FROM r; SELECT n.rowid, a.rowid FROM n JOIN a ON a.id=3; SELECT n.rowid, a.rowid FROM a LEFT JOIN n USING(b) WHERE a.rowid=3;
SELECT * FROM (SELECT rowid FROM a); SELECT id FROM (SELECT rowid FROM a) WHERE id=5; SELECT q.id FROM (SELECT rowid, b FROM a) q; WITH t AS (SELECT rowid FROM a) SELECT id FROM t; WITH a AS (SELECT 1 AS rowid) SELECT rowid FROM a; WITH a(rowid) AS (VALUES(1)) SELECT rowid FROM a;
CREATE VIEW v AS SELECT rowid, b FROM a; SELECT * FROM v; SELECT id FROM v; CREATE TABLE c AS SELECT rowid, b FROM a; SELECT * FROM c; SELECT rowid FROM a UNION SELECT rowid FROM n ORDER BY id; SELECT rowid FROM n UNION ALL SELECT rowid FROM a ORDER BY rowid; SELECT (SELECT rowid FROM a LIMIT 1); SELECT EXISTS(SELECT rowid FROM a);
INSERT INTO a(b) VALUES('q') RETURNING rowid, oid, id; UPDATE a SET b=b||1 WHERE rowid=3 RETURNING rowid, a.rowid, b; DELETE FROM a WHERE rowid=5 RETURNING rowid; INSERT INTO n VALUES(4) RETURNING rowid; INSERT INTO a AS zz(b) VALUES('q') RETURNING rowid, oid;
SELECT rowid FROM a GROUP BY rowid HAVING rowid>3; SELECT rowid, count(*) FROM a GROUP BY 1; SELECT rowid FROM main.a WHERE b IS NOT DISTINCT FROM 'q'; SELECT b IS DISTINCT FROM 'q', rowid FROM a; SELECT a.rowid, json_each.value FROM a, json_each('[1]'); SELECT rowid FROM a WHERE id IN (SELECT rowid FROM a); SELECT rowid FROM v; SELECT rowid FROM w; SELECT rowid FROM (SELECT 1); SELECT nope.rowid FROM a;
SELECT (SELECT count(*) FROM sqlite_master) n, (SELECT 1 FROM sqlite_master) AS m, (SELECT 2 FROM sqlite_master) 'k', (SELECT 3 FROM sqlite_master) "z", CASE WHEN EXISTS(SELECT 1 FROM sqlite_master) THEN 1 END, CASE WHEN EXISTS(SELECT 1 FROM sqlite_master) THEN 1 END q, 1 IN (SELECT 1 FROM sqlite_master), (SELECT name FROM sqlite_master) COLLATE NOCASE, (SELECT name FROM sqlite_master) COLLATE NOCASE cc, (SELECT sql FROM sqlite_master) ISNULL, (SELECT sql FROM sqlite_master) ISNULL ii, NOT EXISTS (SELECT 1 FROM sqlite_master), count(*) FILTER (WHERE (SELECT 1 FROM sqlite_master)), sum(1) OVER (ORDER BY (SELECT 1 FROM sqlite_master)), (SELECT 1 FROM sqlite_master) /* c */ , (SELECT 1 FROM sqlite_master) -- d
, 5 FROM a;
SELECT count(*), sql LIKE '%x%' FROM sqlite_master; SELECT name || 'sqlite_x' FROM sqlite_master LIMIT 1; SELECT sqlite_version() = sqlite_version(), sqlite_source_id() IS NULL; SELECT sqlite_version() IS NULL x; SELECT length(sqlite_version())>1 AS a, a.b FROM a; SELECT 'sqlite_master', "sqlite_master" FROM sqlite_master LIMIT 1;
SELECT sum(1) OVER w FROM sqlite_master WINDOW w AS (ORDER BY name) LIMIT 1; SELECT (SELECT count(*) FROM a NOT INDEXED) FROM a NOT INDEXED LIMIT 1; SELECT a.b, (SELECT x FROM (SELECT count(*) AS x FROM sqlite_master)) FROM a LIMIT 1; SELECT * FROM sqlite_master AS m, (SELECT count(*) FROM sqlite_master) LIMIT 1;
SELECT seq FROM sqlite_sequence; CREATE TABLE au(k INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO au DEFAULT VALUES; SELECT seq, (SELECT max(seq) FROM sqlite_sequence), rowid FROM sqlite_sequence; SELECT sqlite_sequence.seq FROM sqlite_sequence; UPDATE sqlite_sequence SET seq=10 WHERE name='au'; INSERT INTO au DEFAULT VALUES RETURNING k; DELETE FROM sqlite_sequence; INSERT INTO au DEFAULT VALUES RETURNING rowid; SELECT * FROM sqlite_sequence WHERE name='au' OR (name) IN (SELECT name FROM sqlite_sequence);
-- Lines that end as on Windows.
SELECT count(*)
FROM a;
SELECT count(*)	 FROM n;
-- A row value sought in a list, in a subquery of a result column.
CREATE TABLE placed(x INTEGER PRIMARY KEY, y TEXT, z);
INSERT INTO placed VALUES (1, 'a', 2), (2, 'B', 3);
SELECT x, (SELECT count(*) FROM placed WHERE (y, z) IN (SELECT y, z FROM placed)) FROM placed;
SELECT x, (SELECT count(*) FROM placed AS p WHERE (p.y, placed.z) IN (VALUES ('a', 2), ('B', 3))), 5 FROM placed;
SELECT EXISTS (SELECT 1 FROM placed WHERE (x, y) IN (SELECT 1, 'a')), (x, z) IN (SELECT 1, 2) FROM placed;
SELECT * FROM (SELECT x, EXISTS (SELECT 1 FROM placed WHERE (x, y) IN (SELECT 1, 'a')) FROM placed);
CREATE TABLE copied AS SELECT EXISTS (SELECT 1 FROM placed WHERE (x, y) IN (SELECT 1, 'a')) FROM placed;
SELECT * FROM copied;
UPDATE placed SET z = z + 1 RETURNING x, (SELECT count(*) FROM placed AS p WHERE (p.x, p.y) IN (SELECT 1, 'a'));
-- A rowid in parentheses has its column's name all the same.
SELECT (x), (rowid), ((placed.rowid)) FROM placed ORDER BY 1;
SELECT (rowid) FROM placed UNION ALL SELECT 7 ORDER BY (rowid);
