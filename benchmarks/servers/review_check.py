"""Decides about answers on the page of `refract review`, in a real Chromium.

usage: review_check.py CHROMIUM REFRACT FOLDER [SHOTS]

FOLDER is for files. Screenshots go to SHOTS.
"""

import json
import pathlib
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import axe_playwright_python
from playwright.sync_api import sync_playwright

AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
HOSTILE = "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 2'> \u202e gone \u001b[31m"
chromium, refract, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
shots = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None


def variant(text, verdict="accepted", **more):
    return {"reference": 0, "prompt": "plain", "sample": more.pop("sample", 0), "model": "m", "text": text, "verdict": verdict, **more}


def equal(got, want):
    assert got == want, f"{got!r}, want {want!r}"


segments = [
    {"id": "one", "source": "La voile du canot est rouge.", "references": ["The sail of the dinghy is red."],
     "variants": [variant("The dinghy has a red sail.", alarms=["name: Lyon"]), variant("I am sorry for your boat.", sample=1, alarms=["dropped: red sail", "added: sorry"])],
     "rejected": [variant(None, "blocked", sample=2), variant("The sail", "cut", sample=3, detail='it ends in the word "sail"', raw="The sail,")]},
    {"id": "two", "source": HOSTILE, "references": ["قارب شراعي صغير " + HOSTILE], "variants": [variant(HOSTILE, alarms=[HOSTILE])]},
    {"id": "three", "references": ["帆是红色的。"], "variants": [variant("船帆呈红色。" * 40, alarms=["added: 船"])]},
]
data = folder / "review.jsonl"
data.write_text("".join(json.dumps(s) + "\n" for s in segments))
decisions = folder / "decisions.jsonl"


def serve():
    run = subprocess.Popen([refract, "review", f"jsonl:{data}", "-o", decisions, "--show", "2,50,3"], stdout=subprocess.PIPE, text=True)
    return run, run.stdout.readline().strip()


def refused(url, **headers):
    try:
        urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10)
    except urllib.error.HTTPError as e:
        return e.code
    return None


def open_page(browser, url, **how):
    context = browser.new_context(accept_downloads=True, **how)
    page = context.new_page()
    complaints = []
    page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda e: complaints.append(str(e)))
    page.add_init_script("addEventListener('securitypolicyviolation', e => console.error('policy: ' + e.violatedDirective))")
    page.goto(url)
    return context, page, complaints


def close(context, page, complaints):
    assert not complaints, complaints
    assert page.evaluate("window.broken") is None, "a text was run"
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"the page is {wide} pixels wider than the window"
    context.close()


def state(page, want):
    # A busy machine may take long to save a decision.
    for _ in range(200):
        page.wait_for_timeout(100)
        if page.locator("#state").inner_text() == want:
            return
    equal(page.locator("#state").inner_text(), want)


def kept():
    return [json.loads(line) for line in decisions.read_text().splitlines()]


with sync_playwright() as p:
    browser = p.chromium.launch(executable_path=chromium)
    run, url = serve()
    try:
        address, token = url.rstrip("/").rsplit("/", 1)
        equal(refused(address + "/"), 404)
        equal(refused(url, Host="example.org"), 403)
        equal(refused(url, Origin="http://example.org"), 403)
        where = open_page(browser, url)
        page = where[1]
        state(page, "0 of 6 decided")
        page.keyboard.press("a")
        state(page, "1 of 6 decided")
        page.keyboard.press("e")
        page.locator("textarea").fill("Another wording")
        page.keyboard.press("Control+Enter")
        state(page, "2 of 6 decided")
        for decided in range(3, 7):
            page.keyboard.press("r")
            state(page, f"{decided} of 6 decided")
        page.keyboard.press("u")
        state(page, "5 of 6 decided")
        page.keyboard.press("n")
        page.keyboard.press("a" if page.locator("#accept").is_enabled() else "r")
        state(page, "6 of 6 decided")
        got = kept()
        equal([d["decision"] for d in got[:6]], ["accept", "edit", "reject", "reject", "reject", "reject"])
        drawn = [d["decision"] for d in got[:6] if d.get("drawn")]
        equal(len(drawn), 2)
        right = page.locator("#estimate").inner_text()
        assert right.startswith(f"Right as they are: {drawn.count('accept')} of 2 drawn at random, "), right
        equal(got[6]["decision"], "undo")
        found = page.evaluate(AXE + "; axe.run(document, {resultTypes: ['violations']})")["violations"]
        assert not found, [(v["id"], v["nodes"][0]["html"][:160]) for v in found]
        close(*where)

        for name, how in {"desktop": {"viewport": {"width": 1440, "height": 900}},
                          "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}}.items():
            where = open_page(browser, url, **how)
            page = where[1]
            for k in range(6):
                page.locator("#groups").evaluate("(s) => s.blur()")
                if shots:
                    page.screenshot(path=shots / f"review-{name}-{k}.png")
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"answer {k + 1} is wider than the window"
                page.keyboard.press("j")
            close(*where)
    finally:
        run.send_signal(signal.SIGINT)
        equal(run.wait(timeout=10), 0)

    # a second run continues, and the page reports a stopped server
    run, url = serve()
    where = open_page(browser, url)
    state(where[1], "6 of 6 decided")
    run.send_signal(signal.SIGINT)
    equal(run.wait(timeout=10), 0)
    where[1].keyboard.press("r")
    where[1].wait_for_timeout(300)
    assert where[1].locator("#said").inner_text().startswith("Not kept: "), where[1].locator("#said").inner_text()
    where[0].close()

    # the page without a server
    html = folder / "review.html"
    subprocess.run([refract, "review", f"jsonl:{data}", "-o", html, "--show", "2,50,3", "-q"], check=True)
    where = open_page(browser, html.as_uri(), offline=True)
    page = where[1]
    for key in "arrr":
        page.keyboard.press(key)
    with page.expect_download() as download:
        page.locator("#save").click()
    saved = folder / "saved.jsonl"
    download.value.save_as(saved)
    equal([json.loads(line)["decision"] for line in saved.read_text().splitlines()], ["accept", "reject", "reject", "reject"])
    close(*where)
    browser.close()

reviewed = folder / "reviewed.jsonl"
subprocess.run([refract, "check", f"jsonl:{data}", "--decisions", decisions, "-o", reviewed, "-q"], check=True, stdout=subprocess.DEVNULL)
states = {}
for line in reviewed.read_text().splitlines():
    s = json.loads(line)
    for kind in ("variants", "rejected"):
        for v in s.get(kind, []):
            states.setdefault((kind, v.get("review", "")), []).append(v)
equal({k: len(v) for k, v in states.items()}.get(("rejected", "reject"), 0) >= 3, True)
equal([v["text"] for v in states[("variants", "edit")]], ["Another wording"])
print(f"  {len(kept())} decisions by keyboard, kept and carried out")
