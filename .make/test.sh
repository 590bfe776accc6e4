#!/usr/bin/env bash
# All tests. Every suite runs, also after another has failed; the last line counts. ONLY=java,c,regress,system selects.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

started=$(now_millis)
failed_suites=()

selected() { [ -z "${ONLY:-}" ] || [[ ",$ONLY," == *",$1,"* ]]; }

suite() { # name command...
  local name=$1
  shift
  selected "$name" || return 0
  if ! "$@"; then failed_suites+=("$name"); fi
}

# A suite that leaves processors idle runs beside the next one, up to "joined".
declare -A beside_pids=()
beside() { # name command...
  local name=$1
  shift
  selected "$name" || return 0
  "$@" &
  beside_pids[$name]=$!
}

joined() {
  local name
  for name in "${!beside_pids[@]}"; do
    wait "${beside_pids[$name]}" || failed_suites+=("$name")
  done
  beside_pids=()
}

# What runs in the background of a script does not hear Ctrl-C.
interrupted() {
  local pid
  trap - INT TERM
  for pid in $(jobs -p); do
    # Either may have ended by itself meanwhile.
    pkill -TERM -P "$pid" || true
    kill -TERM "$pid" 2>/dev/null || true
  done
  wait
  exit 130
}
trap interrupted INT TERM

# Reports of an earlier run would be counted again.
find . -path '*/target/surefire-reports' -type d -prune -exec rm -rf {} +
rm -f target/tests-*.log

# Two halves run side by side, of which the server's tests are most of one: neither uses two processors all the time. A failed test does not
# end the others: what it says of the other modules and suites is wanted, too.
built=
java_suite() {
  # Installed, because runs of tests alone take the other modules from the repository.
  .make/maven.sh build-java -T 2 -pl '!pg-tests' -DskipTests install || return
  built=yes
  local tests='-Dmaven.test.failure.ignore=true surefire:test' engine others=0
  .make/maven.sh tests-engine -pl scheduler,ipc-endpoint/engine,ipc-endpoint/bulk,ipc-endpoint/rest -am -Dkakehashi.skip.others=true $tests &
  engine=$!
  .make/maven.sh tests-others -pl '!pg-tests' -Dkakehashi.skip.engine=true $tests || others=1
  wait "$engine" || others=1
  # Failed tests, and JVMs of tests that ended early.
  ! grep -hE '^\[ERROR\]' target/tests-engine.log target/tests-others.log | head -60 >&2 && [ "$others" = 0 ]
}

c_suite() {
  [ -f fdw-extension/test/ipc/Makefile ] || { say "no C unit tests yet"; return 0; }
  step "C unit tests"
  make -s -C fdw-extension/test/ipc test 2>&1 | tee target/tests-c.log
}

regress_suite() {
  [ -d fdw-extension/test/sql ] || { say "no regression scripts yet"; return 0; }
  .make/regress.sh
}

system_suite() {
  find_java
  find_postgres
  if docker version >/dev/null 2>&1; then
    .make/docker.sh images
  else
    say "no Docker daemon answers: container tests will be skipped"
  fi
  .make/batch.sh
  .make/maven-repository.sh
  # A class starts servers of its own and waits for them more than it computes.
  local forks=$(($(nproc) + 1))
  .make/maven.sh tests-system -f pg-tests/pom.xml -Dkakehashi.forks=$((forks < 4 ? forks : 4)) -Dkakehashi.root="$ROOT" -Dkakehashi.pgMajor="$PG_MAJOR" test
}

# A build of Java keeps one processor busy.
beside c c_suite
suite java java_suite
joined
# The other suites need what was built.
if [ -n "$built" ] || [ ${#failed_suites[@]} = 0 ]; then
  .make/extension.sh
  .make/stage.sh
  # The tests of the system start endpoints and commands some hundred times.
  .make/train.sh
  # The scripts are one session, which waits for its endpoint, and the other way round.
  beside regress regress_suite
  suite system system_suite
  joined
fi

.make/summary.sh "$(elapsed "$started")" "${failed_suites[@]}"
