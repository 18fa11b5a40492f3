#!/usr/bin/env python3
"""Runs GRDB's own tests natively and with their databases on stores, and tells which of those that pass natively fail on stores.

Usage: Tests/Clients/DropIn/grdb.py [--scratch FOLDER] [--log FOLDER] INTERPOSER [CLASS...]
    INTERPOSER    build/librootstock_interpose.so (make interpose)
    CLASS         test classes, all unless some are named
    --scratch     where GRDB is built and kept, about 1 GiB; a temporary folder unless it is named
    --log         keeps what each class printed in that folder

The tests come with the package that Tests/Clients/GRDBProgram resolves. Each class is a process of its own. A test that prints nothing
for TIMEOUT seconds counts as failed, and the class goes on behind it. grdb.exceptions lists the tests that need not pass on stores, with reasons.
Exit status 1: another test fails, or fewer than 99% pass. A test that fails natively is left out.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
PROGRAM = os.path.join(HERE, "..", "GRDBProgram")
PACKAGE = "https://github.com/groue/GRDB.swift"
SWIFT = os.environ.get("SWIFT", "swift")
TIMEOUT = 180
ENDED = re.compile(r"^Test Case '(\w+\.\w+)' (passed|failed|skipped) \(", re.M)
STARTED = re.compile(r"Test Case '(\w+\.\w+)' started at ")


def built(scratch):
    """The test program of GRDB, built below the folder; None where the package cannot be had."""
    copy = os.path.join(scratch, "GRDB.swift")
    if not os.path.isdir(copy):
        if subprocess.run(["git", "ls-remote", "-q", "--exit-code", PACKAGE, "7.10.0"], capture_output=True).returncode != 0:
            return None
        resolve = [SWIFT, "package", "--package-path", PROGRAM, "--scratch-path", os.path.join(scratch, "resolved"), "resolve"]
        subprocess.run(resolve, check=True, stdout=sys.stderr)
        shutil.copytree(os.path.join(scratch, "resolved", "checkouts", "GRDB.swift"), copy, ignore=shutil.ignore_patterns(".git"))
    build = [SWIFT, "build", "--package-path", copy, "--build-tests", "--quiet", "-j", str(os.cpu_count())]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    folder = subprocess.run([SWIFT, "build", "--package-path", copy, "--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip()
    return os.path.join(folder, "GRDBPackageTests.xctest")


def classes_of(program):
    """Class -> names of its tests, as XCTest takes them."""
    classes = {}
    for line in subprocess.run([program, "--list-tests"], check=True, capture_output=True, text=True).stdout.splitlines():
        match = re.fullmatch(r"\s*(\w+\.(\w+)/\w+)", line)
        if match:
            classes.setdefault(match[2], []).append(match[1])
    return classes


def name_of(test):
    """As it prints itself: of Module.Class/test, Class.test."""
    return test.split(".", 1)[1].replace("/", ".")


def run(program, tests, environment):
    """What became of each test of a class, and what was printed. A test that prints nothing for TIMEOUT seconds has stopped."""
    found, printed, left = {}, [], list(tests)
    while left:
        with tempfile.TemporaryDirectory() as folder:
            command = [program, ",".join(left)]
            log = os.path.join(folder, "log")
            with open(log, "w") as output:
                process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, cwd=folder,
                                           env={**os.environ, **environment, "TMPDIR": folder})
                size, ended = -1, False
                while not ended and os.path.getsize(log) != size:
                    size = os.path.getsize(log)
                    try:
                        process.wait(TIMEOUT)
                        ended = True
                    except subprocess.TimeoutExpired:
                        pass
                if not ended:
                    process.kill()
                    process.wait()
            with open(log, errors="replace") as output:
                text = output.read()
        printed.append(text)
        found.update(ENDED.findall(text))
        stopped = STARTED.findall(text)
        stopped = stopped[-1] if stopped and stopped[-1] not in found else None
        if stopped:
            found[stopped] = "stopped"
        before = len(left)
        left = [test for test in left if name_of(test) not in found] if stopped else []
        if len(left) == before:
            break
    return found, "".join(printed)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("interposer")
    options.add_argument("classes", nargs="*")
    options.add_argument("--scratch")
    options.add_argument("--log")
    options = options.parse_args()
    with open(os.path.join(HERE, "grdb.exceptions")) as file:
        reasons = dict(line.strip().split("#", 1) for line in file if not line.startswith("#"))
    excepted = {test.strip() for test in reasons}
    hanging = {test.strip() for test, reason in reasons.items() if reason.endswith("hangs")}
    with tempfile.TemporaryDirectory() as temporary:
        program = built(os.path.abspath(options.scratch or temporary))
        if program is None:
            print("grdb: SKIPPED: the package GRDB.swift cannot be fetched here")
            return 0
        classes = classes_of(program)
        for name in options.classes:
            if name not in classes:
                sys.exit(f"grdb: there is no test class {name}")
        environments = {"native": {}, "store": {"LD_PRELOAD": os.path.abspath(options.interposer), "ROOTSTOCK_ENGINE": "lmdb",
                                                "ROOTSTOCK_MEMORY": "1"}}
        results = {kind: {} for kind in environments}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = {}
            for name, tests in sorted(classes.items()):
                for kind, environment in environments.items() if not options.classes or name in options.classes else []:
                    chosen = [test for test in tests if kind == "native" or name_of(test) not in hanging]
                    jobs[pool.submit(run, program, chosen, environment)] = (kind, name)
            for job in concurrent.futures.as_completed(jobs):
                (kind, name), (found, printed) = jobs[job], job.result()
                results[kind].update(found)
                if options.log:
                    os.makedirs(options.log, exist_ok=True)
                    with open(os.path.join(options.log, f"{name}.{kind}"), "w") as file:
                        file.write(printed)
    passed = {test for test, result in results["native"].items() if result == "passed"}
    failed = {test for test in passed if results["store"].get(test) != "passed"}
    for test in sorted(failed - excepted):
        print(f"grdb: passes natively, on a store: {results['store'].get(test, 'not run')}: {test}")
    if not options.classes:
        for test in sorted(excepted - failed):
            print(f"grdb: listed as an exception, and passes or does not run: {test}")
    share = 100 * (len(passed) - len(failed)) / max(1, len(passed))
    print(f"grdb: natively {len(passed)} of {len(results['native'])} tests pass, of these {len(passed) - len(failed)} on stores: {share:.2f}%")
    return 1 if failed - excepted or not passed or (share < 99 and not options.classes) else 0


if __name__ == "__main__":
    sys.exit(main())
