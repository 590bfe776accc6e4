#!/usr/bin/env bash
# Formatters and checkers. "check.sh format" formats instead.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

# Emitted C keeps the form that its generator gives it.
c_files() { find fdw-extension ipc-endpoint -path '*/target' -prune -o \( -name '*.c' -o -name '*.h' \) -type f -print | grep -v '/generated/'; }

if [ "${1:-}" = format ]; then
  .make/maven.sh format spotless:apply
  c_files | xargs -r clang-format -i
  exit 0
fi

.make/maven.sh spotless spotless:check

step "clang-format $(clang-format --version | sed 's/.*version \([0-9.]*\).*/\1/')"
c_files | xargs -r clang-format --dry-run -Werror

step "cppcheck"
# Server headers are not read: cppcheck cannot follow their configuration, and findings in them are not ours. What it
# must know of them is that an error does not return.
c_files | grep '\.c$' | xargs -r cppcheck --quiet --enable=warning,performance,portability --inline-suppr \
  --error-exitcode=1 --suppress=missingInclude --suppress=unknownMacro --suppress=preprocessorErrorDirective \
  --include=.make/cppcheck.h -I fdw-extension/include -I fdw-extension/src -j 2

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
python3 -m doctest .make/prose.py
.make/prose.py

step "shell scripts"
for script in .make/*.sh .ci/run; do bash -n "$script"; done
if command -v shellcheck >/dev/null; then shellcheck -x -e SC1091 -P .make .make/*.sh .ci/run; fi
say "checks passed"
