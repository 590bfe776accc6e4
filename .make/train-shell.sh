#!/usr/bin/env bash
# A short shell, whose JVM leaves an ahead-of-time cache: train-shell.sh CACHE RUNTIME_DIRECTORY JAVA OPTION... -jar JAR. What most shells do: tables, errors, descriptions, forms of rows.
set -euo pipefail
cache=$1 runtime_dir=$2
shift 2
"$1" -XX:AOTCacheOutput="$cache" "${@:2}" sql -X --runtime-directory "$runtime_dir" \
  -c 'SELECT 1 AS a, 2.5 AS b, now(), NULL::text' -c 'SELECT nothing' -c '\d' -c '\pset format csv' -c 'SELECT 1' -c '\pset format unaligned' -c 'SELECT 2' \
  -c "SELECT i, i::text, i * 0.5 FROM generate_series(1, 20000) i" >/dev/null 2>&1 || [ $? = 1 ]
