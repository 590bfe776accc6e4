#!/usr/bin/env bash
# make site: the documentation as pages of HTML that need no network, in target/site/html. site.sh [DIRECTORY] puts them there.
. "$(dirname "$0")/lib.sh"

work=$ROOT/target/site
out=${1:-$work/html}
case "$out" in /*) ;; *) out=$PWD/$out ;; esac
# Debian's mkdocs, with the python that it belongs to. Where its themes are is another place in each release.
has_theme() { /usr/bin/python3 -c 'from mkdocs.utils import get_theme_names; raise SystemExit("material" not in get_theme_names())' 2>/dev/null; }
[ -x /usr/bin/mkdocs ] && has_theme ||
  die "mkdocs and its theme are not installed" "Install the packages mkdocs and mkdocs-material."
rm -rf "$work" "$out"
mkdir -p "$work/pages" "$(dirname "$out")"
"$ROOT/packaging/documents.sh" "$work/code"
/usr/bin/python3 "$ROOT/.make/site.py" "$ROOT" "$work/code" "$work/pages"
cp "$ROOT/docs/site/mkdocs.yml" "$work/mkdocs.yml"
(cd "$work" && /usr/bin/python3 /usr/bin/mkdocs -q build --site-dir "$out") ||
  die "mkdocs found something that is not as it should be"
# Nothing is loaded from elsewhere.
! grep -rnoE '(src|href)="(https?:)?//[^"]+\.(js|css|woff2?)"' "$out" --include='*.html' || die "a page needs the network"
say "documentation: ${out}/index.html, $(find "$out" -name '*.html' | wc -l) pages"
