#!/usr/bin/env bash
# make generate: emits the C and Java accessors from the schema. The build fails when committed output is stale.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
.make/maven.sh generate -pl ipc-endpoint/protocol-generator,ipc-endpoint/protocol -am -DskipTests generate-sources
