#!/usr/bin/env python3
"""The prompt of `rootstock sql`, typed at on a terminal: rows, errors that point at their place, Ctrl-C, history, completion.

Usage: Tests/Clients/Prompt/run.py COMMAND
Runs on an LMDB store and on a SQLite database. Completion needs libedit, and is left out with a word where it is not there.
"""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time


class Terminal:
    def __init__(self, words, folder, locale="C.UTF-8"):
        self.master, slave = pty.openpty()
        environment = dict(os.environ, HOME=folder, TERM="dumb", LC_ALL=locale)
        self.process = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=environment,
                                        start_new_session=True, preexec_fn=self.own_terminal)
        os.close(slave)
        self.text = ""

    @staticmethod
    def own_terminal():
        import fcntl
        import termios
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def type(self, text):
        os.write(self.master, text.encode())

    def wait(self, pattern, seconds=20):
        """What was printed up to the pattern, which must come in time; it is taken."""
        end = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self.text)
            if found:
                before, self.text = self.text[:found.end()], self.text[found.end():]
                return before
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.master], [], [], left)[0]:
                raise SystemExit(f"prompt: no {pattern!r} within {seconds} s, but {self.text!r}")
            try:
                piece = os.read(self.master, 65536)
            except OSError:
                piece = b""
            if not piece:
                raise SystemExit(f"prompt: it ended before {pattern!r}, with {self.text!r}")
            self.text += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", piece.decode(errors="replace")).replace("\r", "")

    def end(self):
        self.type(".quit\n")
        status = self.process.wait(timeout=20)
        os.close(self.master)
        return status


PROMPT = r"rootstock> "


def run(command, folder, name, locale):
    terminal = Terminal([command, "sql", name], folder, locale)
    has_completion = "no editing" not in terminal.wait(PROMPT)
    # A statement goes over several lines; the error below points at the word.
    terminal.type("CREATE TABLE book (title TEXT);\n")
    terminal.wait(PROMPT)
    terminal.type("INSERT INTO book VALUES ('Solaris')\n")
    terminal.wait(r"\.\.\.> ")
    terminal.type(", ('Fiasco');\n")
    terminal.wait(PROMPT)
    terminal.type("SELECT title FROM book ORDER BY title;\n")
    terminal.wait(r"Fiasco\nSolaris\n")
    terminal.wait(PROMPT)
    terminal.type("SELECT nosuch FROM book;\n")
    terminal.wait(r"Error: no such column: nosuch\n.*\n +\^--- error here\n")
    terminal.wait(PROMPT)
    # Characters beyond ASCII arrive, whatever the locale says.
    terminal.type("SELECT 'é', length('日本');\n")
    terminal.wait(r"\né\|2\n")
    terminal.wait(PROMPT)
    # Ctrl-C ends the statement, not the prompt, and what it had written goes with it.
    terminal.type("INSERT INTO book WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 'x' || i FROM n;\n")
    time.sleep(1)
    terminal.type("\x03")
    terminal.wait(r"interrupted")
    terminal.wait(PROMPT)
    terminal.type("SELECT count(*) || ' books' FROM book;\n")
    terminal.wait(r"\n2 books\n")
    terminal.wait(PROMPT)
    # It ends an import, too, whose statements are short ones.
    with open(os.path.join(folder, "many.csv"), "w") as file:
        file.writelines(f"{number},text\n" for number in range(3000000))
    terminal.type(".import many.csv many\n")
    time.sleep(1)
    terminal.type("\x03")
    terminal.wait(r"interrupted")
    terminal.wait(PROMPT)
    terminal.type("SELECT count(*) || ' tables' FROM sqlite_schema;\n")
    terminal.wait(r"\n1 tables\n")
    terminal.wait(PROMPT)
    # At the prompt it takes back what was typed of a statement.
    if has_completion:
        terminal.type("SELECT (1,\n")
        terminal.wait(r"\.\.\.> ")
        terminal.type("2, ")
        time.sleep(0.3)
        terminal.type("\x03")
        terminal.wait(PROMPT)
        terminal.type("SELECT 7 || ' again';\n")
        terminal.wait(r"\n7 again\n")
        terminal.wait(PROMPT)
    if has_completion:
        terminal.type("SELECT max(title) FROM bo\t;\n")
        terminal.wait(r"\nSolaris\n")
        terminal.wait(PROMPT)
    if terminal.end() != 0:
        raise SystemExit("prompt: .quit gives another status than 0")
    # The next one has the history.
    terminal = Terminal([command, "sql", name], folder)
    terminal.wait(PROMPT)
    if has_completion:
        terminal.type("\x10\x10\n")  # Ctrl-P: .quit, then the line before it
        terminal.wait(r"\n(2 books|Solaris)\n")
        terminal.wait(PROMPT)
    terminal.end()
    return has_completion


def main():
    command = os.path.abspath(sys.argv[1])
    signal.alarm(120)
    with tempfile.TemporaryDirectory(prefix="rootstock-prompt-") as folder:
        completion = [run(command, folder, *names) for names in (("book.lmdb", "C"), ("book.sqlite", "C.UTF-8"))]
    print("prompt: rows, errors, Ctrl-C" + (", history, completion" if all(completion) else "; no libedit here, so no history or completion"))


if __name__ == "__main__":
    main()
