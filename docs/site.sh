#!/usr/bin/env bash
# Builds the site of these pages, by default into site/, and checks that every link leads
# somewhere and that a page asks no other host for a script, style, font or image.
#
# usage: docs/site.sh [FOLDER]
set -euo pipefail
site=$(realpath -m "${1:-site}")
cd "$(dirname "$0")/.."
lock=docs/requirements.txt
source benchmarks/peers/environment.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 docs/site_pages.py "$work/pages"
if ! NO_COLOR=1 "$venv/bin/zensical" build --strict --config-file "$work/pages/mkdocs.yml" >"$work/said" 2>&1; then
	cat "$work/said" >&2
	exit 1
fi
if [ -e "$site" ] && ! [ -e "$site/sitemap.xml" ]; then
	echo "$site is there and no site" >&2
	exit 1
fi
rm -rf "$site"
mkdir -p "$(dirname "$site")"
mv "$work/pages/site" "$site"
# The theme asks GitHub for stars where it finds the component "source", and a CDN for Mermaid.
if grep -rnoE --include='*.html' \
	'(<(script|img|source|iframe)[^>]* src(set)?|<link[^>]* rel="?(stylesheet|preconnect|preload|icon)[^>]* href)="?(https?:)?//[^" >]*|data-md-component="?source|class="?mermaid' "$site" ||
	grep -rnoE --include='*.css' '(url\(|@import )["'\'']?(https?:)?//[^) ]*' "$site"; then
	echo "the site asks other hosts" >&2
	exit 1
fi
echo "$(find "$site" -name '*.html' | wc -l) pages in $site"
