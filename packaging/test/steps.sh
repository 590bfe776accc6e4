#!/bin/bash
# Runs in the container: installs the packages in /packages/old, uses them, upgrades to /packages/new, removes and purges. steps.sh PG
set -euo pipefail
PG=$1
data=/var/lib/kakehashi/main
export DEBIAN_FRONTEND=noninteractive

step() { printf '== %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; journalctl -u kakehashi --no-pager -n 30 >&2 || true; exit 1; }
expect() { # what expected found
  [ "$2" = "$3" ] || fail "$1: expected \"$2\", found \"$3\""
  printf '   %s: %s\n' "$1" "$3"
}
query() { sudo -u postgres psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
as_kakehashi() { sudo -u kakehashi env KAKEHASHI_RUNTIME_DIR=/dev/shm/kakehashi/main KAKEHASHI_TMPDIR=/var/cache/kakehashi KAKEHASHI_JAVA_OPTIONS="${KAKEHASHI_JAVA_OPTIONS:-}" kakehashi "$@"; }
main_pid() { systemctl show -P MainPID kakehashi; }

step "the way of README.md to the first foreign table"
expect "commands" "at most 6" "$(cat /packages/way.sh /packages/way.sql | awk '/./ {n++} END {print (n >= 3 && n <= 6) ? "at most 6" : n}')"
sed 's/^/   /' /packages/way.sh /packages/way.sql
apt-get -q update >/dev/null
began=$(date +%s)
# The last command of the shell is psql, which reads the statements.
newcomer() { (cd /packages/old && sudo -u newcomer bash -e -o pipefail -c "$1") >>/tmp/way.log 2>&1 || { tail -40 /tmp/way.log; fail "the way of README.md"; }; }
newcomer "$(head -n -1 /packages/way.sh)" </dev/null
newcomer "$(tail -n 1 /packages/way.sh)" </packages/way.sql
printf '   first table %s s after the install began, with what was downloaded\n' "$(($(date +%s) - began))"
! grep -n ERROR /tmp/way.log || fail "the way of README.md"
expect "PostgreSQL" "$PG" "$(query -c "SELECT current_setting('server_version_num')::int / 10000")"
expect "first row" "1|first" "$(query -c 'SELECT * FROM account')"

step "the service"
expect "service" active "$(systemctl is-active kakehashi)"
expect "user" kakehashi "$(ps -o user= -p "$(main_pid)")"
expect "exposure" "at most 3.0" "$(systemd-analyze security kakehashi --no-pager | awk '/Overall exposure/ {print ($(NF-2) <= 3.0) ? "at most 3.0" : $(NF-2)}')"
systemd-analyze security kakehashi --no-pager | grep -o 'Overall exposure.*' | sed 's/^/   /'
expect "other users of the machine" "Permission denied" "$({ sudo -u nobody ls $data 2>&1 || true; } | grep -o "Permission denied")"
query -c "INSERT INTO account SELECT i, 'owner ' || i FROM generate_series(2, 1000) i"
expect "rows" "1000|owner 7" "$(query -c "SELECT count(*), min(owner) FILTER (WHERE id = 7) FROM account")"

step "ahead-of-time caches"
expect "of the endpoint" 1 "$(grep -c -m1 kakehashi-endpoint.aot "/proc/$(main_pid)/maps")"
# With "on" a JVM that cannot take its cache ends.
expect "of the shell" 1 "$(KAKEHASHI_JAVA_OPTIONS=-XX:AOTMode=on as_kakehashi sql -At -c 'SELECT 1')"
began=$(date +%s%3N)
as_kakehashi sql -At -c 'SELECT 1' >/dev/null
printf '   a shell with one statement takes %s ms\n' "$(($(date +%s%3N) - began))"

step "settings, reload, commands"
expect "shell of root, without options" 1000 "$(kakehashi sql -At -c 'SELECT count(*) FROM account')"
expect "shell of a user that may attach" 1000 "$(sudo -u postgres kakehashi sql -At -c 'SELECT count(*) FROM account')"
kakehashi status | head -1
expect "shell" 1000 "$(as_kakehashi sql -At -c 'SELECT count(*) FROM account')"
sed -i 's/^#lock_timeout = 0s/lock_timeout = 7s/' /etc/kakehashi/kakehashi.conf
systemctl reload kakehashi
expect "reload" 7s "$(as_kakehashi sql -At -c 'SHOW lock_timeout')"
as_kakehashi doctor || [ $? = 1 ]
as_kakehashi status | head -3
as_kakehashi backup /var/lib/kakehashi/backup
as_kakehashi check /var/lib/kakehashi/backup | tail -1
man kakehashi-load | head -4
bash -c '. /usr/share/bash-completion/completions/kakehashi; complete -p kakehashi'

step "kill: systemd starts it again, sessions attach"
before=$(main_pid)
kill -9 "$before"
until [ "$(main_pid)" != 0 ] && [ "$(main_pid)" != "$before" ] && [ "$(systemctl is-active kakehashi)" = active ]; do read -rt 0.2 <> <(:) || true; done
expect "rows after the kill" 1000 "$(query -c 'SELECT count(*) FROM account')"

step "upgrade beside a running session"
before=$(main_pid)
coproc session { sudo -u postgres psql -XAtq; }
echo 'BEGIN; INSERT INTO account VALUES (5000, $$ during the upgrade $$); SELECT 1;' >&"${session[1]}"
read -r answer <&"${session[0]}"
expect "open transaction" 1 "$answer"
apt-get -q install -y --no-install-recommends /packages/new/*.deb >/tmp/upgrade.log 2>&1 || { tail -40 /tmp/upgrade.log; fail "upgrade"; }
expect "version" "$(dpkg-deb -f /packages/new/kakehashi-server_*.deb Version)" "$(dpkg-query -Wf '${Version}' kakehashi-server)"
expect "the same process" "$before" "$(main_pid)"
echo 'COMMIT; SELECT count(*) FROM account;' >&"${session[1]}"
read -r answer <&"${session[0]}"
expect "the transaction goes on" 1001 "$answer"
systemctl restart kakehashi
echo 'SELECT count(*) FROM account;' >&"${session[1]}"
# The first statement may still meet the endpoint that has gone.
read -rt 30 answer <&"${session[0]}" || { echo 'SELECT count(*) FROM account;' >&"${session[1]}" && read -rt 30 answer <&"${session[0]}"; }
expect "the session after the restart" 1001 "$answer"
eval "exec ${session[1]}>&-"
wait "$session_PID" || true
expect "changed settings" "lock_timeout = 7s" "$(grep -o '^lock_timeout = 7s' /etc/kakehashi/kakehashi.conf)"

step "remove, install again"
apt-get -q remove -y kakehashi-server >/tmp/remove.log 2>&1 || { tail -40 /tmp/remove.log; fail "remove"; }
expect "service" inactive "$(systemctl is-active kakehashi || true)"
expect "a statement without endpoint" 08001 "$(query -v VERBOSITY=verbose -c 'SELECT 1 FROM account' 2>&1 | grep -o '08[0-9A-Z]*' | head -1)"
[ -d $data ] || fail "the data is gone"
apt-get -q install -y --no-install-recommends /packages/new/kakehashi-server_*.deb >/tmp/again.log 2>&1 || { tail -40 /tmp/again.log; fail "install again"; }
expect "rows" 1001 "$(query -c 'SELECT count(*) FROM account')"

step "purge"
apt-get -q purge -y 'kakehashi-*' "postgresql-$PG-kakehashi-fdw" >/tmp/purge.log 2>&1 || { tail -40 /tmp/purge.log; fail "purge"; }
for left in /etc/kakehashi /etc/default/kakehashi /usr/lib/kakehashi /dev/shm/kakehashi /var/cache/kakehashi /usr/bin/kakehashi; do
  [ ! -e "$left" ] || fail "$left is left: $(find "$left" | head -5)"
done
[ -d $data ] || fail "the purge took the data"
printf '   kept: %s\n' "$data"
echo "all steps passed"
