#!/usr/bin/env python3
"""Manual pages of the command, from what it says of its own options.

Usage: manual.py COMMAND FOLDER     one page for the command, and one for each subcommand
"""
import json
import os
import re
import subprocess
import sys


def escaped(text):
    """Text as roff has it: a backslash or a leading dot would be a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in text.splitlines())


def paragraphs(discussion):
    """Commands stand on lines of their own; everything else is filled."""
    lines = []
    for block in re.split(r"\n\s*\n", discussion.strip()):
        if all(line.startswith("rootstock") for line in block.splitlines()):
            lines += [".PP", ".nf", ".RS 4", escaped(block), ".RE", ".fi"]
        else:
            lines += [".PP", escaped(block)]
    return lines


def shown(argument):
    name = escaped(argument["valueName"])
    if argument["kind"] == "positional":
        return f"\\fI{name}\\fR"
    names = ", ".join(
        "\\fB" + escaped(("--" if n["kind"] == "long" else "-") + n["name"]) + "\\fR" for n in argument["names"])
    return names if argument["kind"] == "flag" else f"{names} \\fI{name}\\fR"


def page(command, path, version):
    title = "-".join(path)
    arguments = [a for a in command.get("arguments", []) if a["shouldDisplay"]]
    lines = [f'.TH {title.upper()} 1 "" "Rootstock {version}" "Rootstock"', ".SH NAME",
             f"{escaped(title)} \\- {escaped(command['abstract'].rstrip('.'))}", ".SH SYNOPSIS",
             f"\\fB{escaped(' '.join(path))}\\fR"]
    if any(a["kind"] != "positional" for a in arguments):
        lines.append("[\\fIoptions\\fR]")
    for argument in arguments:
        if argument["kind"] == "positional":
            text = shown(argument) + (" ..." if argument["isRepeating"] else "")
            lines.append(f"[{text}]" if argument["isOptional"] else text)
    subcommands = [s for s in command.get("subcommands", []) if s["shouldDisplay"] and s["commandName"] != "help"]
    if subcommands:
        lines.append("\\fIsubcommand\\fR ...")
    lines.append(".SH DESCRIPTION")
    lines.append(escaped(command["abstract"]))
    lines += paragraphs(command.get("discussion", ""))
    for heading, positional in (("ARGUMENTS", True), ("OPTIONS", False)):
        chosen = [a for a in arguments if (a["kind"] == "positional") == positional]
        if chosen:
            lines.append(f".SH {heading}")
        for argument in chosen:
            default = f" (default: {argument['defaultValue']})" if "defaultValue" in argument else ""
            lines += [".TP", shown(argument), escaped(argument.get("abstract", "") + default)]
    if subcommands:
        lines.append(".SH SUBCOMMANDS")
        for subcommand in subcommands:
            lines += [".TP", f"\\fB{escaped(title)}\\-{escaped(subcommand['commandName'])}\\fR(1)",
                      escaped(subcommand["abstract"])]
    else:
        lines += [".SH SEE ALSO", f"\\fB{escaped(path[0])}\\fR(1)"]
    return "\n".join(lines) + "\n"


def main():
    command, folder = sys.argv[1:]
    described = json.loads(subprocess.check_output([command, "--experimental-dump-help"]))["command"]
    version = subprocess.check_output([command, "--version"], text=True).split()[1]
    os.makedirs(folder, exist_ok=True)

    def write(node, path):
        with open(os.path.join(folder, "-".join(path) + ".1"), "w") as file:
            file.write(page(node, path, version))
        for subcommand in node.get("subcommands", []):
            if subcommand["shouldDisplay"] and subcommand["commandName"] != "help":
                write(subcommand, path + [subcommand["commandName"]])

    write(described, [described["commandName"]])


if __name__ == "__main__":
    main()
