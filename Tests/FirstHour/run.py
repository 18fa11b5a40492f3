#!/usr/bin/env python3
"""Runs the sessions of the README and of articles as they are written, and compares what they print.

Usage: Tests/FirstHour/run.py [--transcript FILE] COMMAND [DOCUMENT...]
    COMMAND       the command `rootstock`
    DOCUMENT      README.md and the articles below unless some are named
    --transcript  writes what was typed and printed, document by document

A document's sessions share one new folder, with the project's folders `build` and `CShims` in it:
  * a fence ```console holds lines "$ command" and what they print, standard error included; a line "..." stands for any lines;
  * a fence of another language is saved where the paragraph before it says: Save this as `NAME`.
  * where that paragraph says: From `PATH`, the fence stands in that file of the project, word for word.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENTS = ["README.md"] + ["Sources/Rootstock/Rootstock.docc/" + name for name in
                            ("DropIn.md", "FileFormat.md", "AnEngineInAnAfternoon.md", "GRDBOnAStore.md", "YourOwnData.md")]


def fences(text):
    """(language, line of the fence, text before it, content) of each fence."""
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S):
        yield match[1], text.count("\n", 0, match.start()) + 1, text[:match.start()], match[2]


def steps(content):
    """(line, command, what it prints) of a session. A command goes on after a backslash, as in a shell."""
    lines, position = content.splitlines(), 0
    while position < len(lines):
        start = position
        if not lines[start].startswith("$ "):
            raise ValueError(f"the session begins with {lines[start]!r} and no command")
        command = lines[position][2:]
        while command.endswith("\\"):
            position += 1
            command += "\n" + lines[position]
        position += 1
        expected = []
        while position < len(lines) and not lines[position].startswith("$ "):
            expected.append(lines[position])
            position += 1
        yield start, command, expected


def alike(expected, printed):
    pattern = "\n".join(".*" if line == "..." else re.escape(line) for line in expected)
    return re.fullmatch(pattern, "\n".join(printed), re.S) is not None


def run(document, command, transcript):
    """Runs a document's sessions; returns how many commands ran, and what went wrong."""
    with open(os.path.join(ROOT, document)) as file:
        text = file.read()
    wrong, count = [], 0
    transcript.append(f"# {document}")
    with tempfile.TemporaryDirectory(prefix="rootstock-first-hour-") as folder:
        for name in ("build", "CShims"):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
        environment = dict(os.environ, PATH=os.path.dirname(os.path.abspath(command)) + ":" + os.environ["PATH"], HOME=folder)
        # What `make` says to its own children: a reader's shell does not have it.
        for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
            environment.pop(name, None)
        for language, line, before, content in fences(text):
            name = re.search(r"Save this as `([^`]+)`:\s*$", before)
            if language != "console":
                quoted = re.search(r"From `([^`]+)`:\s*$", before)
                if quoted:
                    count += 1
                    with open(os.path.join(ROOT, quoted[1])) as file:
                        if content not in file.read():
                            wrong.append(f"{document}:{line}: this does not stand in {quoted[1]}:\n{content}")
                if name:
                    with open(os.path.join(folder, name[1]), "w") as file:
                        file.write(content)
                continue
            for offset, typed, expected in steps(content):
                answer = subprocess.run(["bash", "-c", typed], cwd=folder, env=environment, text=True, timeout=300,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
                printed = answer.stdout.splitlines()
                transcript += [f"$ {typed}"] + printed
                count += 1
                if not alike(expected, printed):
                    wrong.append(f"{document}:{line + offset + 1}: $ {typed}\nwritten:\n" + "\n".join(expected)
                                 + "\nprinted:\n" + "\n".join(printed))
    return count, wrong


def main():
    arguments = sys.argv[1:]
    target = None
    if arguments[:1] == ["--transcript"]:
        target, arguments = arguments[1], arguments[2:]
    if not arguments:
        sys.exit(__doc__)
    command, documents = arguments[0], arguments[1:] or DOCUMENTS
    transcript, wrong, total = [], [], 0
    for document in documents:
        count, faults = run(document, command, transcript)
        if not count:
            wrong.append(f"{document}: no session")
        wrong += faults
        total += count
    if target:
        with open(target, "w") as file:
            file.write("\n".join(transcript) + "\n")
    for fault in wrong:
        print(fault, file=sys.stderr)
    print(f"first hour: {total} commands and quotations of {len(documents)} documents, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
