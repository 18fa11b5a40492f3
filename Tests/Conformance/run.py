#!/usr/bin/python3
"""Runs SQLite's sqllogictest corpus and Turso's sqltest suite on a store, where a folder with both is at hand.

  Tests/Conformance/run.py EXTENSION FOLDER

The folder holds the runners (slt.py, sqltest.py) and the data (slt/, sqltest/ with BASELINE.txt, the names that native SQLite
passes). Without it nothing is run, and that is said. Fails on a failing record of slt/ that native SQLite passes, and on a name of
the baseline that fails and does not stand, with its reason, in exceptions.txt beside this file.
"""
import json, os, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = '/usr/bin/python3'  # Debian's: others may be built without loadable extensions

# SQLite 3.40.1 itself fails these two, which show how later versions print.
NATIVE_FAILURES = {'slt_lang_aggfunc.test:484', 'slt_lang_aggfunc.test:496'}


def run_slt(folder, arguments):
    with tempfile.NamedTemporaryFile('r', suffix='.json') as report:
        result = subprocess.run(
            [PYTHON, os.path.join(folder, 'slt.py'), '--json', report.name, '--max-report', '100000', *arguments,
             os.path.join(folder, 'slt')], stdout=subprocess.PIPE, text=True)
        files = [json.loads(line) for line in report]
    if not files:
        sys.exit('conformance: slt did not run:\n' + result.stdout)
    records = sum(f['statements'] + f['queries'] for f in files)
    failures = [m for f in files for m in f['failures']]
    place = re.compile(r'([^/:]+:\d+): ')
    unexpected = [m for m in failures if place.search(m).group(1) not in NATIVE_FAILURES]
    for message in unexpected[:20]:
        print('conformance: slt: ' + message)
    print('conformance: slt: %d of %d records passed (%d files; %d native failures)' % (
        records - len(failures), records, len(files), len(failures) - len(unexpected)))
    return not unexpected


def read_exceptions():
    with open(os.path.join(HERE, 'exceptions.txt')) as lines:
        return {line.split(' ', 1)[0] for line in lines if line.strip() and not line.startswith('#')}


def run_sqltest(folder, arguments):
    suite = os.path.join(folder, 'sqltest')
    baseline = set(open(os.path.join(suite, 'BASELINE.txt')).read().split())
    result = subprocess.run(
        [PYTHON, os.path.join(folder, 'sqltest.py'), '-v', '--baseline', os.path.join(suite, 'BASELINE.txt'), *arguments, suite],
        stdout=subprocess.PIPE, text=True)
    summary = re.search(r'(\d+) passed, (\d+) failed', result.stdout)
    if not summary:
        sys.exit('conformance: sqltest did not run:\n' + result.stdout)
    failed = re.findall(r'^FAIL (\S+) (.*)$', result.stdout, re.M)
    exceptions = read_exceptions()
    unexpected = [f for f in failed if f[0] not in exceptions]
    for name, why in unexpected[:int(os.environ.get('ROOTSTOCK_CONFORMANCE_REPORT', '20'))]:
        print('conformance: sqltest: %s: %s' % (name, why))
    mended = sorted(exceptions - {name for name, _ in failed})
    for name in mended:
        print('conformance: sqltest: %s passes: take it out of exceptions.txt' % name)
    print('conformance: sqltest: %s of %d names passed (%d exceptions)' % (
        summary.group(1), len(baseline), len(failed) - len(unexpected)))
    return not unexpected and not mended


def main():
    extension, folder = sys.argv[1:]
    if not os.path.isdir(folder):
        print('conformance: skipped, there is no folder %s' % folder)
        return 0
    arguments = ['--load', os.path.abspath(extension), '--hook', os.path.join(HERE, 'store.py')]
    passed = [run_slt(folder, arguments), run_sqltest(folder, arguments)]
    return 0 if all(passed) else 1


if __name__ == '__main__':
    sys.exit(main())
