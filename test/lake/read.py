"""Reads tables of the lake by Polars: DuckDB opens the catalog as the ordinary database that it is, and no Parquet file. The first
parameter is the catalog, each further one a table and a version, as `offers@3`. Prints what is in their columns, as JSON."""

import json
import sys

import ducklake_polars
import polars


def about(column: polars.Series) -> list:
    number = column.dtype.is_numeric() and not column.dtype.is_float()
    total = column.cast(polars.Int128).sum() if column.dtype.is_integer() else column.sum() if number else None
    distinct = None if column.dtype == polars.List else column.drop_nulls().n_unique()
    return [len(column) - column.null_count(), distinct, str(total) if number else None]


catalog, *asked = sys.argv[1:]
tables = {}
for one in asked:
    table, version = one.split("@")
    frame = ducklake_polars.read_ducklake(f"duckdb:{catalog}", table, snapshot_version=int(version))
    tables[one] = {"rows": frame.height, "columns": {column.name: about(column) for column in frame}}
print(json.dumps(tables))
