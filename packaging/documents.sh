#!/usr/bin/env bash
# Writes what documents have from the jars into DIRECTORY: manual pages, completion of bash, pages of the reference. documents.sh DIRECTORY
. "$(dirname "$0")/../.make/lib.sh"

find_java
mkdir -p "$1"
"$JAVA_HOME/bin/java" -XX:TieredStopAtLevel=1 \
  -cp "$ROOT/ipc-endpoint/server/target/kakehashi-endpoint.jar:$ROOT/ipc-endpoint/tools/target/kakehashi-tools.jar" \
  "$ROOT/packaging/documents/CommandDocuments.java" "$1"
