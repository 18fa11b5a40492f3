#!/usr/bin/python3
"""refused.py EXTENSION LIBRARY - a commit that the server refuses in its midst, within server.sh.

Nothing of it is there, the error is the server's, and its client holds no lock: another one writes, and so does it. The server
refuses by a trigger on the engine's table, which stands for a full disk or a limit of time."""
import os, sqlite3, subprocess, sys


def connect(extension, library):
    c = sqlite3.connect(":memory:", isolation_level=None)
    c.enable_load_extension(True)
    c.load_extension(extension)
    c.execute("SELECT rootstock_load_engine(?)", (library,)).fetchall()
    c.execute("SELECT rootstock_open(?, 'postgres')", (os.environ["ROOTSTOCK_POSTGRES"] + "&rootstock_schema=refused",)).fetchall()
    return c


def run(c, sql):
    return c.execute(c.execute("SELECT rootstock_rewrite(?)", (sql,)).fetchone()[0]).fetchall()


def server(sql):
    subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", os.environ["ROOTSTOCK_POSTGRES"]], input=sql, text=True, check=True)


def main():
    extension, library = sys.argv[1:3]
    if sys.argv[3:]:
        run(connect(extension, library), "INSERT INTO t VALUES ('another')")
        return
    c = connect(extension, library)
    run(c, "CREATE TABLE t (a TEXT)")
    server("""CREATE FUNCTION refused.refuse() RETURNS trigger LANGUAGE plpgsql AS
                  'BEGIN RAISE EXCEPTION ''the disk is full'' USING ERRCODE = ''53100''; END';
              CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON refused.entry FOR EACH ROW EXECUTE FUNCTION refused.refuse();""")
    try:
        run(c, "INSERT INTO t VALUES ('refused')")
        sys.exit("refused: a commit succeeded that the server refused")
    except sqlite3.Error as error:
        if "the disk is full" not in str(error):
            sys.exit(f"refused: it says {error}")
    server("DROP TRIGGER refuse ON refused.entry")
    other = subprocess.run([sys.executable, __file__, extension, library, "write"], capture_output=True, text=True)
    if other.returncode != 0:
        sys.exit(f"refused: another client cannot write: {other.stderr.strip().splitlines()[-1]}")
    run(c, "INSERT INTO t VALUES ('again')")
    rows = run(c, "SELECT a FROM t ORDER BY a")
    if rows != [("again",), ("another",)]:
        sys.exit(f"refused: the rows are {rows}")
    print("refused: a commit that the server refuses leaves nothing behind, and no lock")


main()
