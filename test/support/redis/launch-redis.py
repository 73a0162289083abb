"""Test support only: runs redis-server as this process, which the kernel ends when the parent process ends.

Usage: launch-redis.py OPTION...
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1

parent = os.getppid()
# It outlives exec.
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
if os.getppid() != parent:
    sys.exit(1)
os.execvp("redis-server", ["redis-server", *sys.argv[1:]])
