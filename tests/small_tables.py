"""Small tables for tests of the command line."""

import csv

from bench.forks import fork, wait_for


def write_csv(path, columns, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    return path


def read_csv(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def die_in_a_fork(work):
    """Run work() in a fork of this process and return how that ended, as subprocess has it: -9 if it was killed."""

    def done():
        work()
        return 0

    return wait_for(fork(done))
