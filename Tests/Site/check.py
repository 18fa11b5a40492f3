#!/usr/bin/env python3
"""Checks the static site that `make docs` builds: each link leads to a page, each page stands in the list that the search looks through.

Usage: Tests/Site/check.py [--self-test] FOLDER

A page is a JSON file below data/ and an HTML file for its address; its links are the URLs of its references, and its pictures their
files. The site's filter and quick search look through index/index.json. Exits with 1 and names each fault.
"""
import glob
import json
import os
import shutil
import sys
import tempfile


def urls(value):
    """Every URL and title of the page's references."""
    for reference in value.get("references", {}).values():
        for variant in reference.get("variants", []):
            yield reference.get("type"), variant["url"]
        if "url" in reference:
            yield reference.get("type"), reference["url"]


def listed(nodes):
    for node in nodes:
        if "path" in node:
            yield node["path"].lower()
        yield from listed(node.get("children", []))


def faults(folder):
    pages = {}
    for path in glob.glob(os.path.join(folder, "data/documentation/**/*.json"), recursive=True):
        address = "/" + os.path.relpath(path, os.path.join(folder, "data"))[:-len(".json")]
        with open(path) as file:
            pages[address] = json.load(file)
    if not pages:
        yield f"{folder}: there is no page"
    with open(os.path.join(folder, "index/index.json")) as file:
        index = json.load(file)
    found = set(listed(node for nodes in index["interfaceLanguages"].values() for node in nodes))
    for address, page in sorted(pages.items()):
        if not os.path.exists(os.path.join(folder, address.lstrip("/"), "index.html")):
            yield f"{address}: there is no HTML file for it"
        if page.get("kind") in ("article", "symbol") and address not in found:
            yield f"{address}: the search does not find it"
        for kind, url in urls(page):
            if url.startswith(("http://", "https://", "mailto:")):
                continue
            target = url.split("#")[0]
            exists = target.lower() in pages if target.startswith("/documentation/") else \
                os.path.exists(os.path.join(folder, target.lstrip("/")))
            if not exists:
                yield f"{address}: there is no {kind} {url}"
    for address in sorted(found - set(pages)):
        yield f"the search leads to {address}, and there is no such page"


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "data/documentation/a"))
        os.makedirs(os.path.join(folder, "index"))
        os.makedirs(os.path.join(folder, "documentation/a"))
        open(os.path.join(folder, "documentation/a/index.html"), "w").close()
        page = {"kind": "article", "references": {"x": {"type": "topic", "url": "/documentation/A#There"}}}

        def written(page, paths):
            with open(os.path.join(folder, "data/documentation/a.json"), "w") as file:
                json.dump(page, file)
            with open(os.path.join(folder, "index/index.json"), "w") as file:
                json.dump({"interfaceLanguages": {"swift": [{"children": [{"path": path} for path in paths]}]}}, file)
            return len(list(faults(folder)))

        lost = {"kind": "article", "references": {"x": {"type": "topic", "url": "/documentation/b"}}}
        picture = {"kind": "article", "references": {"x": {"type": "image", "variants": [{"url": "/images/x.svg"}]}}}
        results = [written(page, ["/documentation/a"]), written(lost, ["/documentation/a"]), written(picture, ["/documentation/a"]),
                   written(page, []), written(page, ["/documentation/a", "/documentation/b"])]
        shutil.rmtree(os.path.join(folder, "documentation"))
        results.append(written(page, ["/documentation/a"]))
        if results != [0, 1, 1, 1, 1, 1]:
            sys.exit(f"site: the check itself is wrong: {results}")


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--self-test"]:
        self_test()
        arguments = arguments[1:]
    if len(arguments) != 1:
        sys.exit(__doc__)
    wrong = list(faults(arguments[0]))
    for fault in wrong:
        print(fault, file=sys.stderr)
    count = len(glob.glob(os.path.join(arguments[0], "data/documentation/**/*.json"), recursive=True))
    print(f"site: {count} pages, {len(wrong)} faults")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
