#!/usr/bin/env python3
"""Finds sentences of more than 30 words, which are hard to read, in the README, the articles, the notes, the comments of the C
and Swift code; and links to files that are not there.

Usage: Tests/Prose/check.py [--self-test] [FILE...]

Code, tables' rules, links' targets and headings do not count. A cell of a table and an item of a list are paragraphs of their own.
Exits with 1 and prints each sentence with its length.
"""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMIT = 30
PATTERNS = [
    "README.md", "CONTRIBUTING.md", "Sources/*/*.docc/*.md", "Vendor-notes/*.md", "Vendor-notes/results/README.md",
    "CShims/**/*.[ch]",
    "Sources/**/*.swift",
]


def paragraphs(text):
    """(line, text) of each paragraph, list item and table cell."""
    lines = re.sub(r"^ *```.*?^ *```$", lambda m: "\n" * m[0].count("\n"), text, flags=re.M | re.S).split("\n")
    current, start = [], 0
    for number, line in enumerate(lines + [""], 1):
        stripped = line.strip()
        begins = re.match(r"([-*+]|\d+\.) ", stripped)
        if not stripped or begins or stripped.startswith(("|", "#", "<!--", "@")):
            if current:
                yield start, " ".join(current)
            current = []
        if stripped.startswith("|"):
            for cell in stripped.strip("|").split("|"):
                yield number, cell.strip()
        elif stripped and not stripped.startswith(("#", "<!--", "@")):
            if not current:
                start = number
            current.append(stripped)


def comments(text):
    """The comments of a C file, each on its lines. Of their own lines one that is indented by two is an item of a table; one that is
    indented by more is an example, or goes on with such an item."""
    kept = [""] * (text.count("\n") + 1)
    for found in re.finditer(r"/\*(.*?)\*/", text, flags=re.S):
        first = text.count("\n", 0, found.start())
        for number, line in enumerate(found[1].split("\n")):
            line = re.sub(r"^\s*\*\*", "", line)
            # Comments behind code on lines one after the other are paragraphs of their own, as items of a list are.
            item = "* " if number == 0 and line.strip() or re.match(r" {3}[^ *+-]", line) else ""
            kept[first + number] = "" if line.startswith("    ") else item + line.strip()
    return "\n".join(kept)


def swift_comments(text):
    """The lines behind `///` and `//`, each where it stands; lines of the two kinds are paragraphs of their own."""
    lines, before = [], ""
    for line in text.split("\n"):
        found = re.match(r"\s*(///?)(?!/)\s?(.*)", line)
        kind = found[1] if found else ""
        lines.append("* " + found[2] if kind != before and found and found[2] else found[2] if found else "")
        before = kind
    return "\n".join(lines)


def sentences(text):
    text = re.sub(r"`[^`]*`", "code", text)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<doc:\w+>", "link", text)
    text = re.sub(r"\b[\w/]+\.[ch](,? [\w/]+\.[ch])+", "files", text)
    return re.split(r"(?<=[.!?])\s+", text)


def faults(text):
    for line, paragraph in paragraphs(text):
        for sentence in sentences(paragraph):
            count = len(re.findall(r"[\w'’%-]+", sentence))
            if count > LIMIT:
                yield line, count, sentence


def lost_links(path, text):
    for line, content in enumerate(text.splitlines(), 1):
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", content):
            if "://" not in target and not os.path.exists(os.path.join(os.path.dirname(path), target)):
                yield line, target


def self_test():
    good = "A row has a key. " * 30 + "\n\n```sh\n" + "word " * 40 + "\n```\n"
    bad = "It goes on " + "and on " * 20 + "to the end.\n"
    lost = list(lost_links(__file__, "[here](check.py) [there](nowhere.md) [web](https://example.org)"))
    header = "/* It is.\n** " + "word " * 31 + "*/\nint a; /* short */\n/*     " + "code " * 40 + "\n*/\n"
    if [line for line, _, _ in faults(comments(header))] != [1]:
        sys.exit("prose: the check of headers itself is wrong")
    if [line for line, _, _ in faults(swift_comments("    /// It is. " + "word " * 31 + "\n    let a = 1  // " + "word " * 31))] != [1]:
        sys.exit("prose: the check of Swift comments itself is wrong")
    if list(faults(good)) or len(list(faults(bad))) != 1 or lost != [(1, "nowhere.md")]:
        sys.exit("prose: the check itself is wrong")


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--self-test"]:
        self_test()
        arguments = arguments[1:]
    files = arguments or [path for pattern in PATTERNS
                          for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True))]
    count = lost = 0
    for path in files:
        with open(path) as file:
            text = file.read()
        if path.endswith((".h", ".c")):
            text = comments(text)
        if path.endswith(".swift"):
            text = swift_comments(text)
        for line, words, sentence in faults(text):
            count += 1
            print(f"{os.path.relpath(path, ROOT)}:{line}: {words} words: {sentence}", file=sys.stderr)
        for line, target in lost_links(path, text):
            lost += 1
            print(f"{os.path.relpath(path, ROOT)}:{line}: there is no {target}", file=sys.stderr)
    print(f"prose: {len(files)} files, {count} sentences of more than {LIMIT} words, {lost} lost links")
    sys.exit(1 if count or lost else 0)


if __name__ == "__main__":
    main()
