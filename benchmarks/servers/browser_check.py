"""Opens the report's pages in a real Chromium and uses them as a reader does.

usage: browser_check.py CHROMIUM FOLDER [SHOTS]

FOLDER holds demo.html, large.html and plain.html, as TestDemo of report/page
writes them, and maybe wmt22.html. Screenshots go to SHOTS.
"""

import pathlib
import sys
import time

import axe_playwright_python
from playwright.sync_api import sync_playwright

AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
DESKTOP = {"width": 1440, "height": 900}
TABLET = {"width": 768, "height": 1024}
WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}

chromium, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
shots = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None


class Reader:
    """A page that must neither complain nor ask for anything."""

    def __init__(self, browser, file, size=DESKTOP, scheme="light", fragment=""):
        self.context = browser.new_context(viewport=size, color_scheme=scheme, offline=True, has_touch=size is PHONE)
        self.page = self.context.new_page()
        self.complaints = []
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.on("dialog", lambda d: (self.complaints.append("dialog " + d.message), d.dismiss()))
        self.page.on("request", lambda r: self.complaints.append("request for " + r.url[:80])
                     if not r.url.startswith(("file:", "data:image/svg+xml")) else None)
        self.page.add_init_script("addEventListener('securitypolicyviolation', e => console.error('policy: ' + e.violatedDirective))")
        begin = time.monotonic()
        self.page.goto((folder / file).as_uri() + fragment)
        if self.page.locator("#segments").count():
            self.until("document.documentElement.dataset.ready")
            self.page.wait_for_selector("#list .row .line" if "#segment-" not in fragment else "#detail-title")
        self.seconds = time.monotonic() - begin

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            assert not self.complaints, self.complaints
            assert self.page.evaluate("window.broken") is None, "a text was run"
            wide = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, f"the page is {wide} pixels wider than the window"
        self.context.close()

    def until(self, condition):
        # wait_for_function would evaluate in the page, which the policy forbids
        for _ in range(3000):
            if self.page.evaluate(condition):
                return
            time.sleep(0.01)
        raise AssertionError(f"never true: {condition}")

    def status(self):
        self.until("!/Searching|Reading/.test(document.getElementById('status').textContent)")
        return self.page.locator("#status").inner_text()

    def choose(self, field, **how):
        self.page.locator(field).select_option(**how)
        self.page.wait_for_timeout(120)

    def shot(self, name, **how):
        if shots:
            self.page.screenshot(path=shots / (name + ".png"), **how)

    def axe(self, where):
        found = self.page.evaluate(AXE + "; axe.run(document, {resultTypes: ['violations']})")["violations"]
        for v in found:
            print(f"  axe {where}: {v['impact']} {v['id']}: {v['help']}: {v['nodes'][0]['html'][:160]}")
        return len(found)


def equal(got, want):
    assert got == want, f"{got!r}, want {want!r}"


def finding(browser):
    for size in (DESKTOP, TABLET, PHONE):
        with Reader(browser, "demo.html", size) as r:
            page = r.page
            top = page.locator(".claim").bounding_box()
            assert top["y"] + top["height"] < size["height"] / 2, "the finding is not what is seen first"
            equal(page.locator(".forest").count(), 1)
            picture = page.locator(".forest img").bounding_box()
            assert picture["x"] + picture["width"] <= size["width"], "the forest is cut off"
            term = page.locator(".evidence .term").first
            equal(page.locator(".tip:visible").count(), 0)
            term.focus()
            equal(page.locator(".tip:visible").count(), 1)
            tip = page.locator(".tip:visible").bounding_box()
            assert 0 <= tip["x"] and tip["x"] + tip["width"] <= size["width"], "the explanation is cut off"
            term.blur()
            equal(page.locator(".tip:visible").count(), 0)
            if size is not PHONE:
                term.hover()
                equal(page.locator(".tip:visible").count(), 1)


def columns(browser):
    for size in (WIDE, PHONE):
        with Reader(browser, "demo.html", size) as r:
            for table in r.page.locator("main .column table.sortable:visible").all():
                shown = table.locator("thead th:visible").count()
                assert shown <= 7, f"{shown} columns"
            wide = r.page.locator("#table-wide")
            box = wide.locator(".scroll")
            if size is WIDE:
                assert box.evaluate("e => e.scrollWidth <= e.clientWidth"), "the first columns are not in view"
            wide.locator("input.all").check()
            equal(wide.locator("thead th:visible").count(), 12)
            box.evaluate("e => { e.scrollLeft = 1000 }")
            first = wide.locator("tbody tr").first.locator("td").first.bounding_box()
            assert first["x"] - box.bounding_box()["x"] < 2, "the first column does not stay"
            for b in r.page.locator("main .column .scroll:visible").all():
                hint = b.locator("xpath=ancestor-or-self::*[contains(concat(' ', @class, ' '), ' table ')]").locator(".pan")
                equal(hint.is_visible(), b.evaluate("e => e.scrollWidth > e.clientWidth + 1"))
            if size is PHONE:
                box.evaluate("e => { e.scrollLeft = 0 }")
                last = wide.locator("tbody tr").first.locator("td").last
                right = wide.get_by_role("button", name="Columns to the right")
                while right.is_enabled():  # by keyboard
                    right.press("Enter")
                    r.page.wait_for_timeout(400)
                assert last.bounding_box()["x"] + last.bounding_box()["width"] <= size["width"], "the last column is out of reach"
            for name in r.page.locator("#rankings tbody td:first-child").all():
                assert name.evaluate("e => e.scrollWidth <= e.clientWidth"), "a name is cut off: " + name.inner_text()


def tables(browser):
    with Reader(browser, "demo.html") as r:
        head = r.page.locator("#table-correlations thead th")
        column = lambda k: r.page.locator(f"#table-correlations tbody td:nth-child({k})").all_inner_texts()
        before = column(4)
        head.nth(3).get_by_role("button").focus()
        r.page.keyboard.press("Enter")
        equal(head.nth(3).get_attribute("aria-sort"), "ascending")
        number = lambda s: float(s.replace("−", "-"))
        equal(column(4), sorted(before, key=number))
        r.page.keyboard.press("Enter")
        equal(head.nth(3).get_attribute("aria-sort"), "descending")
        equal(column(4), sorted(before, key=number, reverse=True))
        head.nth(5).get_by_role("button").click()
        equal(head.nth(3).get_attribute("aria-sort"), None)
        equal(column(6)[-4:], ["–"] * 4)  # missing values are last in both directions
        head.nth(5).get_by_role("button").click()
        equal(column(6)[-4:], ["–"] * 4)
        r.page.locator("#table-all-settings input[type=search]").fill("subset 30 of")
        equal(r.page.locator("#table-all-settings tbody tr:visible").count(), 1)
        images = r.page.evaluate("[...document.images].map(i => i.naturalWidth)")
        assert images and all(images), "a figure is not shown"


def explorer(browser):
    with Reader(browser, "demo.html") as r:
        page = r.page
        row = lambda: page.locator('#list [aria-selected="true"] .id').inner_text()
        title = lambda: page.locator("#detail-title").inner_text()
        equal(r.status(), "251 segments")
        r.choose("#f-domain", label="news")
        equal(r.status(), "80 of 251 segments")
        page.locator("#f-search").fill("lighthouse")
        page.wait_for_timeout(400)
        equal(r.status(), "40 of 251 segments")
        assert page.locator("#detail mark.found").count() > 0, "what was searched for is not marked"
        page.locator("#f-search").fill("שומר")
        page.wait_for_timeout(400)
        equal(r.status(), "40 of 251 segments")
        page.get_by_text("More filters").click()
        page.get_by_role("button", name="Reset").click()
        page.wait_for_timeout(200)
        equal(r.status(), "251 segments")

        r.choose("#f-sort", value="disagreement")
        gaps = [float(g.split()[-1]) for g in page.locator("#list .gap").all_inner_texts()]
        equal(gaps, sorted(gaps, reverse=True))
        r.choose("#f-least", value="0.5")
        assert r.status() != "251 segments"
        r.choose("#f-least", value="0")
        r.choose("#f-rows", value="outputs")
        equal(r.status(), "1,460 outputs")
        r.choose("#f-system", label="Cinder")
        equal(r.status(), "240 of 1,460 outputs")
        r.choose("#f-prompt", label="synonyms")
        assert r.status().endswith("of 1,460 outputs") and not r.status().startswith("240 "), r.status()
        page.get_by_role("button", name="Reset").click()
        page.wait_for_timeout(200)

        page.locator("#list").focus()
        page.keyboard.press("Home")
        equal((row(), title()), ("news-001", "Segment news-001"))
        page.keyboard.press("j")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("k")
        page.wait_for_timeout(100)
        equal((row(), title()), ("chat-002", "Segment chat-002"))
        active = page.locator("#list").get_attribute("aria-activedescendant")
        equal(page.locator("#" + active).get_attribute("aria-selected"), "true")
        page.keyboard.press("Enter")
        page.wait_for_timeout(100)
        equal(page.evaluate("document.activeElement.id"), "detail-title")
        page.keyboard.press("j")
        page.wait_for_timeout(100)
        equal(title(), "Segment shop-003")
        page.keyboard.press("Escape")
        equal(page.evaluate("document.activeElement.id"), "list")
        page.keyboard.press("/")
        equal(page.evaluate("document.activeElement.id"), "f-search")

        equal(page.locator(".reference.decides").count(), 1)
        assert page.locator(".output.chosen mark.gram").count() > 0, "no n-gram is marked"
        page.locator(".choose", has_text="Basalt-7B").click()
        equal(page.locator(".output.chosen .errors > li").count(), 2)
        assert page.locator(".output.chosen mark.error.major").count() > 0
        page.locator(".output.chosen .link").first.click()
        assert page.evaluate("document.activeElement.id").startswith("reference-")
        page.locator("#mark-grams").uncheck()
        equal(page.locator("#detail .text mark.gram").count(), 0)
    with Reader(browser, "demo.html", fragment="#segment-7") as r:
        equal(r.page.locator("#detail-title").inner_text(), "Segment news-007")


def address(browser):
    with Reader(browser, "demo.html") as r:
        page = r.page
        selected = lambda: page.locator('#list [aria-selected="true"]').get_attribute("aria-posinset")
        page.locator("#list").focus()
        page.keyboard.press("End")
        page.wait_for_timeout(100)
        assert selected() != "1"
        r.choose("#f-sort", value="disagreement")
        equal((selected(), page.locator("#list").evaluate("e => e.scrollTop")), ("1", 0))  # sorting scrolls to the top
        r.choose("#f-domain", label="news")
        page.get_by_text("More filters").click()
        r.choose("#f-score", label="bleu, max of 5")
        r.choose("#f-prompt", label="synonyms")
        page.locator("#f-errors").check()
        page.locator("#f-search").fill("river rose")
        page.wait_for_timeout(500)
        page.locator("#list").focus()
        page.keyboard.press("j")
        page.wait_for_timeout(150)
        before = (r.status(), page.locator("#detail-title").inner_text(), page.locator("#list .id").all_inner_texts())
        assert not before[0].startswith("0 of") and before[0] != "251 segments", before[0]
        kept = page.evaluate("location.hash")
    for size in (DESKTOP, PHONE):
        with Reader(browser, "demo.html", size, fragment=kept) as r:
            equal((r.status(), r.page.locator("#detail-title").inner_text()), before[:2])
            listed = r.page.locator("#list .id").all_text_contents()
            equal(listed, before[2][:len(listed)])
            equal(r.page.locator("#f-sort").input_value(), "disagreement")
            equal(r.page.evaluate("location.hash"), kept)
            assert r.page.locator("#segments").bounding_box()["y"] < size["height"], "the segments are not in view"
    with Reader(browser, "demo.html", fragment="#tables") as r:
        equal(r.page.evaluate("location.hash"), "#tables")
    with Reader(browser, "demo.html", fragment="#segments&domain=99&nothing=1&sort=order") as r:
        equal(r.status(), "251 segments")


def scripts(browser):
    for size in (DESKTOP, PHONE):
        with Reader(browser, "demo.html", size) as r:
            for n, (direction, sample) in {2: ("ltr", "battery"), 3: ("rtl", "كوبان"), 4: ("rtl", "שומר"), 5: ("ltr", "電車"), 6: ("ltr", "गोल")}.items():
                r.page.goto((folder / "demo.html").as_uri() + f"#segment-{n}")
                r.page.reload()
                r.until("document.documentElement.dataset.ready")
                r.page.wait_for_selector(".reference .text")
                texts = r.page.locator("#detail .text")
                found = [t for t in texts.all() if sample in t.inner_text()]
                assert found, f"segment {n} lacks {sample}"
                for t in found:
                    equal(t.evaluate("e => getComputedStyle(e).direction"), direction)
                for t in texts.all():
                    assert t.evaluate("e => e.scrollWidth <= e.clientWidth + 1"), f"a text of segment {n} is wider than its place"
                assert r.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"segment {n} is wider than the window"
                r.shot(f"script-{size['width']}-{n}")


def real(browser):
    if not (folder / "wmt22.html").exists():
        print("  no $REFRACT_DATA: left out")
        return
    size = (folder / "wmt22.html").stat().st_size / 1e6
    seconds = []
    for _ in range(3):
        with Reader(browser, "wmt22.html") as r:
            seconds.append(r.seconds)
    print(f"  {size:.1f} MB, first rows after {min(seconds):.2f} s at best of three")
    assert size < 30, size
    for viewport in (DESKTOP, TABLET, PHONE):
        for scheme in ("light", "dark"):
            with Reader(browser, "wmt22.html", viewport, scheme) as r:
                r.shot(f"wmt22-{viewport['width']}-{scheme}", full_page=True)
                if viewport is not TABLET:
                    equal(r.axe(f"wmt22 {viewport['width']} {scheme}"), 0)


def hostile(browser):
    for size in (DESKTOP, PHONE):
        with Reader(browser, "demo.html", size) as r:
            r.choose("#f-domain", label="hostile")
            equal(r.status(), "11 of 251 segments")
            if size is PHONE:
                r.page.locator("#list .row").first.click()
                r.page.wait_for_timeout(100)
            equal(r.page.locator("section.source .text").inner_text(), "</script><script>window.broken = 1</script>")
            for k in range(11):
                assert r.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"hostile text {k + 1} is wider than the window"
                if k == 3:
                    shown = r.page.locator("section.source .text").inner_text()
                    assert "U+202E" in shown and "\u202e" not in shown and "U+001B" in shown, shown
                if k in (3, 4):
                    r.shot(f"hostile-{size['width']}-{k}")
                r.page.keyboard.press("j")
                r.page.wait_for_timeout(60)
            equal(r.page.locator("#detail-title").inner_text(), "Segment nothing at all")


def large(browser):
    with Reader(browser, "large.html") as r:
        page = r.page
        print(f"  30,000 outputs: {(folder / 'large.html').stat().st_size / 1e6:.1f} MB, first rows after {r.seconds:.2f} s, "
              f"of which reading the data {page.evaluate('Number(document.documentElement.dataset.ready)')} ms")
        equal(r.status(), "1,875 segments")
        for what, act in {
            "all outputs": lambda: r.choose("#f-rows", value="outputs"),
            "by disagreement": lambda: r.choose("#f-sort", value="disagreement"),
        }.items():
            begin = time.monotonic()
            act()
            print(f"  {what}: {time.monotonic() - begin:.2f} s")
        equal(r.status(), "30,000 outputs")
        begin = time.monotonic()
        page.locator("#f-search").fill("zzzz no such text")
        page.wait_for_timeout(250)
        equal(r.status(), "0 of 30,000 outputs")
        print(f"  a search of all texts: {time.monotonic() - begin:.2f} s")
        page.locator("#f-search").fill("")
        page.wait_for_timeout(300)
        equal(r.status(), "30,000 outputs")
        begin = time.monotonic()
        page.locator("#list").focus()
        page.keyboard.press("End")
        page.wait_for_timeout(50)
        equal(page.locator('#list [aria-selected="true"]').get_attribute("aria-posinset"), "30000")
        print(f"  to the last row: {time.monotonic() - begin:.2f} s")
        assert page.locator("#list .row").count() < 60, "rows out of view are in the page"


def looks(browser):
    found = 0
    for size in (DESKTOP, PHONE):
        for scheme in ("light", "dark"):
            name = f"{size['width']}-{scheme}"
            with Reader(browser, "demo.html", size, scheme) as r:
                r.shot(name + "-top")
                r.shot(name + "-page", full_page=True)
                found += r.axe(name)
                r.page.locator("#segments").scroll_into_view_if_needed()
                r.page.evaluate("document.getElementById('segments').scrollIntoView({behavior: 'instant'})")
                r.page.wait_for_timeout(100)
                r.shot(name + "-segments")
                r.page.locator("#list .row").nth(1).click()
                r.page.wait_for_timeout(600)
                r.page.locator(".choose", has_text="Basalt-7B").click()
                r.page.wait_for_timeout(100)
                r.shot(name + "-detail")
                found += r.axe(name + " with a segment")
    with Reader(browser, "demo.html") as r:
        r.page.emulate_media(media="print")
        pdf = r.page.pdf()
        assert pdf.startswith(b"%PDF")
        if shots:
            (shots / "print.pdf").write_bytes(pdf)
    with Reader(browser, "plain.html") as r:
        found += r.axe("plain")
    equal(found, 0)


def main():
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        print(f"Chromium {browser.version}")
        for step in (finding, columns, tables, explorer, address, scripts, hostile, large, real, looks):
            print(step.__name__)
            step(browser)
        browser.close()


main()
