// Focus, busy forms, drafts, and keys of the console that move and never act. All
// pages work without it.
(() => {
  const all = (what, fn) => document.querySelectorAll(what).forEach(fn);
  const draftKey = el => "draft " + el.dataset.draft;
  const store = fn => { try { return fn(localStorage); } catch { return null; } };

  function arrive() {
    const first = document.querySelector("[data-focus]");
    if (first && first !== arrive.last) first.focus();
    arrive.last = first;
    // What was done needs no draft any more.
    if (/[?&]done=/.test(location.search)) store(s => Object.keys(s).filter(k => k.startsWith("draft ") && k !== "draft said").forEach(k => s.removeItem(k)));
    all("[data-draft]", el => {
      const kept = store(s => s.getItem(draftKey(el)));
      if (kept !== null && kept.trim() === el.dataset.sent) {
        store(s => s.removeItem(draftKey(el)));
        if (el.value.trim() === kept.trim()) el.value = "";
      } else if (kept && !el.value) el.value = kept;
    });
    all(".logbox", el => { el.scrollTop = el.scrollHeight; });
  }

  const say = text => { const at = document.getElementById("state"); if (at && at.textContent !== text) at.textContent = text; };
  const words = name => { const at = document.getElementById("state"); return at ? at.dataset[name] || "" : ""; };

  document.addEventListener("input", e => {
    if (e.target.dataset.draft) store(s => s.setItem(draftKey(e.target), e.target.value));
  });
  document.addEventListener("submit", e => {
    if (e.target.getAttribute("aria-busy") === "true") return e.preventDefault();
    e.target.setAttribute("aria-busy", "true");
    if (e.target.matches(".say")) {
      say(words("writing"));
      e.target.querySelector("textarea").focus();
    }
    all("[data-draft]", el => { el.form === e.target && store(s => s.setItem(draftKey(el), el.value)); });
  });
  const rest = () => all("form[aria-busy]", f => f.removeAttribute("aria-busy"));
  document.addEventListener("htmx:finally:request", rest);
  document.addEventListener("htmx:error", () => say(words("failed")));
  document.addEventListener("htmx:after:swap", () => {
    rest();
    arrive();
    const last = [...document.querySelectorAll(".log li:not(.me)")].pop();
    if (last) say(last.innerText);
    const box = document.getElementById("said");
    if (document.activeElement === document.body && box) box.focus();
  });
  addEventListener("pageshow", () => { rest(); arrive(); });

  document.addEventListener("keydown", e => {
    const el = e.target;
    if (el.matches(".say textarea") && e.key === "Enter" && !e.shiftKey && !e.isComposing) {
      e.preventDefault();
      el.form.requestSubmit();
      return;
    }
    if (!("keys" in document.body.dataset) || e.ctrlKey || e.metaKey || e.altKey || el.matches("input,textarea,select")) return;
    const rows = [...document.querySelectorAll("[data-row]")], at = rows.findIndex(r => r.contains(el));
    const go = row => { const link = row && row.querySelector("a,button,input"); if (link) link.focus(); };
    if (e.key === "j") go(rows[Math.min(at + 1, rows.length - 1)]);
    else if (e.key === "k") go(rows[Math.max(at - 1, 0)]);
    else if (e.key === "x" && at >= 0) { const box = rows[at].querySelector("input[type=checkbox]"); if (box) box.checked = !box.checked; }
    else if (e.key === "/") { const find = document.querySelector("input[type=search]"); if (find) { e.preventDefault(); find.focus(); } }
    else if (e.key === "?") { const help = document.getElementById("keys"); if (help) { help.open = !help.open; help.querySelector("summary").focus(); } }
  });
})();
