#!/usr/bin/env bash
# make stop: ends the servers of "make run"; does nothing when there are none.
. "$(dirname "$0")/lib.sh"
[ -e "$ROOT/.run" ] || { say "nothing runs"; exit 0; }
prepare_run_dir
. "$ROOT/.make/cluster.sh"
stop_postgres "$RUN_DIR/pg"
stop_endpoint "$RUN_DIR/endpoint"
