"""A full-text table or an R-Tree whose shadow tables are damaged: the other tables are there when the file is opened again."""
import sqlite3

DAMAGES = {
    "fts5(a)": ["DROP TABLE x_config", "DROP TABLE x_data", "DROP TABLE x_content", "UPDATE x_config SET v = 77"],
    "fts4(a)": ["DROP TABLE x_segdir", "DROP TABLE x_content", "UPDATE x_stat SET value = x'00'"],
    "rtree(a, b, c)": ["DROP TABLE x_node", "DELETE FROM x_node", "UPDATE x_node SET data = x'00'"],
}

for number, (module, damage) in enumerate((module, damage) for module, damages in DAMAGES.items() for damage in damages):
    name = "damaged%d.db" % number
    connection = sqlite3.connect(name, isolation_level=None)
    connection.execute("CREATE TABLE t(a)")
    connection.execute("CREATE VIRTUAL TABLE x USING " + module)
    connection.execute("INSERT INTO x(a) VALUES (1)")
    connection.execute(damage)
    connection.close()
    connection = sqlite3.connect(name, isolation_level=None)
    connection.execute("INSERT INTO t VALUES (?)", (damage,))
    print(module, connection.execute("SELECT * FROM t").fetchall())
    try:
        connection.execute("INSERT INTO x(a) VALUES (2)")
    except sqlite3.Error:
        pass
    connection.close()
