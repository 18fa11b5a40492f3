"""Keys, UNIQUE and indexes under collations of the program's own: random tables, changes and queries, and a parent's key under one.

Keeps off what natively depends on the plan: the order of UPDATE OR IGNORE, and automatic indexes, whose Bloom filter takes two texts of
different lengths for different ones."""
import random
import re
import sqlite3


def compare(a, b):
    return (a > b) - (a < b)


def natural(text):
    return [(0, int(t), '') if t.isdigit() else (1, 0, t) for t in re.findall('[0-9]+|[^0-9]+', text)]


COLLATIONS = {'backwards': lambda a, b: compare(b, a), 'fold': lambda a, b: compare(a.casefold(), b.casefold()),
              'digits': lambda a, b: compare(natural(a), natural(b)), 'length': lambda a, b: compare(len(a), len(b))}
COLLATED = [''] + [' COLLATE ' + name for name in COLLATIONS]


def connect(name):
    connection = sqlite3.connect(name, isolation_level=None)
    connection.execute('PRAGMA automatic_index=off')
    for collation in COLLATIONS.items():
        connection.create_collation(*collation)
    return connection


class Run:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.name = 'own%d.db' % seed
        self.connection = connect(self.name)
        self.tables = []

    def one(self, *choices):
        return self.random.choice(choices)

    def value(self):
        kind = self.random.random()
        if kind < .08:
            return 'NULL'
        if kind < .2:
            return self.one('-3', '0', '7', '12', '2.5', "x'00'", "x'61'")
        if kind < .4:
            return "'%s'" % self.one('1', '01', '1.0', '-3', '7', '12', '9', ' 5', '1e1', '', '0')
        return "'%s'" % ''.join(self.one(*'aAbBcC012zZ é') * self.one(1, 1, 1, 60) for _ in range(self.one(1, 1, 2, 3)))

    def create(self, number):
        columns = ['c%d %s%s%s' % (i, self.one('TEXT', 'TEXT', '', 'INT', 'NUMERIC', 'BLOB'), self.one(*COLLATED),
                                   self.one('', '', '', '', '', ' UNIQUE')) for i in range(4)]
        key = self.random.sample(range(4), self.one(1, 1, 2))
        without = self.one('', ' WITHOUT ROWID', ' WITHOUT ROWID')
        if without or self.one(True, False):
            columns.append('PRIMARY KEY(%s)' % ', '.join('c%d%s%s' % (i, self.one('', ' COLLATE fold'), self.one('', ' DESC')) for i in key))
        self.tables.append('t%d' % number)
        return 'CREATE TABLE t%d(%s)%s' % (number, ', '.join(columns), without)

    def index(self):
        parts = ['%s%s%s' % (self.one('c%d', 'c%d', 'c%d', 'lower(c%d)') % i, self.one(*COLLATED), self.one('', ' DESC'))
                 for i in self.random.sample(range(4), self.one(1, 1, 2, 3))]
        return 'CREATE %sINDEX i%d ON %s(%s)%s' % (self.one('', '', '', 'UNIQUE '), self.random.randrange(8), self.one(*self.tables),
                                                  ', '.join(parts), self.one('', '', '', ' WHERE c1 > 5', " WHERE c2 < 'b'"))

    def condition(self, of=''):
        column = '%sc%d' % (of, self.random.randrange(4))
        return self.one('%s %s %s%s' % (column, self.one('=', '=', '<', '<=', '>', '>=', 'IS', '<>'), self.value(), self.one('', '', *COLLATED)),
                        '%s BETWEEN %s AND %s' % (column, self.value(), self.value()),
                        '%s IN (%s)' % (column, ', '.join(self.value() for _ in range(3))),
                        '%s %s %sc%d' % (column, self.one('=', '<'), of, self.random.randrange(4)))

    def statement(self):
        table, other, column = self.one(*self.tables), self.one(*self.tables), 'c%d' % self.random.randrange(4)
        kind = self.random.random()
        if kind < .36:
            rows = ', '.join('(%s)' % ', '.join(self.value() for _ in range(4)) for _ in range(self.one(1, 1, 3, 12)))
            return 'INSERT%s INTO %s(c0, c1, c2, c3) VALUES %s%s' % (
                self.one('', '', ' OR REPLACE', ' OR IGNORE'), table, rows, self.one('', '', " ON CONFLICT DO UPDATE SET c3 = excluded.c3 || 'u'"))
        if kind < .46:
            return 'UPDATE %s SET %s = %s WHERE %s' % (table, column, self.one(self.value(), "c1 || 'q'"), self.condition())
        if kind < .52:
            return 'DELETE FROM %s WHERE %s' % (table, self.condition())
        if kind < .58:
            return self.one(self.index(), 'DROP INDEX IF EXISTS i%d' % self.random.randrange(8))
        if kind < .64:
            return self.one('BEGIN', 'COMMIT', 'ROLLBACK', 'SAVEPOINT a', 'RELEASE a', 'ROLLBACK TO a')
        if kind < .68:
            return self.one('REINDEX', 'REINDEX fold', 'ANALYZE', 'PRAGMA integrity_check', 'VACUUM')
        if kind < .8:
            return 'SELECT * FROM %s WHERE %s' % (table, self.condition())
        if kind < .9:
            return 'SELECT c0 FROM %s WHERE %s ORDER BY %s%s, hex(c0), typeof(c0)' % (
                table, self.condition(), column, self.one('', ' DESC', ' COLLATE fold', ' COLLATE backwards DESC'))
        return self.one('SELECT count(*) FROM %s GROUP BY %s' % (table, column), 'SELECT count(DISTINCT %s) FROM %s' % (column, table),
                        'SELECT count(*) FROM %s a JOIN %s b ON a.c1 = b.%s WHERE %s' % (table, other, column, self.condition('a.')))

    def execute(self, statement):
        try:
            rows = self.connection.execute(statement).fetchall()
            print(statement[:70], '->', rows if 'ORDER BY' in statement else sorted(rows, key=repr))
        except sqlite3.Error as error:
            print(statement[:70], '->', error)

    def run(self, steps):
        for number in range(self.one(1, 2)):
            self.execute(self.create(number))
        for step in range(steps):
            self.execute(self.statement() if step > 3 else self.index())
            if step % 60 == 59:  # the next connection knows the collations when it first reads the schema
                self.connection.close()
                self.connection = connect(self.name)
        for table in self.tables:
            self.execute('SELECT * FROM %s' % table)
        self.execute('PRAGMA integrity_check')


for seed in range(1, 13):
    Run(seed).run(150)

# What a REPLACE sets off puts rows next to the one that replaces. A parent's key.
connection = connect('parent.db')
connection.executescript('''PRAGMA recursive_triggers=on; PRAGMA foreign_keys=on;
    CREATE TABLE p(k TEXT COLLATE backwards PRIMARY KEY, v) WITHOUT ROWID;
    CREATE TRIGGER gone AFTER DELETE ON p BEGIN INSERT OR IGNORE INTO p VALUES(OLD.k || 'd', 0); END;
    CREATE TABLE q(k TEXT COLLATE fold UNIQUE);
    CREATE TABLE c(r REFERENCES q(k) ON UPDATE CASCADE ON DELETE CASCADE);
    INSERT INTO q VALUES('One'), ('two'), ('Three')''')
for statement in ["INSERT OR REPLACE INTO p VALUES('b', 1)", "INSERT OR REPLACE INTO p VALUES('b', 2)", "INSERT OR REPLACE INTO p VALUES('b', 3)",
                  'SELECT * FROM p', "INSERT INTO c VALUES('ONE'), ('TWO')", "INSERT INTO c VALUES('four')", "UPDATE q SET k='ONE' WHERE k='one'",
                  'SELECT * FROM c', "UPDATE q SET k='five' WHERE k='TWO'", "DELETE FROM q WHERE k='oNe'", 'SELECT * FROM c', 'SELECT * FROM q',
                  'PRAGMA foreign_key_check', 'PRAGMA integrity_check']:
    try:
        print(statement, '->', connection.execute(statement).fetchall())
    except sqlite3.Error as error:
        print(statement, '->', error)

# Rows that come while a cursor walks between bounds that are no row's text: it shows none from beyond them.
for without in ('', ' WITHOUT ROWID'):
    for order in ('', ' DESC'):
        connection = connect('walk%d%d.db' % (len(without), len(order)))
        connection.execute('CREATE TABLE t(k TEXT COLLATE backwards, v, n NUMERIC COLLATE fold UNIQUE, PRIMARY KEY(k%s))%s' % (order, without))
        for letter in 'byzacx':
            connection.executemany('INSERT INTO t VALUES(?, 1, ?)', [('%s%02d' % (letter, i),) * 2 for i in range(40)])
        for condition in ("k < 'm'", "k > 'm'", "k BETWEEN 'y' AND 'm'", "k BETWEEN 'm' AND 'b'", "k IN ('m', 'b01', 'y01')", "n < 'm'", "n > 'm'"):
            for sort in ('', ' ORDER BY k', ' ORDER BY k DESC', ' ORDER BY n', ' ORDER BY n DESC'):
                for new in ('nolk', 'lkno', 'n', 'l'):
                    connection.execute('BEGIN IMMEDIATE')
                    connection.execute('DELETE FROM t WHERE v = 2')
                    connection.execute("INSERT INTO t VALUES('q', 2, 'q')")
                    beyond = {text for text in new if not connection.execute('SELECT %s FROM (SELECT ? COLLATE backwards AS k, ? COLLATE fold AS n)' % condition,
                                                                             (text, text)).fetchone()[0]}
                    shown = set()
                    for row in connection.execute('SELECT k FROM t WHERE ' + condition + sort):
                        if not shown:
                            connection.executemany('INSERT INTO t VALUES(?, 9, ?)', [(text, text) for text in new])
                        shown.add(row[0])
                    print(condition, sort, new, shown & beyond)
                    connection.execute('ROLLBACK')

# A statement that found rows changes those, and none that a trigger has put where one of them was.
for number, (order, new) in enumerate((order, new) for order in ('acb', 'abc', 'cab') for new in ('aa', 'bb', 'bc')):
    connection = connect('gone%d.db' % number)
    connection.executescript('''CREATE TABLE p(k TEXT COLLATE digits PRIMARY KEY, v) WITHOUT ROWID;
        CREATE TRIGGER d AFTER DELETE ON p WHEN OLD.k = 'a' BEGIN DELETE FROM p WHERE k = 'b'; INSERT INTO p VALUES('%s', 5); END;
        CREATE TRIGGER u BEFORE UPDATE ON p WHEN OLD.k = 'b' BEGIN DELETE FROM p WHERE k = 'b'; INSERT OR REPLACE INTO p VALUES('%s', 6); END;
        ''' % (new, new))
    for statement in ['INSERT INTO p VALUES(%r, 1)' % text for text in order] + [
            "UPDATE p SET v = 7 WHERE k = 'b'", 'SELECT * FROM p', "INSERT OR REPLACE INTO p VALUES('a', 1), ('b', 1), ('c', 1)", 'DELETE FROM p WHERE v = 1',
            'SELECT * FROM p', 'PRAGMA integrity_check']:
        try:
            print(order, new, statement, '->', connection.execute(statement).fetchall())
        except sqlite3.Error as error:
            print(order, new, statement, '->', error)

# A column that does not compare as the key does that it is: an UPDATE changes the rows of its condition, and none that are like them.
for number, (declared, key) in enumerate([('NOCASE', 'BINARY'), ('fold', 'BINARY'), ('fold', 'backwards'), ('length', '"two words"')]):
    connection = connect('other%d.db' % number)
    connection.create_collation('two words', compare)
    connection.executescript('''CREATE TABLE t(a, k TEXT COLLATE %s, PRIMARY KEY(k COLLATE %s)) WITHOUT ROWID;
        CREATE INDEX ta ON t(a); CREATE INDEX tk ON t(k); CREATE TABLE f(x, y); INSERT INTO f VALUES(1, 5), (3, 7);
        INSERT INTO t VALUES(1, 'a'), (2, 'A'), (3, 'bbb'), (1, 'BBB'), (3, 'ccccc'), (1, 'dddddd');
        CREATE TRIGGER z AFTER INSERT ON f BEGIN UPDATE t SET k = k || 'z' WHERE a >= NEW.x; UPDATE t SET k = k || y FROM f WHERE x = a; END''' % (
            declared, key))
    for statement in ["UPDATE t SET k = k || 'q' WHERE a > 2", 'UPDATE t SET k = k || y FROM f WHERE x = a', 'INSERT INTO f VALUES(3, 2)',
                      "UPDATE OR REPLACE t SET k = k || 'q' WHERE a > 2"]:
        print(declared, key, statement, '->', connection.execute(statement).rowcount, connection.execute('SELECT * FROM t ORDER BY hex(k)').fetchall())

# Behind a column of few values, of an index that ANALYZE has looked at: a text has another key behind each of them.
connection = connect('few.db')
connection.executescript('''CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, k TEXT COLLATE backwards, n INT, r TEXT COLLATE RTRIM);
    CREATE INDEX t_ak ON t(a, k); CREATE INDEX t_kn ON t(k, n); CREATE INDEX t_rk ON t(r, k DESC);
    INSERT INTO t WITH RECURSIVE i(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i WHERE x < 600)
      SELECT x, x % 3, char(97 + x * 7 % 26, 97 + x % 5), x % 90, CASE x % 2 WHEN 0 THEN 'r' ELSE 'q ' END FROM i; ANALYZE''')
for condition in ("k = 'ha'", "k > 'yb'", "k < 'yb'", "k IN ('ha', 'ib', 'zz', 5)", "k BETWEEN 'c' AND 'b'", 'k IS NULL', 'n = 7', 'n > 87', "k = 'none'"):
    for columns in ('count(*), sum(id)', 'DISTINCT a', 'DISTINCT r', 'DISTINCT k', 'count(DISTINCT a)'):
        print(condition, columns, connection.execute('SELECT %s FROM t WHERE %s ORDER BY 1' % (columns, condition)).fetchall())

# A collation that ends the transaction, or a savepoint, while a key is sought: what becomes of the statement differs, the tables stay whole.
for number, ending in enumerate(['ROLLBACK', 'COMMIT', 'ROLLBACK TO a', 'RELEASE a']):
    connection = sqlite3.connect('ends%d.db' % number, isolation_level=None)
    countdown = [0]

    def ends(a, b):
        countdown[0] -= 1
        if countdown[0] == 0:
            try:
                connection.execute(ending)
            except sqlite3.Error:
                pass
        return compare(a, b)

    connection.create_collation('ends', ends)
    connection.executescript('CREATE TABLE t(x COLLATE ends UNIQUE, y); CREATE TABLE w(x COLLATE ends PRIMARY KEY, y) WITHOUT ROWID')
    for table in 'tw':
        connection.executemany('INSERT INTO %s VALUES(?, ?)' % table, [('k%03d' % i, i) for i in range(200)])
    for step in range(1, 12):
        for statement in ["INSERT INTO t VALUES('m', 1)", "INSERT OR REPLACE INTO w VALUES('k050', 1)", "SELECT * FROM t WHERE x > 'k100'",
                          "SELECT * FROM t JOIN w ON t.x = w.x", "UPDATE w SET x = x || 'q' WHERE y = 7", "DELETE FROM t WHERE x = 'k010'",
                          'CREATE INDEX i ON t(y, x)', "INSERT INTO t SELECT x || 's', 1 FROM w LIMIT 5"]:
            try:
                connection.executescript('BEGIN; SAVEPOINT a')
                countdown[0] = step
                connection.execute(statement).fetchall()
            except sqlite3.Error:
                pass
            countdown[0] = 0
            if connection.in_transaction:
                connection.execute('ROLLBACK')
    checked = connection.execute('PRAGMA integrity_check').fetchall()  # natively a ROLLBACK there leaves a page that is counted wrong
    print(ending, [fault for fault in checked if fault[0] != 'ok' and 'Fragmentation' not in fault[0]])
