#!/usr/bin/env bash
# Formatters and checkers. "check.sh format" formats instead; "check.sh changed" looks at the files of the next commit alone.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

# Emitted C keeps the form that its generator gives it.
c_files() { find fdw-extension ipc-endpoint -path '*/target' -prune -o \( -name '*.c' -o -name '*.h' \) -type f -print | grep -v '/generated/'; }

if [ "${1:-}" = format ]; then
  .make/maven.sh format spotless:apply
  c_files | xargs -r clang-format -i
  exit 0
fi

# The checks of files whose names come on standard input, a line each.
check_c_format() { xargs -r clang-format --dry-run -Werror; }

# Server headers are not read: cppcheck cannot follow their configuration, and findings in them are not ours. What it
# must know of them is that an error does not return.
check_c_code() {
  xargs -r cppcheck --quiet --enable=warning,performance,portability --inline-suppr \
    --error-exitcode=1 --suppress=missingInclude --suppress=unknownMacro --suppress=preprocessorErrorDirective \
    --include=.make/cppcheck.h -I fdw-extension/include -I fdw-extension/src -j 2
}

check_scripts() {
  local scripts script
  mapfile -t scripts
  for script in "${scripts[@]}"; do bash -n "$script"; done
  if [ ${#scripts[@]} -gt 0 ] && command -v shellcheck >/dev/null; then shellcheck -x -e SC1091 -P .make "${scripts[@]}"; fi
}

# Formats of the Java files alone: Error Prone and the other checkers of javac need a build.
check_java_format() {
  local files file module patterns='' modules=''
  mapfile -t files
  for file in "${files[@]}"; do
    module=${file%%/src/*}
    [[ ",$modules," == *",$module,"* ]] || modules+=${modules:+,}$module
    # A regular expression of the whole path.
    file=${file//./\\.}
    patterns+=${patterns:+,}.*/${file//\$/\\$}
  done
  # So many are as quickly looked at together, and their names would be too long for one argument.
  [ ${#files[@]} -le 200 ] || patterns='.*'
  [ -z "$modules" ] || .make/maven.sh spotless-changed -o -pl "$modules" "-DspotlessFiles=$patterns" spotless:check
}

# Files that the next commit adds or changes, as they are in the work tree.
changed() { git diff --cached --name-only --diff-filter=ACMR -- "$@"; }

check_changed() {
  local edited java=target/check-java.log
  edited=$(comm -12 <(changed | sort) <(git diff --name-only | sort))
  [ -z "$edited" ] || say "with changes that the commit has not:" "$edited"
  step "checks of what the commit changes"
  # The longest takes the time of all others.
  mkdir -p target
  # Without a file of the kind grep says 1, and there is nothing to check.
  changed '*.java' | { grep '/src/.*/java/' | grep -v '^examples/' || true; } | check_java_format >"$java" 2>&1 &
  trap wait EXIT
  changed '*.[ch]' | { grep -v '/generated/' || true; } | check_c_format
  changed '*.c' | { grep -v '/generated/' || true; } | check_c_code
  [ -z "$(changed '*.[ch]')" ] || .make/c_folders.py
  changed '.make/*.sh' '.make/hooks' .ci/run 'packaging/*.sh' 'examples/failover/**/kakehashi-*' | check_scripts
  # All: what a document names may have moved.
  .make/prose.py
  wait $! || { cat "$java" >&2; exit 1; }
  say "checks passed; \"make check\" has all of them"
}

if [ "${1:-}" = changed ]; then
  check_changed
  exit 0
fi

.make/maven.sh spotless spotless:check

step "clang-format $(clang-format --version | sed 's/.*version \([0-9.]*\).*/\1/')"
c_files | check_c_format

step "cppcheck"
c_files | grep '\.c$' | check_c_code

step "extension with warnings as errors"
if [ -f fdw-extension/Makefile ]; then
  find_postgres
  make -s -C fdw-extension PG_CONFIG="$PG_CONFIG" clean
  make -s -C fdw-extension PG_CONFIG="$PG_CONFIG" COPT='-Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare' all
fi

step "folders of C sources"
.make/c_folders.py
python3 .make/c_folders_test.py -q

step "documents"
python3 -m doctest .make/prose.py .make/site.py .make/soak_report.py .make/corpus.py .make/server_api.py
.make/prose.py

step "shell scripts"
printf '%s\n' .make/*.sh .make/hooks/* .ci/run packaging/*.sh packaging/*/*.sh examples/failover/kakehashi-* examples/failover/*/kakehashi-* | check_scripts
say "checks passed"
