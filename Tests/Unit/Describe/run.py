#!/usr/bin/python3
"""Holds the descriptions of tables against what SQLite's PRAGMAs say of them (describe.c). Seconds.

  Tests/Unit/Describe/run.py [CONFORMANCE]

Its statements are those of Tests/Unit/Syntax, and CREATE TABLEs and CREATE INDEXes drawn at random.
"""
import os, random, shlex, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'Syntax'))
from run import TOP, corpus, make

NAMES = ['a', 'b', 'c', '"d e"', '[f]', '`g`', "'h'", 'rowid', 'A1', 'key', '"i""j"']
TYPES = ['', 'INTEGER', 'integer', 'INT', 'TEXT', 'VARCHAR(30)', 'REAL', 'BLOB', 'double precision', 'NUMERIC(10, 2)',
         '"INTEGER"', 'any', 'x /* y */ z']
CONFLICTS = [''] * 4 + [' ON CONFLICT ' + word for word in ('ROLLBACK', 'ABORT', 'FAIL', 'IGNORE', 'REPLACE')]
COLLATIONS = ['', '', '', ' COLLATE NOCASE', ' COLLATE rtrim', ' COLLATE "binary"']
ORDERS = ['', '', ' ASC', ' DESC']
ACTIONS = [' ON DELETE CASCADE', ' ON UPDATE SET NULL', ' ON DELETE SET DEFAULT', ' ON UPDATE RESTRICT', ' ON DELETE NO ACTION',
           ' MATCH FULL', ' DEFERRABLE INITIALLY DEFERRED', ' NOT DEFERRABLE', ' DEFERRABLE INITIALLY IMMEDIATE']
DEFAULTS = ['1', '-1', '+ 2.5', "'x'", '(1 + 2)', 'NULL', 'word', '"quoted"', 'CURRENT_TIME', "x'00'", '(/* c */ 3)', '(abs(1)) ']


def terms(draw, names, most):
    return ', '.join('%s%s%s' % (draw.choice(names), draw.choice(COLLATIONS), draw.choice(ORDERS))
                     for _ in range(draw.randint(1, most)))


def column_constraint(draw):
    return draw.choice([
        lambda: 'UNIQUE' + draw.choice(CONFLICTS),
        lambda: 'PRIMARY KEY' + draw.choice(ORDERS) + draw.choice(CONFLICTS) + draw.choice(['', '', '', ' AUTOINCREMENT']),
        lambda: 'NOT NULL' + draw.choice(CONFLICTS),
        lambda: 'NULL',
        lambda: draw.choice(COLLATIONS[3:]),
        lambda: 'CONSTRAINT named CHECK (1 > 0)',
        lambda: 'DEFAULT ' + draw.choice(DEFAULTS),
        lambda: draw.choice(['', 'GENERATED ALWAYS ']) + 'AS (1)' + draw.choice(['', ' STORED', ' VIRTUAL']),
        lambda: 'REFERENCES p' + draw.choice(['', '(x)']) + ''.join(draw.sample(ACTIONS, draw.randint(0, 3)))])()


def table_constraint(draw, names):
    return draw.choice([
        lambda: 'UNIQUE (%s)%s' % (terms(draw, names, 3), draw.choice(CONFLICTS)),
        lambda: 'PRIMARY KEY (%s)%s' % (terms(draw, names, 3), draw.choice(CONFLICTS)),
        lambda: 'PRIMARY KEY (%s)' % draw.choice(names),
        lambda: 'CHECK (1)',
        lambda: 'CONSTRAINT "other one" FOREIGN KEY (%s, %s) REFERENCES "q r"%s%s' % (
            draw.choice(names), draw.choice(names), draw.choice(['', ' (x, [y])']),
            ''.join(draw.sample(ACTIONS, draw.randint(0, 3))))])()


def table(draw, number):
    names = draw.sample(NAMES, draw.randint(1, 4))
    parts = [' '.join([name, draw.choice(TYPES)] + [column_constraint(draw) for _ in range(draw.choice([0, 1, 1, 2, 3]))])
             for name in names]
    parts += [table_constraint(draw, names) for _ in range(draw.choice([0, 0, 1, 2, 3]))]
    yield 'CREATE TABLE t%d (%s)%s' % (number, ', '.join(parts),
                                       draw.choice(['', '', ' WITHOUT ROWID', ' STRICT', ' STRICT, WITHOUT ROWID']))
    for index in range(draw.choice([0, 0, 1, 2])):
        listed = draw.choice([terms(draw, names, 3), '(%s)' % draw.choice(names), '%s || 1' % draw.choice(names),
                              '(%s COLLATE NOCASE) COLLATE RTRIM' % draw.choice(names), 't%d.%s' % (number, draw.choice(names)),
                              '"none"', "('%s')" % draw.choice('abc')])
        yield 'CREATE %sINDEX i%d_%d ON t%d (%s)%s' % (draw.choice(['', 'UNIQUE ']), number, index, number, listed,
                                                       draw.choice(['', ' WHERE 1 > 0']))
    if draw.random() < 0.2:
        yield 'ALTER TABLE t%d RENAME TO r%d' % (number, number)


def drawn(seed, tables):
    draw = random.Random(seed)
    for number in range(tables):
        if number % 50 == 0:
            yield ''
        yield from table(draw, number)


def build():
    program = os.path.join(TOP, 'build', 'describe')
    subprocess.run([os.environ.get('CC', 'cc').split()[-1], '-std=c11', '-O1', '-g', '-Wall', '-Wextra', '-Werror',
                    *shlex.split(make('c-flags')), os.path.join(HERE, 'describe.c'), *shlex.split(make('c-sources')), '-o',
                    program, '-lsqlite3', '-llmdb', '-lpthread'], check=True)
    return program


def main():
    conformance = sys.argv[1] if len(sys.argv) > 1 else ''
    texts = [sql for part in (corpus(conformance), drawn(1, 5000)) for sql in part]
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(subprocess.run([build(), os.path.join(folder, 'store')],
                                input=''.join(sql.replace('\0', '') + '\0' for sql in texts).encode()).returncode)


if __name__ == '__main__':
    main()
