"""Runs refract over JSON Lines on a Spark cluster:

  spark-submit --master spark://HOST:7077 --files refract refract_spark.py \\
      --refract ./refract INPUT OUTPUT score -m chrf -a max
  spark-submit … refract_spark.py INPUT OUTPUT expand --model M --language en \\
      --base-url http://gpu:8000/v1 --cache postgres://db/answers

INPUT has a segment a line, with all of its systems; OUTPUT is a folder that is
not there yet. Its files appear together, with _SUCCESS, once all of the work is
done; one after the other they are in the order of INPUT. 'score' adds the
statistics of all partitions up to a line for each system and metric; with --per
segment there is one for each row, and with 'expand' one for each segment.

--files sends the program to the executors; without --refract it is looked for on
their PATH. Secrets belong into their environment, and not into a command line:
spark.executorEnv.PGPASSWORD and OPENAI_API_KEY in a --properties-file.
"""

import argparse
import sys

from pyspark import SparkConf, SparkContext


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    p.add_argument("--refract", default="refract", help="the program, as an executor finds it (default refract)")
    p.add_argument("--partitions", type=int, help="least number of partitions (default four for each core)")
    p.add_argument("input")
    p.add_argument("output")
    p.add_argument("command", choices=["score", "expand"])
    p.add_argument("flags", nargs=argparse.REMAINDER, help="those of 'refract score' or 'expand'")
    o = p.parse_args()
    sc = SparkContext(conf=SparkConf().setAppName("refract " + o.command))

    def pipe(rdd, *words):
        # Use Spark's pipe, not Python's: it passes the executor's environment, and a task fails with its program.
        return rdd.pipe([o.refract, *words], {}, False, 64 << 10, "UTF-8")

    lines = sc._jsc.textFile(o.input, o.partitions or 4 * sc.defaultParallelism)
    adds = o.command == "score" and not rows(o.flags)
    form = ["--per", "statistics"] if adds else ["--format", "jsonl"] if o.command == "score" else []
    done = pipe(lines, o.command, "jsonl:-", *o.flags, *form)
    if adds:  # sums are exact, so their order does not matter
        done = pipe(done.coalesce(1, True), "merge", "-", "--format", "jsonl")
    done.saveAsTextFile(o.output)
    sc.stop()


def rows(flags):
    """Whether rows are wanted instead of statistics."""
    after = dict(zip(flags, flags[1:]))
    return after.get("--per", "system") != "system" or any(f in ("--per=segment", "--per=cell") for f in flags)


if __name__ == "__main__":
    sys.exit(main())
