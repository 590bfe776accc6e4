#!/usr/bin/env bash
# run.sh RUN [DIRECTORY]: one run of the batch in DIRECTORY (revenue) on the servers of "make run". The same RUN again goes on
# where it was.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
[ $# -ge 1 ] || { echo "usage: $0 RUN [DIRECTORY]" >&2; exit 2; }
[ -f "$root/.run/env" ] || { echo "error: the servers do not run" >&2; echo "hint:  Run \"make run\"." >&2; exit 1; }
directory=${2:-$here/revenue}
"$root/.make/batch.sh"
. "$root/.run/env"
export BATCH_LOCATION=files BATCH_FILES=$root/.run/endpoint/files SPARK_OPTIONS=$here/spark.options

while read -r statement; do
  curl -sS --fail-with-body -u "$KAKEHASHI_USER:$KAKEHASHI_PASSWORD" "$KAKEHASHI_URL/v1/sql" -H 'Content-Type: application/sql' \
    -d "${statement%;}" >/dev/null
done <"$directory/tables.sql"
exec "$(cat "$root/target/batch/java")/bin/java" -Xmx256m -cp "$(cat "$root/target/batch/classpath")" dev.kakehashi.examples.batch.Batch \
  "$directory" "$1" "$root/target/batch/state"
