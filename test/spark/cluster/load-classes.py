"""A job of each kind that the tests have, in this JVM alone: it loads the classes that a driver and an executor use."""

import sys

from pyspark.sql import SparkSession

folder = sys.argv[1]
session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
session.range(1000).selectExpr("id", "cast(id AS string) AS text").write.json(f"{folder}/lines")
session.read.text(f"{folder}/lines").createOrReplaceTempView("lines")
session.sql(
    """
    WITH fields AS (SELECT get_json_object(value, '$.text') AS text, cast(get_json_object(value, '$.id') AS int) % 7 AS day FROM lines)
    SELECT *, row_number() OVER (PARTITION BY day ORDER BY text) AS number
    FROM fields JOIN (SELECT day, count(*) AS rows FROM fields GROUP BY day) USING (day)
    """
).write.partitionBy("day").parquet(f"{folder}/rows")
session.read.parquet(f"{folder}/rows").count()
session.stop()
