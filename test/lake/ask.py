"""Runs statements in one session of a DuckDB with the extensions ducklake and httpfs, where they are installed: each line of standard input is one, as
JSON, and each line of standard output its rows, with the milliseconds that it took, or its error."""

import importlib.util
import json
import pathlib
import sys
import time

import duckdb

connection = duckdb.connect(config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"})
for name in ("httpfs", "ducklake"):
    if importlib.util.find_spec(f"duckdb_extension_{name}") is None:
        continue
    folder = pathlib.Path(importlib.import_module(f"duckdb_extension_{name}").__file__).parent
    (extension,) = folder.rglob(f"{name}.duckdb_extension")
    connection.execute(f"LOAD '{extension}'")
connection.execute("SET TimeZone = 'UTC'")
for line in sys.stdin:
    begun = time.perf_counter()
    try:
        rows = connection.execute(json.loads(line)).fetchall()
        answer = {"rows": rows, "ms": (time.perf_counter() - begun) * 1000}
    except duckdb.Error as error:
        answer = {"error": str(error)}
    print(json.dumps(answer, default=str), flush=True)
