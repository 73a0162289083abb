"""Test support only: a ClickHouse server out of the library of the npm package `chdb`.

The library holds `clickhouse local`, which answers over HTTP and TCP once it is asked to listen. The product never runs
this: it depends on what the package happens to contain.

Usage: launch-server.py LIBRARY OPTION...   (options of `clickhouse local`, such as --path and --http_port)

Ends when file descriptor 3, a pipe that the parent process holds, is closed, also when the parent is killed.
"""

import ctypes
import os
import signal
import sys
import threading


def end_with_parent() -> None:
    while os.read(3, 1):
        pass
    os.kill(os.getpid(), signal.SIGKILL)


# The last statement does not end: the server stops listening when the queries are over.
QUERY = """
SYSTEM START LISTEN HTTP;
SYSTEM START LISTEN TCP;
SELECT sleepEachRow(1) FROM numbers(100000000)
SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 0, max_execution_time = 0 FORMAT Null
"""

threading.Thread(target=end_with_parent, daemon=True).start()
library, *options = sys.argv[1:]
words = [word.encode() for word in ["clickhouse", *options, "--query", QUERY]]
# The call lets other threads of Python run.
ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL).chdb_query_cmdline(
    len(words), (ctypes.c_char_p * len(words))(*words)
)
