"""Carries out commands on Spark: one JSON document a line on standard input, answers likewise on standard output.

The first line says how Spark is reached; each one after it is a command:
  {"id": 1, "view": "name", "format": "text", "schema": "…", "paths": […], "options": {…}, "columns": […]}   names files
  {"id": 2, "write": "folder", "query": "SELECT …", "partition_by": […], "options": {…}}      writes Parquet
Answers: {"ready": true, "version": "…"}; {"id": 2, "progress": 0.5}; {"id": 2, "executors": 0}; {"id": 2, "done": true};
{"id": 2, "error": "…"}.
Spark's own output goes to standard error. Ends, and all of its work on the cluster with it, when standard
input does: so the program that started it may end in any way. It holds no logic of its own: the queries come ready.
"""

import json
import os
import queue
import sys
import threading

POLL_SECONDS = 0.5
STOP_SECONDS = 10

answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
# What a library prints is no answer.
os.dup2(2, 1)
writing = threading.Lock()


def answer(**content):
    with writing:
        try:
            answers.write(json.dumps(content) + "\n")
            answers.flush()
        except OSError:
            os._exit(1)


def reason_of(error):
    """Returns the error in one line: its first cause, where Spark names one."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line[len("Caused by: "):] for line in lines if line.startswith("Caused by: ")]
    first = lines[0] if lines else type(error).__name__
    # Py4J says first that there was an error.
    if first.startswith("An error occurred while calling") and len(lines) > 1:
        first = lines[1].removeprefix(": ")
    lost = [line for line in lines if "Lost task" in line]
    return causes[-1] if causes else lost[0] if lost else first


def open_session(how):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    if "connect" in how:
        builder = builder.remote(how["connect"])
    else:
        builder = builder.master(how["master"]).appName(how["name"])
    for key, value in how["static"].items() if "connect" not in how else ():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    for key, value in how["session"].items():
        session.conf.set(key, value)
    return session


def carry_out(session, command):
    if "view" in command:
        reader = session.read.format(command["format"]).options(**command.get("options", {}))
        files = reader.schema(command["schema"]).load(command["paths"])
        files.selectExpr(*command["columns"]).createOrReplaceTempView(command["view"])
    else:
        rows = session.sql(command["query"])
        writer = rows.write.mode("overwrite").options(**command.get("options", {}))
        if command.get("partition_by"):
            writer = writer.partitionBy(*command["partition_by"])
        writer.parquet(command["write"])


def share_done(session):
    """How much of the tasks of the jobs under way is done, by Spark's own counters; None where it does not say."""
    tracker = session.sparkContext.statusTracker()
    tasks = done = 0
    for job in tracker.getActiveJobsIds():
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info else ():
            about = tracker.getStageInfo(stage)
            if about:
                tasks += about.numTasks
                done += about.numCompletedTasks
    return done / tasks if tasks else None


def count_executors(session):
    """Number of processes that tasks may run in. Spark lists the driver, too, which is one of them on a local master."""
    listed = len(session.sparkContext._jsc.sc().statusTracker().getExecutorInfos())
    return listed if session.sparkContext.master.startswith("local") else listed - 1


def tell_progress(session, command, finished):
    while not finished.wait(POLL_SECONDS):
        try:
            share, executors = share_done(session), count_executors(session)
        except Exception:
            return
        answer(id=command["id"], executors=executors)
        if share is not None:
            answer(id=command["id"], progress=share)


def main():
    how = json.loads(sys.stdin.readline())
    commands = queue.Queue()
    session = None

    def read_commands():
        for line in sys.stdin:
            commands.put(json.loads(line))
        # Nobody waits for an answer any more.
        threading.Timer(STOP_SECONDS, os._exit, [0]).start()
        try:
            if session is not None:
                session.stop()
        finally:
            os._exit(0)

    try:
        session = open_session(how)
    except BaseException as error:
        print(error, file=sys.stderr)
        answer(error=reason_of(error))
        os._exit(1)
    threading.Thread(target=read_commands, daemon=True).start()
    answer(ready=True, version=session.version)
    while True:
        command = commands.get()
        finished = threading.Event()
        if "connect" not in how:
            threading.Thread(target=tell_progress, args=(session, command, finished), daemon=True).start()
        try:
            carry_out(session, command)
            finished.set()
            answer(id=command["id"], done=True)
        except Exception as error:
            finished.set()
            print(error, file=sys.stderr)
            answer(id=command["id"], error=reason_of(error))


main()
