#!/usr/bin/env bash
# Writes the settings of the package's service: settings.sh FILE. Those of the sources, with its own where they differ.
. "$(dirname "$0")/../.make/lib.sh"

own() { # key value: the commented default becomes a line that counts
  grep -q "^#$1 =" "$target" || die "kakehashi.conf has no setting $1"
  sed -i "s|^#\($1 = *\)[^#]*\(#.*\)\?$|$1 = $2   \2|" "$target"
}

target=$1
cp "$ROOT/ipc-endpoint/server/src/main/dist/kakehashi.conf" "$target"
own data_directory /var/lib/kakehashi/main
own allowed_users postgres
sed -i '1i # Of the service kakehashi. "systemctl reload kakehashi" lets it read this file again.' "$target"
