#!/bin/sh
# start-redis.sh server [PRIMARY]: a Redis that saves nothing; a replica of PRIMARY if one is named.
# start-redis.sh sentinel: watches them, and makes a replica the primary when that one fails.
# REDIS_PASSWORD is of all of them, letters and digits.
set -eu
umask 077
conf=$(mktemp)
if [ "$1" = server ]; then
  {
    echo "requirepass $REDIS_PASSWORD"
    echo "masterauth $REDIS_PASSWORD"
    # Nothing in Redis is the truth, so nothing is saved. A primary without a replica takes no writes: two cannot go on.
    echo 'save ""'
    echo "appendonly no"
    echo "min-replicas-to-write 1"
    echo "min-replicas-max-lag 5"
    echo "maxmemory 1gb"
    echo "maxmemory-policy noeviction"
    echo "replica-announce-ip $(hostname)"
    if [ $# -gt 1 ]; then echo "replicaof $2 6379"; fi
  } > "$conf"
  exec redis-server "$conf"
fi
{
  echo "port 26379"
  echo "sentinel resolve-hostnames yes"
  echo "sentinel announce-hostnames yes"
  echo "sentinel monitor oddwire redis-1 6379 2"
  echo "sentinel auth-pass oddwire $REDIS_PASSWORD"
  echo "sentinel down-after-milliseconds oddwire 3000"
  echo "sentinel failover-timeout oddwire 10000"
} > "$conf"
exec redis-sentinel "$conf"
