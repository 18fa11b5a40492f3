"""The hook that puts every statement of a conformance runner on a store, through the loadable extension.

Each connection gets a store of its own in a temporary folder; ROOTSTOCK_ENGINE names the engine (lmdb unless set), and
ROOTSTOCK_LOAD_ENGINE libraries of engines, separated by colons. Runners open one connection at a time.
"""
import atexit, os, shutil, sqlite3, tempfile

_connection = None
_folder = None


def setup(conn, args):
    global _connection, _folder
    _remove()
    _connection, _folder = conn, tempfile.mkdtemp(prefix='rootstock-conformance-')
    engine = os.environ.get('ROOTSTOCK_ENGINE', 'lmdb')
    libraries = [name for name in os.environ.get('ROOTSTOCK_LOAD_ENGINE', '').split(':') if name]
    conn.enable_load_extension(True)
    for library in libraries:
        conn.execute('SELECT rootstock_load_engine(?)', (os.path.abspath(library),)).fetchone()
    conn.enable_load_extension(False)
    conn.execute('SELECT rootstock_open(?, ?, ?)', (os.path.join(_folder, 'store'), engine, '{"durability":"off"}')).fetchone()


def rewrite(sql, kind, state):
    try:
        text = _connection.execute('SELECT rootstock_rewrite(?)', (sql,)).fetchone()[0]
    except sqlite3.Error:
        # A refused statement is one that fails: the same call again, where the runner expects the error.
        return "SELECT rootstock_rewrite('%s')" % sql.replace("'", "''")
    except UnicodeEncodeError:
        return sql  # not UTF-8: no text that a front door could read
    return text.decode('utf-8', 'surrogateescape') if isinstance(text, bytes) else text


@atexit.register
def _remove():
    if _folder:
        shutil.rmtree(_folder, ignore_errors=True)
