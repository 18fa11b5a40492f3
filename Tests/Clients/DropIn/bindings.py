#!/usr/bin/env python3
"""Runs the tests of other languages' bindings natively and on stores, and sessions of programs that keep databases.

Usage: Tests/Clients/DropIn/bindings.py [--scratch FOLDER] INTERPOSER [NAME...]
    INTERPOSER    build/librootstock_interpose.so (make interpose)
    NAME          DBD::SQLite, PHP, or a script of sessions/: all unless some are named
    --scratch     keeps sources and what was printed in that folder; a temporary folder unless it is named

Perl's DBD::SQLite and PHP's sqlite3 and pdo_sqlite are Debian's, whose tests come from Debian's source packages. Python's APSW and Go's go-sqlite3
bring their tests along in Debian's packages. What is not installed is installed with apt. Databases in memory are stores, too. EXCEPTIONS lists what need not pass on stores. Exit status 1: another test fails.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import debian

PACKAGES = ["libdbd-sqlite3-perl", "php-cli", "php-sqlite3", "newsboat", "rpm", "spatialite-bin", "sqlite3", "subversion", "python3-apsw", "gcc", "golang-go",
            "golang-github-mattn-go-sqlite3-dev", "libsqlite3-dev"]
GO_SOURCES = "/usr/share/gocode/src/github.com/mattn/go-sqlite3"
HERE = os.path.dirname(os.path.realpath(__file__))
# File of the tests, or a test's name -> from which test on it need not pass, and why.
EXCEPTIONS = {
    "t/65_db_config.t": (67, "gives a table another name in sqlite_schema than its text; a store refuses that"),
    "TestSetFileControlInt": (1, "looks for the file -wal"),
    "TestSetFileControlInt/PERSIST_WAL": (1, "looks for the file -wal"),
    "testAutovacuumPages (__main__.APSW.testAutovacuumPages)": (1, "sqlite3_autovacuum_pages calls nobody"),
    "Test WAL functions": (1, "sqlite3_wal_hook calls nobody"),
    "Verify VFS functionality": (1, "opens a file by a VFS of its own that the system's VFS has made, which is a store"),
    "Verify VFS using WAL": (1, "the same"),
    "Indirect descendents of VFS should support WAL (in addition to direct subclasses)": (1, "the same"),
    "Issue 98: An error in context manager commit should do a rollback": (1, "expects a reader to hold a commit up"),
    "Issue 106: Profiling and tracing": (1, "the same"),
    "Verify serialize/deserialize calls": (1, "deserializes into a file"),
    "Use front page of wikipedia to check unicode handling": (1, "expects PRAGMA encoding to answer UTF-16"),
    "Verify statement cache integrity": (1, "SQLITE_PREPARE_NO_VTAB means nothing on a store"),
    "Rerun statement cache tests with a zero sized/disabled cache": (1, "the same"),
    "Deliberately inject faults to exercise all code paths": (1, "counts which call asks its VFS for random bytes first"),
    "Test detection of using objects across fork": (1, "has room for 20 mutexes; the connections of a store need more"),
}


def environment(kind, interposer):
    own = dict(os.environ, KIND=kind, LC_ALL="C.UTF-8", NO_INTERACTION="1", PDO_SQLITE_TESTS="1")
    if kind == "store":
        own.update(LD_PRELOAD=interposer, ROOTSTOCK_ENGINE="lmdb", ROOTSTOCK_MEMORY="1")
    return own


def run(command, folder, kind, interposer, seconds=120):
    try:
        done = subprocess.run(command, cwd=folder, env=environment(kind, interposer), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds)
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(errors="replace")
    return done.stdout.decode(errors="replace")


def perl(folder, kind, interposer):
    """The tests that pass: file and number."""
    passed = set()
    for test in sorted(glob.glob("t/*.t", root_dir=folder) + glob.glob("t/*/*.t", root_dir=folder)):
        printed = run(["perl", "-It/lib", "-I.", test], folder, kind, interposer)
        passed |= {(test, int(number)) for number in re.findall(r"^ok (\d+)", printed, re.M)}
    return passed


def php(folder, kind, interposer):
    program = shutil.which("php")
    own = {"TEST_PHP_EXECUTABLE": program, "PATH": os.environ["PATH"]}
    command = ["env", *(f"{key}={value}" for key, value in own.items()), program, "run-tests.php", "-q", "-n"]
    command += ["-d", "extension=pdo.so", "-d", "extension=sqlite3.so", "-d", "extension=pdo_sqlite.so"]
    printed = run(command + ["ext/sqlite3/tests", "ext/pdo_sqlite/tests"], folder, kind, interposer, 900)
    return {(name, 1) for name in re.findall(r"PASS\S* .*\[(ext/\S+)\]", printed)}


def apsw(folder, kind, interposer):
    printed = run(["/usr/bin/python3", "-m", "apsw.tests", "-v"], folder, kind, interposer, 600)
    return {(name, 1) for name in re.findall(r"^(.*) \.\.\. ok$", printed, re.M)}


def go(folder, kind, interposer):
    """All but the test that cuts the file short while it is open: it ends the process."""
    package = os.path.join(folder, "src/github.com/mattn/go-sqlite3")
    shutil.copytree(GO_SOURCES, package)
    tags = "libsqlite3 sqlite_fts5 sqlite_preupdate_hook sqlite_column_metadata sqlite_math_functions sqlite_vtable"
    own = {**os.environ, "GOPATH": folder, "GO111MODULE": "off", "GOPROXY": "off", "GOFLAGS": "", "GOCACHE": folder + "/cache"}
    subprocess.run(["go", "test", "-c", "-tags", tags, "-o", "../program", "."], cwd=package, env=own, check=True)
    names = re.findall(r"^(Test\w+)$", run(["../program", "-test.list", "."], package, "native", interposer), re.M)
    chosen = "^(%s)$" % "|".join(name for name in names if name != "TestFileCopyTruncate")
    printed = run(["../program", "-test.v", "-test.run", chosen], package, kind, interposer, 300)
    return {(name, 1) for name in re.findall(r"--- PASS: (\S+)", printed)}


def session(name):
    """The tests of a script: each line that it prints, with its place. On a store one of them is `store`: the script has looked."""
    def lines(folder, kind, interposer):
        printed = run(["bash", os.path.join(HERE, "sessions", name + ".sh")], folder, kind, interposer).splitlines()
        if (kind in printed) != (kind == "store"):
            return set()
        return {(line, place) for place, line in enumerate(printed) if line != kind}
    return lines


def install():
    missing = [package for package in PACKAGES if subprocess.run(["dpkg", "-s", package], capture_output=True).returncode != 0]
    if missing:
        subprocess.run(["apt-get", "-qq", "install", "-y", "--no-install-recommends", *missing], check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--scratch")
    parser.add_argument("interposer")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    interposer = os.path.realpath(arguments.interposer)
    scratch = os.path.abspath(arguments.scratch or tempfile.mkdtemp())
    failed = 0
    try:
        install()
        source = os.path.join(scratch, "source")
        if not os.path.isdir(source) and (not arguments.names or {"DBD::SQLite", "PHP"} & set(arguments.names)):
            os.makedirs(source)
            php_source = subprocess.run(["dpkg-query", "-W", "-f", "${Depends}", "php-cli"], capture_output=True, text=True).stdout.split("-cli")[0]
            debian.fetch(source, "libdbd-sqlite3-perl", php_source)
        sessions = sorted(os.path.splitext(script)[0] for script in os.listdir(os.path.join(HERE, "sessions")))
        for name, tests, pattern in [("DBD::SQLite", perl, "DBD-SQLite-*"), ("PHP", php, "php-*"), ("APSW", apsw, None), ("Go", go, None)] + [(name, session(name), None) for name in sessions]:
            if arguments.names and name not in arguments.names:
                continue
            passed = {}
            for kind in ("native", "store"):
                folder = os.path.join(scratch, name.replace(":", "") + "-" + kind)
                shutil.rmtree(folder, ignore_errors=True)
                if pattern is None:
                    os.makedirs(folder)
                else:
                    found = [f for f in glob.glob(os.path.join(source, pattern)) if os.path.isdir(f)]
                    shutil.copytree(found[0], folder, symlinks=True)
                passed[kind] = tests(folder, kind, interposer)
            other = sorted(passed["native"] - passed["store"])
            unexpected = [(file, number) for file, number in other if file not in EXCEPTIONS or number < EXCEPTIONS[file][0]]
            print(f"bindings: {name}: {len(passed['native'])} pass natively, {len(passed['native']) - len(other)} of these on stores", flush=True)
            for file, number in unexpected:
                print(f"bindings: {name}: {file} {number} fails on stores", file=sys.stderr)
            failed += len(unexpected) + (len(passed["native"]) == 0)
    finally:
        if arguments.scratch is None:
            shutil.rmtree(scratch, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
