# What a program is told of a file that cannot be opened.
import os
import sqlite3

os.mkdir("folder")
for path in ["none/data.db", "folder", "file:none/data.db?mode=rw", "file:none/data.db?mode=ro", "file:none/data.db?mode=rwc"]:
    try:
        sqlite3.connect(path, uri=path.startswith("file:")).execute("CREATE TABLE t (a)")
        print("opened", path)
    except sqlite3.Error as error:
        print(path, type(error).__name__, error.sqlite_errorname, error)
connection = sqlite3.connect("data.db", isolation_level=None)
connection.execute("CREATE TABLE t (a)")
for path in ["none/data.db", "folder", "file:none/data.db?mode=ro"]:
    try:
        connection.execute("ATTACH ? AS other", (path,))
        print("attached", path)
    except sqlite3.Error as error:
        print(path, type(error).__name__, error.sqlite_errorname, error)
