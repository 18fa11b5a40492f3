#!/usr/bin/python3
"""Servers that speak PostgreSQL's protocol and are none are refused by name: PostgreSQL behind a proxy that says what they say.

  Tests/Clients/Postgres/server.sh Tests/Clients/Postgres/others.py COMMAND librootstock_postgres.so
"""
import os, subprocess, sys, tempfile

from proxy import Proxy

command, library = sys.argv[1:3]


def psql(sql):
    return subprocess.run(["psql", "-qtA", os.environ["ROOTSTOCK_POSTGRES"]], input=sql, text=True, check=True, capture_output=True).stdout


def sql(folder, statement):
    return subprocess.run(
        [command, "--load-engine", library, "sql", "postgresql://tester@/postgres?rootstock_schema=others&host=" + folder, statement],
        capture_output=True, text=True)


with tempfile.TemporaryDirectory() as folder:
    proxy = Proxy(folder, os.environ["ROOTSTOCK_POSTGRES_SOCKET"])
    version = psql("SHOW server_version").strip().encode()
    for name, said, heard in (
        ("YugabyteDB", version, b"15.2-YB-2.25.0.0-b1".ljust(len(version))[:len(version)]),
        ("CockroachDB", b"is_superuser\0", b"crdb_version\0"),
    ):
        proxy.disguise = [(said, heard)]
        result = sql(folder, "CREATE TABLE t (a)")
        if result.returncode == 0 or f"the server is {name}, whose snapshots have no numbers: PostgreSQL is needed" not in result.stderr:
            sys.exit(f"others: as {name}: status {result.returncode}, {result.stdout}{result.stderr}")
    if psql("SELECT count(*) FROM pg_namespace WHERE nspname = 'others'").strip() != "0":
        sys.exit("others: a refused server has got a schema")
    proxy.disguise = []
    result = sql(folder, "CREATE TABLE t (a); INSERT INTO t VALUES (1); SELECT * FROM t")
    if result.stdout != "1\n":
        sys.exit(f"others: without a disguise: {result.stdout}{result.stderr}")
print("others: servers that are not PostgreSQL are refused by name")
