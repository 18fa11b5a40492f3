# The fixtures of Tortoise's tests; its source archive leaves them out. Usage: conftest.py in its folder tests.
import pytest_asyncio

from tortoise.contrib.test import tortoise_test_context, truncate_all_models

MODELS = {"db": "tests.testmodels", "db_isolated": "tests.testmodels", "db_truncate": "tests.testmodels", "db_simple": "tests.testmodels",
          "db_subclass_fields": "tests.fields.subclass_models"}


def made(name, models):
    async def fixture():
        async with tortoise_test_context([models], connection_label="models") as context:
            yield context
            if name == "db_truncate":
                await truncate_all_models()

    return pytest_asyncio.fixture(fixture, name=name)


for name, models in MODELS.items():
    globals()["fixture_" + name] = made(name, models)
