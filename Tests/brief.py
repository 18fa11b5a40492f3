#!/usr/bin/env python3
"""Of a run of `swift test`: how far it is, every ten seconds, and all that is no test's beginning or success.
At the end it names the tests that began and told no end: those of a run that was stopped because it hung.

Usage: swift test ... 2>&1 | Tests/brief.py NAME
An argument of a test may break a line: such a line ends with its event's last word.
"""
import re
import sys
import time

name, begun, passed, shown = sys.argv[1], 0, 0, time.monotonic()
running = {}  # the tests that have begun, in their order
ends = None  # what the last line of a broken event looks like, while one is read
for data in sys.stdin.buffer:
    line = data.decode(errors="replace")
    if ends is None and line.startswith("◇"):
        ends = r" started\.$"
        begun += line.startswith("◇ Test case ")
        if test := re.match(r"◇ Test (?!case |run )(.*) started\.$", line):
            running[test[1]] = True
    elif ends is None and re.match("✔ (Test (?!run )|Suite )", line):
        ends = r" (seconds|issues?)\.$"
        passed += line.startswith("✔ Test ") and not line.startswith("✔ Test case ")
    elif ends is None and not re.match(r"Test Suite '|\s*Executed 0 tests|↳ (Testing Library|Target Platform)", line):
        sys.stdout.write(line)
    if test := re.match(r"[✔✘] Test (?!case |run )(.*?) (with \d+ test cases? )?(passed|failed) after ", line):
        running.pop(test[1], None)
    if ends is not None and re.search(ends, line):
        ends = None
    if time.monotonic() - shown >= 10:
        print(f"{name}: {passed} passed; {begun} cases begun, of those with arguments")
        shown = time.monotonic()
    sys.stdout.flush()
for test in running:
    print(f"{name}: {test} did not end")
