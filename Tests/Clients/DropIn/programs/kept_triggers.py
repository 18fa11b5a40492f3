"""Changes of the schema beside triggers, whose bodies name tables, views and columns that come, go and change later.

A trigger that a change does not concern is not made anew: what its rows come to tells whether it ought to have been.
Usage: kept_triggers.py [STEPS SEED ...]. An odd seed has one connection, one that three divides temp triggers."""
import os, random, sqlite3, subprocess, sys

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 250
if len(sys.argv) != 3: # each seed in a process of its own
    for one in sys.argv[2:] or '3 4 5 6 7 11'.split():
        print('seed', one, flush=True)
        subprocess.run([sys.executable, __file__, str(steps), one], check=True)
    sys.exit()
seed = int(sys.argv[2])
r = random.Random(seed)
for name in os.listdir('.'):
    if name.startswith('kept.db'):
        os.remove(name)
connections = []
for _ in range(2):
    db = sqlite3.connect('kept.db', isolation_level=None)
    db.create_function('twice', 1, lambda x: None if x is None else str(x) * 2)
    connections.append(db)
TABLES = ['t%d' % i for i in range(5)]
VIEWS = ['v%d' % i for i in range(3)]
COLUMNS = ['a', 'b', 'c', 'd']
serial = 0


def table():
    return r.choice(TABLES)


def column():
    return r.choice(COLUMNS)


def value():
    return r.choice(['1', '2', '3', "'x'", 'NULL', 'new.a', 'old.a', 'new.b', 'old.b', "twice('y')", '(SELECT max(a) FROM %s)' % table()])


def create_table():
    name = table()
    kind = r.randrange(6)
    columns = r.sample(COLUMNS, r.randint(2, 4))
    if 'a' not in columns:
        columns[0] = 'a'
    parts = []
    for i, one in enumerate(columns):
        text = one + r.choice([' INTEGER', ' TEXT', '', ' INTEGER DEFAULT 7', " TEXT DEFAULT 'd'", ' TEXT COLLATE NOCASE'])
        if one == 'a':
            text = 'a ' + r.choice(['INTEGER PRIMARY KEY', 'INTEGER PRIMARY KEY', 'INTEGER', 'TEXT UNIQUE', 'INTEGER PRIMARY KEY ON CONFLICT REPLACE', 'INTEGER PRIMARY KEY AUTOINCREMENT'])
        elif r.random() < 0.2:
            text += ' REFERENCES %s(a)' % table()
        elif r.random() < 0.15:
            text += ' UNIQUE' + r.choice(['', ' ON CONFLICT IGNORE', ' ON CONFLICT REPLACE'])
        parts.append(text)
    if kind == 0:
        parts.append("g AS (a || '!')")
    if kind == 1:
        return 'CREATE TABLE %s AS SELECT * FROM %s' % (name, r.choice(TABLES + VIEWS))
    return 'CREATE TABLE %s (%s)' % (name, ', '.join(parts))


def statement(event):
    t = r.choice(TABLES + TABLES + VIEWS) if r.random() < 0.2 else table()
    kind = r.randrange(12)
    conflict = r.choice(['', '', '', ' OR IGNORE', ' OR REPLACE', ' OR ABORT'])
    if kind < 3:
        return 'INSERT%s INTO %s (%s) VALUES (%s)' % (conflict, t, column(), value())
    if kind == 3:
        return 'INSERT%s INTO %s SELECT * FROM %s' % (conflict, t, r.choice(TABLES + VIEWS))
    if kind == 4:
        return 'INSERT INTO %s (a, b) VALUES (%s, %s) ON CONFLICT (a) DO UPDATE SET b = excluded.b' % (t, value(), value())
    if kind < 7:
        return 'UPDATE%s %s SET %s = %s WHERE %s = %s' % (conflict, t, column(), value(), column(), value())
    if kind == 7:
        return 'UPDATE %s SET %s = %s.%s FROM %s WHERE %s.a = %s.a' % ((t, column()) + (lambda o: (o, column(), o, o))(table()) + (t,))
    if kind < 10:
        return 'DELETE FROM %s WHERE %s = %s' % (t, column(), value())
    if kind == 10:
        return "INSERT INTO log SELECT 'count', count(*), changes() FROM %s" % r.choice(TABLES + VIEWS)
    return "DELETE FROM %s WHERE (a, b) IN (SELECT a, b FROM %s)" % (t, table())


def create_trigger():
    global serial
    serial += 1
    on = table()
    event = r.choice(['INSERT', 'UPDATE', 'DELETE', 'UPDATE OF ' + column()])
    temporary = seed % 3 == 0 and r.random() < 0.04
    view = r.random() < 0.08
    when = r.choice(['', '', '', ' WHEN changes() >= 0', ' WHEN (SELECT count(*) FROM %s) < 50' % r.choice(TABLES + VIEWS)])
    bodies = [statement(event) for _ in range(r.randint(0, 2))]
    if event == 'INSERT':
        bodies = [b.replace('old.', 'new.') for b in bodies]
    if event == 'DELETE':
        bodies = [b.replace('new.', 'old.') for b in bodies]
    bodies.insert(0, "INSERT INTO log VALUES ('r%d', %s, NULL)" % (serial, 'old.a' if event == 'DELETE' else 'new.a'))
    return 'CREATE%s TRIGGER r%d %s %s ON %s%s BEGIN %s; END' % (
        ' TEMP' if temporary else '', serial, 'INSTEAD OF' if view else r.choice(['BEFORE', 'AFTER', 'AFTER']), event,
        r.choice(VIEWS) if view else on, when, '; '.join(bodies))


def change():
    t = table()
    kind = r.randrange(100 if seed % 4 < 2 else 84)
    if kind < 22:
        return create_table()
    if kind < 32:
        return 'DROP TABLE ' + t
    if kind < 40:
        return 'CREATE%s INDEX i%d ON %s (%s)%s' % (r.choice(['', '', ' UNIQUE']), r.randrange(6), t, column(), r.choice(['', '', ' WHERE a > 1']))
    if kind < 43:
        return 'DROP INDEX i%d' % r.randrange(6)
    if kind < 49:
        return 'CREATE VIEW %s AS SELECT %s FROM %s' % (r.choice(VIEWS), r.choice(['*', 'a, b', 'a', 'b, a, 1']), r.choice(TABLES + VIEWS))
    if kind < 53:
        return 'DROP VIEW ' + r.choice(VIEWS)
    if kind < 76:
        return create_trigger()
    if kind < 84:
        return 'DROP TRIGGER r%d' % r.randint(max(1, serial - 12), max(1, serial))
    if kind < 88:
        return 'ALTER TABLE %s RENAME TO %s' % (t, table())
    if kind < 91:
        return 'ALTER TABLE %s RENAME COLUMN %s TO %s' % (t, column(), column())
    if kind < 94:
        return 'ALTER TABLE %s ADD COLUMN %s TEXT%s' % (t, column(), r.choice(['', " DEFAULT 'n'"]))
    if kind < 96:
        return 'ALTER TABLE %s DROP COLUMN %s' % (t, column())
    if kind < 97:
        return 'CREATE TEMP TABLE %s (a, b)' % t if seed % 3 == 0 and r.random() < 0.3 else 'CREATE TABLE other%d (x)' % r.randrange(1000)
    if kind < 98:
        return 'PRAGMA recursive_triggers = %d' % r.randrange(2)
    if kind < 99:
        return 'PRAGMA foreign_keys = %d' % r.randrange(2)
    return 'ANALYZE'


def use():
    t = r.choice(TABLES + TABLES + TABLES + VIEWS)
    kind = r.randrange(10)
    number = r.randrange(6)
    if kind < 5:
        return 'INSERT INTO %s (a, b) VALUES (%s, %d)' % (t, r.choice(['NULL', str(number), str(number + 5)]), number)
    if kind < 8:
        return 'UPDATE %s SET %s = %d WHERE a = %d' % (t, column(), number, r.randrange(8))
    return 'DELETE FROM %s WHERE a = %d' % (t, number)


def run(db, sql):
    global serial
    try:
        db.execute(sql).fetchall()
        return 'ok'
    except sqlite3.Error as error:
        return str(error)


def show(db):
    out = []
    for name in TABLES + VIEWS + ['log']:
        try:
            out.append((name, sorted(map(repr, db.execute('SELECT * FROM ' + name).fetchall()))))
        except sqlite3.Error as error:
            out.append((name, str(error)))
    return out


run(connections[0], 'CREATE TABLE log (what, a, b)')
for t in TABLES[:3]:
    run(connections[0], 'CREATE TABLE %s (a INTEGER PRIMARY KEY, b, c)' % t)
before = None
for step in range(steps):
    db = connections[seed % 2 == 0 and r.random() < 0.25]
    dice = r.random()
    if dice < 0.06:
        sql = r.choice(['BEGIN', 'SAVEPOINT s', 'ROLLBACK TO s', 'RELEASE s', 'COMMIT', 'COMMIT', 'ROLLBACK'])
        if connections[0].in_transaction and db is connections[1] or connections[1].in_transaction and db is connections[0]:
            db = connections[connections[1].in_transaction]
    elif dice < 0.5:
        sql = change()
        if connections[0].in_transaction or connections[1].in_transaction:
            db = connections[connections[1].in_transaction]
    else:
        sql = use()
        if connections[0].in_transaction or connections[1].in_transaction:
            db = connections[connections[1].in_transaction]
    print(step, connections.index(db), sql, '->', run(db, sql))
    now = show(db)
    if now != before:
        print('   ', now)
    before = now
    if len(now[-1][1]) > 60 and isinstance(now[-1][1], list):
        run(db, 'DELETE FROM log')
    for t, rows in now[:-1]:
        if isinstance(rows, list) and len(rows) > 40:
            run(db, 'DELETE FROM ' + t)
