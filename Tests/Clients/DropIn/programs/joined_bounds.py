"""Bounds of a key beside a join that holds a child's column equal to it: every mix of types and collations, bounds and parameters."""
import random
import sqlite3

TYPES = ['INTEGER', 'INT', 'REAL', 'NUMERIC', 'TEXT', 'TEXT COLLATE NOCASE', '', 'BLOB']
VALUES = [None, -3, 0, 1, 2, 3, 7, 2.0, 2.5, -0.5, '2', '02', '2.0', 'a', 'A', 'b', '', b'a', b'2', 9007199254740993, '1e1', 10]


class Run:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.connection = sqlite3.connect('joined%d.db' % seed, isolation_level=None)
        key = self.random.choice(['PRIMARY KEY', 'PRIMARY KEY', 'UNIQUE'])
        whole = key == 'PRIMARY KEY' and self.random.random() < .3
        types = [self.random.choice(TYPES) for _ in range(3)]
        for statement in ('CREATE TABLE p(k %s %s, v)%s' % (types[0], key, ' WITHOUT ROWID' if whole else ''),
                          'CREATE TABLE c(id INTEGER PRIMARY KEY, p %s, w)' % types[1], 'CREATE INDEX c_p ON c(p%s)' %
                          self.random.choice(['', '', ' DESC', ' COLLATE NOCASE', ', w']),
                          'CREATE TABLE g(c %s, x)' % types[2], 'CREATE INDEX g_c ON g(c)'):
            self.connection.execute(statement)
        for _ in range(25):
            for statement in ('INSERT OR IGNORE INTO p VALUES(?1, ?2)', 'INSERT INTO c(p, w) VALUES(?1, ?2)', 'INSERT INTO g VALUES(?2, ?1)'):
                values = [self.random.choice(VALUES), self.random.randrange(9)]
                try:
                    self.connection.execute(statement, values)
                except sqlite3.IntegrityError as error:  # of an INTEGER PRIMARY KEY
                    print(error)

    def operand(self, values):
        kind = self.random.randrange(8)
        if kind < 3:
            values.append(self.random.choice(VALUES))
            return self.random.choice(['?', '?', '(?)', '-?', '? + 1', '?%d' % len(values)])
        return self.random.choice(["'2'", "'a'", "'B'", '2', '3', '-1', '2.5', '1 + 1', "'2' || '0'", 'NULL', "x'61'", 'p.v', 'w', "lower('A')"])

    def bound(self, values, names=('p.k', 'p.k', 'p.k', 'k', 'c.id', 'c.p', 'id', 'g.c')):
        name = self.random.choice(names)
        kind = self.random.randrange(6)
        if kind == 0:
            low = self.operand(values)
            return '%s %sBETWEEN %s AND %s' % (name, self.random.choice(['', '', 'NOT ']), low, self.operand(values))
        mark = self.random.choice(['<', '<=', '>', '>='])
        text = '%s %s %s' % ((name, mark, self.operand(values)) if kind < 4 else (self.operand(values), mark, name))
        return self.random.choice(['%s', '%s', '%s', '(%s)', 'NOT %s', '(%s OR w = 3)', '%s COLLATE NOCASE', '%s AND p.k']) % text

    def query(self):
        values = []
        joins = [self.random.choice(['JOIN', 'JOIN', 'JOIN', 'LEFT JOIN', 'INNER JOIN', ',']) for _ in range(2)]
        on = ['c.p = p.k', self.random.choice(['g.c = c.id', 'g.c = p.k', 'c.p == g.c'])]
        if self.random.random() < .3:
            on[0] = 'p.k = c.p AND ' + self.bound(values, ['p.k', 'c.p', 'k'])
        where = []
        text = 'c %s p' % joins[0]
        if joins[0] == ',':
            where.append(on[0])
        else:
            text += ' ON ' + on[0]
        if self.random.random() < .6:
            text += ' %s g' % joins[1]
            if joins[1] == ',':
                where.append(on[1])
            else:
                text += ' ON ' + on[1]
        else:
            text += ', g'
        where += [self.bound(values) for _ in range(self.random.choice([0, 1, 1, 2]))]
        if where:
            text += ' WHERE ' + ' AND '.join(where)
        text = 'SELECT count(*), total(c.id), group_concat(DISTINCT typeof(p.k)), max(p.k), total(g.rowid) FROM ' + text
        if self.random.random() < .2:
            text = 'SELECT * FROM (%s) WHERE 1 > 0' % text
        return text, values

    def ask(self):
        text, values = self.query()
        try:
            rows = self.connection.execute(text, values).fetchall()
        except sqlite3.Error as error:
            rows = error
        # SQLite gathers the types in the order of its plan.
        print(text, values, [sorted(str(value).split(',')) for value in rows[0]] if isinstance(rows, list) else rows)


for seed in range(40):
    run = Run(seed)
    for _ in range(60):
        run.ask()

# SQLite's limits are for the statement as it is written: a bound that is told once more goes beyond none.
connection = sqlite3.connect('limits.db')
connection.executescript("""CREATE TABLE p(k INTEGER PRIMARY KEY, v); CREATE TABLE c(id INTEGER PRIMARY KEY, p INT); CREATE INDEX c_p ON c(p);
    INSERT INTO p VALUES(1, 1), (4, 2), (8, 3); INSERT INTO c(p) VALUES(1), (4), (4), (8), (9);""")
JOIN = 'SELECT count(*) FROM c JOIN p ON p.k = c.p WHERE p.k < 7'
for terms in (1, 16, 900, 990, 994, 995):
    for further in ('p.k > 3', 'v > -1'):
        print(terms, further, connection.execute(JOIN + terms * (' AND ' + further)).fetchall())
connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, len(JOIN))
print(connection.execute(JOIN).fetchall())
