"""dbt's tests for adapters, on dbt-sqlite: the classes of the packages below, each once."""
import importlib
import inspect
import pkgutil

import dbt.tests.adapter
import pytest

pytest_plugins = ["dbt.tests.fixtures.project"]
PACKAGES = ["basic", "caching", "empty", "ephemeral", "hooks", "query_comment", "relations", "simple_copy", "simple_seed", "simple_snapshot", "utils"]


@pytest.fixture(scope="class")
def dbt_profile_target(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("databases"))
    return {"type": "sqlite", "threads": 1, "database": "adapter_test", "schema": "main",
            "schemas_and_paths": {"main": folder + "/adapter_test.db"}, "schema_directory": folder}


for package in PACKAGES:
    parent = importlib.import_module("dbt.tests.adapter." + package)
    for module in pkgutil.walk_packages(parent.__path__, parent.__name__ + "."):
        for name, found in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if name.startswith("Test") and found.__module__ == module.name:
                globals()["%s_%s" % (name, module.name.replace(".", "_"))] = found
