#!/usr/bin/env bash
# Opens the HTML report and the page of 'refract review' in a real headless Chromium and checks: no
# console errors, no breach of its policy, the finding and its plot, tables of seven columns,
# sorting, filters, segments and their address, hostile texts, CJK and right-to-left scripts, 30,000
# outputs, accessibility (axe), light and dark, phone and desktop, decisions by keyboard. With
# $REFRACT_DATA, the report of WMT22 zh-en must be smaller than 30 MB; the time to its list is printed.
#
# usage: benchmarks/servers/browser.sh [FOLDER FOR SCREENSHOTS]
#
# It uses $CHROMIUM, or an installed Chromium or Chrome; otherwise it installs one, with apt if
# allowed, and with Playwright if not.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=benchmarks/servers
source benchmarks/peers/environment.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find_chromium() {
	local name
	for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
		if [ -n "$name" ] && command -v "$name"; then return; fi
	done
	"$venv/bin/python" -c '
import os
from playwright.sync_api import sync_playwright
with sync_playwright() as p:
    if os.path.exists(p.chromium.executable_path):
        print(p.chromium.executable_path)'
}

chromium=$(find_chromium)
if [ -z "$chromium" ]; then
	apt_install chromium fontconfig || true
	chromium=$(find_chromium)
fi
# Fonts for Chinese and Arabic, which the screenshots need.
if ! fc-list :lang=zh 2>/dev/null | grep -q . || ! fc-list :lang=ar 2>/dev/null | grep -q .; then
	apt_install fonts-noto-core fonts-noto-cjk || true
fi
if [ -z "$chromium" ]; then
	"$venv/bin/playwright" install chromium || true
	chromium=$(find_chromium)
fi
if [ -z "$chromium" ]; then
	echo "browser.sh: no Chromium, and none could be installed: install one, or set CHROMIUM to its path" >&2
	exit 1
fi

go test -count=1 -run '^TestDemo$' ./cmd/refract/internal/page -args -demo "$work"
if [ $# -gt 0 ]; then mkdir -p "$1"; fi
program=${REFRACT_PROGRAM:-$work/refract}
[ -e "$program" ] || go build -o "$program" ./cmd/refract
wmt22=${REFRACT_DATA:-}/mt-metrics-eval-v2/wmt22
if [ -d "$wmt22" ]; then
	"$program" report -q "mtme:$wmt22/zh-en" --references "div-ref:$REFRACT_DATA/div-ref/wmt22.zh-en.refA.diversified" -o "$work/wmt22.html"
fi
"$venv/bin/python" "$here/browser_check.py" "$chromium" "$work" "$@"
"$venv/bin/python" "$here/review_check.py" "$chromium" "$program" "$work" "$@"
echo "the report and the page of decisions work in Chromium"
