# Files are put over one that others open, change and close all the time: each of them finds one file, whole. Natively
# that damages files, by a journal of the other one (sqlite.org/howtocorrupt.html), so it is told what a store answers.
import os
import sqlite3
import subprocess
import sys
import time

ROWS, FILES, SECONDS = 20, 100000, 4


def connect(name):
    return sqlite3.connect(name, timeout=30, isolation_level=None)


def filled(number):
    connection = connect("copy.db")
    connection.execute("CREATE TABLE t(a)")
    connection.execute("CREATE TABLE u(b, c)")
    connection.executemany("INSERT INTO t VALUES (?)", [(number * FILES,)] * ROWS)
    connection.close()


def work():
    turns, until = 0, time.time() + SECONDS
    while time.time() < until:
        connection = connect("data.db")
        try:
            for _ in range(3):
                connection.execute("BEGIN IMMEDIATE")
                found = connection.execute("SELECT count(*), min(a), max(a), (SELECT count(*) FROM u), (SELECT max(b) FROM u) FROM t").fetchone()
                changes = found[1] % FILES
                if found != (ROWS, found[1], found[1], changes, found[1] if changes else None):
                    print("found", found)
                connection.execute("UPDATE t SET a = a + 1")
                connection.execute("INSERT INTO u SELECT max(a), zeroblob(300) FROM t")
                connection.execute("COMMIT")
            turns += 1
            if turns % 10 == 0 and connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                print("damaged")
        except sqlite3.Error as error:
            print(error.sqlite_errorname, error)
        connection.close()
    print("changes were made" if turns else "none were made")


if len(sys.argv) > 1:
    work()
    sys.exit()
if "ROOTSTOCK_ENGINE" not in os.environ:
    print("changes were made\n" * 4, end="")
    sys.exit()
filled(0)
os.rename("copy.db", "data.db")
workers = [subprocess.Popen([sys.executable, __file__, "work"], stdout=subprocess.PIPE, text=True) for _ in range(4)]
number, until = 0, time.time() + SECONDS
while time.time() < until:
    number += 1
    filled(number)
    os.replace("copy.db", "data.db")
    time.sleep(number % 8 / 80)
for worker in workers:
    print(worker.communicate()[0].strip()[:500])
