#!/usr/bin/env python3
"""SQLite's own TCL tests, natively and on a store.

  Tests/Clients/DropIn/sqlite_tests.py INTERPOSER [FILE ...] [--source FOLDER] [--log FOLDER] [--seconds 60]

The tests are those of Debian's source package of sqlite3 (test/*.test, ext/fts5/test, ext/rtree), fetched with apt into a temporary
folder; --source keeps it for the next run. tclsh runs them with Debian's libsqlite3-tcl. The commands of SQLite's testfixture are
compiled from the same source into a module for tclsh, so that SQLite is the system's libsqlite3 on both sides.
A test counts if it passes natively. It has to pass on a store, or sqlite_tests.exceptions says why not:

  == NAME: REASON       begins a class
  FILE.test             these files are not run
  TEST                  a name, with the wildcards * and ?
  /REGEX/               found in what the failing test printed

Files that take over 20 times their native time are told, and files that end in a signal, or not in time, on a store alone fail.
"""
import argparse
import collections
import fnmatch
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from debian import fetch

HERE = os.path.dirname(os.path.realpath(__file__))
FOLDERS = ['test', 'ext/fts5/test', 'ext/rtree']
LATE = 'not in time'
RESULT = re.compile(r'^(.*)\.\.\.( .*)?$')


def run_quietly(command, **options):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != 0:
        sys.exit('sqlite-tests: %s failed:\n%s' % (' '.join(command[:3]), done.stdout[-2000:]))


def build(folder):
    """The source's folder and the module with testfixture's commands."""
    module = folder + '/fixture.so'
    if not glob.glob(folder + '/sqlite3-*/test/tester.tcl'):
        fetch(folder, 'sqlite3')
    source = glob.glob(folder + '/sqlite3-*/test')[0][:-len('/test')]
    if os.path.exists(module):
        return source, module
    made = folder + '/build'
    os.makedirs(made, exist_ok=True)
    run_quietly([source + '/configure', '--disable-tcl'], cwd=made)
    run_quietly(['make', 'sqlite3.c'], cwd=made)
    options = subprocess.run(['sqlite3', ':memory:', 'PRAGMA compile_options'], check=True, text=True, stdout=subprocess.PIPE).stdout.split('\n')
    defines = ['-DSQLITE_' + option for option in options if re.match('ENABLE|OMIT|SECURE|SOUNDEX|LIKE_|USE_URI|TEMP_STORE|THREADSAFE|MAX_VARIABLE', option)]
    defines += ['-DHAVE_ISNAN', '-DSQLITE_TEST=1', '-DSQLITE_PRIVATE=', '-DSQLITE_CORE', '-DSQLITE_SERIES_CONSTRAINT_VERIFY=1', '-DSQLITE_CKSUMVFS_STATIC']
    include = ['-I' + made, '-I/usr/include/tcl8.6', '-I' + source + '/src']
    include += ['-I' + path for path in glob.glob(source + '/ext/*')]
    with open(made + '/Makefile') as makefile:
        listed = re.search(r'^TESTSRC = .*?test_rtreedoc\.c', makefile.read(), re.M | re.S).group(0)
    files = [source + name for name in sorted(set(re.findall(r'\$\(TOP\)(/\S+\.c)', listed)))] + [HERE + '/sqlite_tests.c']
    with open(source + '/src/main.c') as main, open(made + '/error_name.c', 'w') as out:
        out.write('#include "sqliteInt.h"\n' + re.search(r'^const char \*sqlite3ErrName.*?^}', main.read(), re.M | re.S).group(0))
    run_quietly(['cc', '-w', '-O1', '-fPIC', '-shared', *defines, *include, *files, made + '/error_name.c', '-o', module, '-lsqlite3', '-lz', '-lm',
                 '-lpthread'])
    return source, module


class Exceptions:
    """The classes, and for a test the one that excepts it."""

    def __init__(self):
        self.reasons, self.patterns, self.used, name = {}, [], set(), None
        with open(HERE + '/sqlite_tests.exceptions') as lines:
            for line in lines:
                line = line.strip() if line.startswith('/') else re.sub(r' +# .*', '', line).strip()
                if line.startswith('== '):
                    name, reason = line[3:].split(': ', 1)
                    self.reasons[name] = reason
                elif line and not line.startswith('#'):
                    self.patterns.append((line, name))

    def of(self, test, text):
        for pattern, name in self.patterns:
            if pattern.endswith('.test') != test.endswith('.test'):
                continue
            regex = pattern.startswith('/')
            if (regex and re.search(pattern[1:-1], text)) or (not regex and fnmatch.fnmatchcase(test, pattern)):
                self.used.add(pattern)
                return name
        return None


class Run:
    """One file on one side: the tests that passed, and what those that failed printed."""

    def __init__(self, module, path, folder, environment, seconds):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        began = time.monotonic()
        with open(folder + '.log', 'wb') as out:
            process = subprocess.Popen(['nice', 'tclsh', HERE + '/sqlite_tests.tcl', module, path], cwd=folder, env=environment, stdout=out,
                                       stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
            try:
                code = process.wait(seconds)
                self.ending = '' if code >= 0 else signal.Signals(-code).name
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                self.ending = LATE
        self.seconds = time.monotonic() - began
        with open(folder + '.log', errors='replace') as log:
            self.log = log.read()
        self.passed, self.failed = {}, {}  # by test, in their order
        self.parse()
        shutil.rmtree(folder, ignore_errors=True)

    def parse(self):
        seen, pending, told = collections.Counter(), None, None

        def name_of(test):
            seen[test] += 1
            return test if seen[test] == 1 else '%s#%d' % (test, seen[test])

        for line in self.log.split('\n'):
            result = RESULT.match(line)
            if pending is not None and (line.startswith('! ' + pending + ' expected: ') or line.startswith('Error: ')):
                told, pending = name_of(pending), None
                self.failed[told] = line
            elif line.endswith(' Ok') and (pending is not None or result):
                self.passed[name_of(result.group(1) if result else pending)] = True
                pending = told = None
            elif result and not line.startswith(('! ', 'Error: ', 'fixture: ')):
                pending, told = result.group(1), None
            elif told is not None and len(self.failed[told]) < 4000:
                self.failed[told] += '\n' + line


def compare(files, module, interposer, folder, log, seconds, exceptions):
    counts, unexpected, endings, slow, late = collections.Counter(), [], [], [], []
    store = dict(os.environ, LD_PRELOAD=os.path.realpath(interposer), ROOTSTOCK_ENGINE='lmdb', ROOTSTOCK_DURABILITY='off')
    for path in files:
        name = os.path.basename(path)
        native = Run(module, path, folder + '/native', None, seconds)
        if native.ending == LATE:
            late.append(name)
            continue
        ours = Run(module, path, folder + '/store', store, seconds * 2)
        counts['native'] += len(native.passed)
        counts['store'] += len(native.passed.keys() & ours.passed.keys())
        for test in native.passed:
            if test in ours.passed:
                continue
            text = ours.failed.get(test, 'was not run')
            excepted = exceptions.of(test, text)
            if excepted:
                counts['class ' + excepted] += 1
            else:
                unexpected.append((name, test, text))
        if ours.ending and not native.ending:
            endings.append('%s: %s' % (name, ours.ending))
        if ours.seconds > max(2, 20 * native.seconds):
            slow.append('%s: %.1f s, natively %.1f' % (name, ours.seconds, native.seconds))
        if log:
            shutil.copy(folder + '/store.log', '%s/%s.store' % (log, name))
            shutil.copy(folder + '/native.log', '%s/%s.native' % (log, name))
            print('%s: natively %d pass, %d on a store, %.1f and %.1f s %s' % (
                name, len(native.passed), len(native.passed.keys() & ours.passed.keys()), native.seconds, ours.seconds, ours.ending), flush=True)
    return counts, unexpected, endings, slow, late


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument('interposer')
    parser.add_argument('files', nargs='*')
    parser.add_argument('--source')
    parser.add_argument('--log')
    parser.add_argument('--seconds', type=float, default=60)
    arguments = parser.parse_args()
    exceptions = Exceptions()
    if arguments.log:
        os.makedirs(arguments.log, exist_ok=True)
    with tempfile.TemporaryDirectory(dir='/dev/shm' if os.path.isdir('/dev/shm') else None) as folder:
        source, module = build(arguments.source or folder)
        files = sorted(path for part in FOLDERS for path in glob.glob('%s/%s/*.test' % (source, part))
                       if any(fnmatch.fnmatch(os.path.basename(path), name) for name in arguments.files or ['*']))
        left_out = [path for path in files if exceptions.of(os.path.basename(path), '')]
        files = [path for path in files if path not in left_out]
        counts, unexpected, endings, slow, late = compare(files, module, arguments.interposer, folder, arguments.log, arguments.seconds, exceptions)
    for file, test, text in unexpected:
        print('sqlite-tests: %s: %s\n  %s' % (file, test, '\n  '.join(text.split('\n')[:12])))
    for line in endings:
        print('sqlite-tests: ended by %s' % line)
    for line in slow:
        print('sqlite-tests: slow: %s' % line)
    if late:
        print('sqlite-tests: natively not ended in time, left out: %s' % ' '.join(late))
    for name, reason in exceptions.reasons.items():
        if counts['class ' + name]:
            print('sqlite-tests: %6d %s: %s' % (counts['class ' + name], name, reason))
    if not arguments.files:
        for pattern, name in exceptions.patterns:
            if pattern not in exceptions.used:
                print('sqlite-tests: listed as an exception, and passes: %s' % pattern)
    print('sqlite-tests: %d files run, %d left out; %d tests pass natively, %d of them on a store, %d are excepted' % (
        len(files), len(left_out), counts['native'], counts['store'], counts['native'] - counts['store'] - len(unexpected)))
    return 1 if unexpected or endings else 0


sys.exit(main())
