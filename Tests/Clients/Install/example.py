"""A Python program with the installed extension: Debian's python3 can load it."""
import sqlite3
import sys

extension, path = sys.argv[1:]
db = sqlite3.connect(":memory:", isolation_level=None)
db.enable_load_extension(True)
db.load_extension(extension)
db.execute("SELECT rootstock_open(?)", (path,))
print(db.execute("SELECT isbn, title FROM book").fetchall())
