#!/usr/bin/env python3
"""Runs the test suites of well-known programs natively and with their databases on stores, and tells which tests pass natively only.

Usage: Tests/Clients/DropIn/suites.py [--scratch FOLDER] [--kind native|store] INTERPOSER [SUITE... [-- ARGUMENT...]]
    INTERPOSER    build/librootstock_interpose.so (make interpose)
    SUITE         names of suites.json, all unless some are named
    --scratch     keeps sources, environments and what each suite printed in that folder; a temporary folder unless it is named
    --kind        runs one side only; the other one's log is taken from the folder
    ARGUMENT      in place of the suite's own: a file or a test

Sources come from PyPI, in the versions that suites.json names. Each suite has a virtual environment of Debian's Python, and each run a fresh
copy of the sources. The tests of a suite with "wheel" come with the package itself. suites.json lists the tests that need not pass on stores,
* for any text, with reasons. Exit status 1: another test fails.
"""
import argparse
import fnmatch
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
PYTHON = "/usr/bin/python3"
QUIET = 300  # seconds without a line of output after which a run has stopped
PYTEST_COMMAND = ["python", "-m", "pytest", "-v", "--tb=short", "--color=no", "-p", "no:cacheprovider", "--timeout=200", "--continue-on-collection-errors"]
PYTEST = re.compile(r"^(\S+::.*?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b", re.M)
UNITTEST = re.compile(r"^(\w+ \([\w.<>]+\))(?:\n(?!\w+ \([\w.]+\)).*)?? ?\.\.\. (ok|FAIL|ERROR|skipped|expected failure|unexpected success)\b", re.M)
FAILED_LATER = re.compile(r"^(?:FAIL|ERROR): (\w+ \([\w.<>]+\))", re.M)
PASSED = ("PASSED", "ok", "XPASS")


def prepared(scratch, name, suite):
    """The folder of a suite's sources, and the Python of its environment; made where they are missing."""
    folder = os.path.join(scratch, name)
    python = os.path.join(folder, "venv", "bin", "python")
    ready = os.path.join(folder, "ready")
    wanted = json.dumps([suite.get("version"), suite.get("requires")])
    if os.path.exists(ready) and open(ready).read() == wanted:
        return folder, python
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([PYTHON, "-m", "venv", os.path.join(folder, "venv")], check=True)
    pip = [python, "-m", "pip", "-q", "--disable-pip-version-check"]
    package, source = "%s==%s" % (name, suite["version"]), os.path.join(folder, "source")
    if suite.get("wheel"):
        os.mkdir(source)
    else:
        subprocess.run(pip + ["download", "--no-deps", "--no-binary", name, "-d", folder, package], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["tar", "xzf"] + glob.glob(os.path.join(glob.escape(folder), "*.tar.gz")) + ["-C", folder], check=True)
        unpacked, = [path for path in glob.glob(os.path.join(glob.escape(folder), "*-*")) if os.path.isdir(path)]
        os.rename(unpacked, source)
        package = source
    subprocess.run(pip + ["install"] + suite.get("requires", []) + [package], check=True, stdout=subprocess.DEVNULL)
    with open(ready, "w") as file:
        file.write(wanted)
    return folder, python


def run(folder, python, suite, kind, environment, arguments):
    """Runs a suite in a fresh copy of its sources. Returns its log's name and its seconds."""
    log = os.path.join(folder, kind + ".log")
    work = os.path.join(folder, "work")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(os.path.join(work, "tmp"))
    os.makedirs(os.path.join(work, "home"))
    shutil.copytree(os.path.join(folder, "source"), os.path.join(work, "source"), symlinks=True)
    for target, added in suite.get("adds", {}).items():
        shutil.copy(os.path.join(HERE, "suites", added), os.path.join(work, "source", target))
    command = PYTEST_COMMAND if suite["command"] == "pytest" else suite["command"]
    command = [python if word == "python" else word for word in command] + (arguments or suite.get("tests", []))
    started = time.monotonic()
    with open(log, "w") as output:
        process = subprocess.Popen(
            command, cwd=os.path.join(work, "source", suite.get("folder", ".")), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True, env={**os.environ, "TMPDIR": os.path.join(work, "tmp"), "HOME": os.path.join(work, "home"), "PYTHONHASHSEED": "0",
                                         "PATH": os.path.dirname(python) + ":" + os.environ["PATH"], **suite.get("environment", {}), **environment})
        size, since = -1, started
        while True:
            try:
                process.wait(1)
                break
            except subprocess.TimeoutExpired:
                pass
            if os.path.getsize(log) != size:
                size, since = os.path.getsize(log), time.monotonic()
            elif time.monotonic() - since > QUIET:
                os.killpg(process.pid, signal.SIGABRT)
                process.wait()
                output.write("\nsuites: stopped, nothing printed for %d seconds\n" % QUIET)
                break
        output.write("\nsuites: status %d after %.1f seconds\n" % (process.returncode, time.monotonic() - started))
    return log


def results(log):
    """What became of each test, and the seconds."""
    with open(log, errors="replace") as file:
        text = file.read()
    found = {}
    for test, result in PYTEST.findall(text) + UNITTEST.findall(text):
        if found.get(test) not in ("ERROR", "FAILED"):
            found[test] = result
    for test in FAILED_LATER.findall(text):
        found[test] = "FAIL"
    seconds = re.findall(r"^suites: status -?\d+ after ([\d.]+) seconds", text, re.M)
    return found, float(seconds[-1]) if seconds else 0


def excepted(test, exceptions):
    return any(fnmatch.fnmatchcase(test, name.replace("[", "[[]")) for name in exceptions)


def main():
    arguments, extra = sys.argv[1:], []
    if "--" in arguments:
        arguments, extra = arguments[:arguments.index("--")], arguments[arguments.index("--") + 1:]
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("interposer")
    options.add_argument("suites", nargs="*")
    options.add_argument("--scratch")
    options.add_argument("--kind", choices=["native", "store"])
    options = options.parse_intermixed_args(arguments)
    with open(os.path.join(HERE, "suites.json")) as file:
        suites = json.load(file)
    environments = {"native": {}, "store": {"LD_PRELOAD": os.path.abspath(options.interposer), "ROOTSTOCK_ENGINE": "lmdb", "ROOTSTOCK_MEMORY": "1"}}
    bad = False
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.suites or suites:
            suite = suites[name]
            try:
                folder, python = prepared(os.path.abspath(options.scratch or temporary), name, suite)
            except subprocess.CalledProcessError as error:
                print("suites: %s: SKIPPED, it cannot be fetched or built here: %s" % (name, error), flush=True)
                continue
            for kind, environment in environments.items():
                if options.kind in (None, kind):
                    run(folder, python, suite, kind, environment, extra)
            native, native_seconds = results(os.path.join(folder, "native.log"))
            store, store_seconds = results(os.path.join(folder, "store.log"))
            passed = {test for test, result in native.items() if result in PASSED}
            failed = {test for test in passed if store.get(test) not in PASSED}
            for test in sorted(failed):
                if not excepted(test, suite.get("exceptions", {})):
                    bad = True
                    print("suites: %s: passes natively, on a store: %s: %s" % (name, store.get(test, "not run"), test))
            bad = bad or not passed
            print("suites: %s %s: natively %d of %d tests pass, of these %d on stores; %.0f s, %.0f s" % (
                name, suite["version"], len(passed), len(native), len(passed) - len(failed), native_seconds, store_seconds), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
