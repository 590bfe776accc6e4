#!/usr/bin/env bash
# make generate: emits the C and Java accessors from the schema. The build fails when committed output is stale.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
.make/maven.sh generate-c -pl ipc-endpoint/protocol-generator compile exec:java
.make/maven.sh generate-java -pl ipc-endpoint/protocol -DskipTests generate-sources
