#!/usr/bin/python3
"""Holds the parser of CShims/RootstockTable/parser against SQLite (syntax.c). Seconds.

  Tests/Unit/Syntax/run.py [CONFORMANCE]

Its statements are those of Tests/Parity/Scripts, and those of the folder CONFORMANCE where it is at hand (Tests/Conformance).
"""
import glob, os, re, shlex, sqlite3, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, '..', '..', '..')


def statements(text):
    """Each statement of a script, also one with semicolons in it."""
    pending = ''
    for part in re.split('(;)', text):
        pending += part
        if part == ';' and sqlite3.complete_statement(pending):
            yield pending.strip()
            pending = ''
    if pending.strip():
        yield pending.strip()


def logic_tests(text):
    """The SQL of sqllogictest's records."""
    for block in re.split(r'\n\s*\n', text):
        lines = [line for line in block.split('\n') if not line.startswith('#')]
        while lines and not re.match(r'(statement|query)\b', lines[0]):
            lines.pop(0)
        sql = '\n'.join(lines[1:]).split('\n----')[0].strip()
        if sql:
            yield sql


def suites(text):
    """What stands in braces, setups and tests alike."""
    for body in re.findall(r'\{\n(.*?)\n\s*\}', text, re.S):
        yield from statements(body)


def make(target):
    return subprocess.run(['make', '-s', '--no-print-directory', '-C', TOP, target], check=True, capture_output=True,
                          text=True).stdout


def build():
    program = os.path.join(TOP, 'build', 'syntax')
    parser = os.path.join(TOP, 'CShims', 'RootstockTable')
    sources = [f'{parser}/parser/{name}.c' for name in
               ('tokens', 'statement', 'syntax_tree', 'syntax_expression', 'syntax_select', 'syntax_change', 'syntax_create')]
    sources.append(f'{parser}/common/allocation.c')
    subprocess.run(
        [os.environ.get('CC', 'cc').split()[-1], '-std=c11', '-O1', '-g', '-Wall', '-Wextra', '-Werror',
         '-fsanitize=address,undefined', '-fno-sanitize-recover=all', *shlex.split(make('c-flags')),
         os.path.join(HERE, 'syntax.c'), *sources, '-o', program, '-lsqlite3'], check=True)
    return program


def corpus(conformance):
    kinds = [(os.path.join(TOP, 'Tests', 'Parity', 'Scripts', '**', '*.sql'), statements),
             (os.path.join(conformance, 'slt', '**', '*.test'), logic_tests),
             (os.path.join(conformance, 'sqltest', '**', '*.sqltest'), suites)]
    for pattern, read in kinds:
        for path in sorted(glob.glob(pattern, recursive=True)):
            yield ''
            with open(path, errors='replace') as script:
                yield from read(script.read())


def main():
    conformance = sys.argv[1] if len(sys.argv) > 1 else ''
    os.makedirs(os.path.join(TOP, 'build'), exist_ok=True)
    text = ''.join(sql.replace('\0', '') + '\0' for sql in corpus(conformance))
    sys.exit(subprocess.run([build()], input=text.encode()).returncode)


if __name__ == '__main__':
    main()
