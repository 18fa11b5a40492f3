#!/usr/bin/env python3
"""Finds sentences of more than 30 words in the README and the articles, which are hard to read, and links to files that are not there.

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


def paragraphs(text):
    """(line, text) of each paragraph, list item and table cell."""
    lines = re.sub(r"^```.*?^```$", lambda m: "\n" * m[0].count("\n"), text, flags=re.M | re.S).split("\n")
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


def sentences(text):
    text = re.sub(r"`[^`]*`", "code", text)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<doc:\w+>", "link", text)
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
    if list(faults(good)) or len(list(faults(bad))) != 1 or lost != [(1, "nowhere.md")]:
        sys.exit("prose: the check itself is wrong")


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--self-test"]:
        self_test()
        arguments = arguments[1:]
    files = arguments or [os.path.join(ROOT, "README.md"), os.path.join(ROOT, "CONTRIBUTING.md")] + sorted(
        glob.glob(os.path.join(ROOT, "Sources/Rootstock/Rootstock.docc/*.md")))
    count = lost = 0
    for path in files:
        with open(path) as file:
            text = file.read()
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
