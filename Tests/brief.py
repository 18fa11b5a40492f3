#!/usr/bin/env python3
"""Of a run of `swift test`: how far it is, every ten seconds, and all that is no test's beginning or success.

Usage: swift test ... 2>&1 | Tests/brief.py NAME
An argument of a test may break a line: such a line ends with its event's last word.
"""
import re
import sys
import time

name, begun, passed, shown = sys.argv[1], 0, 0, time.monotonic()
ends = None  # what the last line of a broken event looks like, while one is read
for data in sys.stdin.buffer:
    line = data.decode(errors="replace")
    if ends is None and line.startswith("◇"):
        ends = r" started\.$"
        begun += line.startswith("◇ Test case ")
    elif ends is None and re.match("✔ (Test (?!run )|Suite )", line):
        ends = r" (seconds|issues?)\.$"
        passed += line.startswith("✔ Test ") and not line.startswith("✔ Test case ")
    elif ends is None and not re.match(r"Test Suite '|\s*Executed 0 tests|↳ (Testing Library|Target Platform)", line):
        sys.stdout.write(line)
    if ends is not None and re.search(ends, line):
        ends = None
    if time.monotonic() - shown >= 10:
        print(f"{name}: {passed} passed; {begun} cases begun, of those with arguments")
        shown = time.monotonic()
    sys.stdout.flush()
