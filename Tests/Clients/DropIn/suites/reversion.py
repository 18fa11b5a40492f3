"""Settings of django-reversion's tests: the databases that it wants on other servers are in SQLite, too."""
from test_project.settings import *  # noqa

DATABASES = {name: {"ENGINE": "django.db.backends.sqlite3", "NAME": name + ".db", "TEST": {"NAME": "test_" + name + ".db"}}
             for name in ("default", "postgres", "mysql")}
