#!/usr/bin/env bash
# make psql: a session with the servers of "make run".
. "$(dirname "$0")/lib.sh"
[ -f "$ROOT/.run/env" ] || die "the servers were never started" "Run \"make run\" first."
. "$ROOT/.run/env"
exec psql
