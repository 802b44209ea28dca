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

  // say has a text read aloud; kind is "vh" where it is on the page already.
  const say = (text, kind = "") => { const at = document.getElementById("state"); if (at && at.textContent !== text) at.replaceChildren(Object.assign(document.createElement("span"), {textContent: text, className: kind})); };
  const words = name => { const at = document.getElementById("state"); return at ? at.dataset[name] || "" : ""; };

  document.addEventListener("input", e => {
    if (e.target.dataset.draft) store(s => s.setItem(draftKey(e.target), e.target.value));
  });
  document.addEventListener("submit", e => {
    if (e.target.getAttribute("aria-busy") === "true") return e.preventDefault();
    e.target.setAttribute("aria-busy", "true");
    e.target.querySelectorAll("input[type=file]").forEach(el => el.sending && el.sending.abort());
    const sends = new FormData(e.target), files = sends.getAll("file");
    if (e.target.matches(".say") && !(files.length && files.every(f => f.size === 0))) {
      e.preventDefault();
      say(words("writing"));
      document.getElementById("said").focus();
      follow(e.target, files.some(f => f.size) ? sends : new URLSearchParams([...sends].filter(([, v]) => typeof v === "string")));
    }
    all("[data-draft]", el => { el.form === e.target && store(s => s.setItem(draftKey(el), el.value)); });
  });
  // A reply comes fact by fact, outside what is read aloud; then the page as it is now.
  let stop = null;
  async function follow(form, body) {
    const live = document.getElementById("live"), button = document.getElementById("stop");
    const url = form.action, late = setTimeout(() => say(words("slow")), 8000);
    stop = new AbortController();
    button.hidden = false;
    live.setAttribute("aria-busy", "true");
    let became = "failed";
    try {
      const answer = await fetch(url, {method: "POST", body, headers: {Accept: "text/event-stream"}, signal: stop.signal});
      if (answer.redirected) return location.assign(answer.url);
      if (!answer.ok && form.matches("[enctype]")) return form.submit(); // the page says why
      if (!answer.ok) throw answer;
      const text = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (let part; !(part = await text.read()).done;) {
        const lines = (rest + part.value).split("\n");
        rest = lines.pop();
        for (const line of lines) if (line.startsWith("data: ")) {
          const event = JSON.parse(line.slice(6));
          if (event.text) live.append(Object.assign(document.createElement("p"), {textContent: event.text}));
          if (event.to) became = event.to;
        }
      }
    } catch (e) { if (e.name === "AbortError") became = "stopped"; }
    clearTimeout(late);
    stop = null;
    button.hidden = true;
    live.setAttribute("aria-busy", "false");
    live.replaceChildren();
    if (words(became)) {
      form.removeAttribute("aria-busy");
      return say(words(became));
    }
    htmx.ajax("GET", became, {target: "#page", select: "#page", swap: "outerMorph"});
  }
  document.addEventListener("click", e => { if (e.target.id === "stop" && stop) { stop.abort(); document.getElementById("said").focus(); } });

  // A file is on its way as soon as it is chosen; the form sends what it is known by.
  document.addEventListener("change", e => {
    const el = e.target, file = el.files && el.files[0], told = el.nextElementSibling;
    if (!file || !el.dataset.sending) return;
    const put = (text, of) => { told.textContent = text.replace("%1", file.name).replace("%2", of); };
    const send = new XMLHttpRequest();
    send.open("POST", "/v1/uploads?name=" + encodeURIComponent(file.name));
    send.upload.onprogress = p => put(p.loaded < p.total ? el.dataset.sending : el.dataset.checking, Math.floor(100 * p.loaded / p.total));
    send.onload = () => {
      let of = {};
      try { of = JSON.parse(send.responseText); } catch {}
      if (send.status !== 201) return void (told.textContent = of.title ? of.title + ". " + (of.next || "") : words("failed")), el.value = "";
      const known = el.form.querySelector(`input[type=hidden][name="${el.name}"]`) || el.form.appendChild(Object.assign(document.createElement("input"), {type: "hidden", name: el.name}));
      known.value = of.reference;
      el.value = "";
      put(el.dataset.here, (file.size / 1e6).toFixed(1) + " MB");
    };
    send.onerror = () => { told.textContent = ""; }; // the form sends it, as it does without this
    el.sending = send;
    send.send(file);
  });
  const rest = () => all("form[aria-busy]", f => f.removeAttribute("aria-busy"));
  document.addEventListener("htmx:finally:request", rest);
  document.addEventListener("htmx:error", () => say(words("failed")));
  document.addEventListener("htmx:after:swap", () => {
    rest();
    arrive();
    // What was answered, and what is asked, is read aloud.
    const last = [...document.querySelectorAll(".log li")].pop();
    say([last && !last.matches(".me") && last, document.querySelector("#talk .card")].filter(el => el).map(el => el.innerText).join("\n"), "vh");
    const box = document.getElementById("said");
    if (document.activeElement === document.body && box) box.focus();
  });
  // Who comes back to a list sees what others did meanwhile, unless they have begun something.
  let away = false;
  document.addEventListener("visibilitychange", () => {
    const begun = el => el.matches("[type=checkbox],[type=radio]") ? el.checked : el.type !== "hidden" && el.value;
    if (away && !document.hidden && !stop && document.querySelector("[data-again]") && ![...document.querySelectorAll("#page input,#page textarea")].some(begun))
      htmx.ajax("GET", location.pathname, {target: "#page", select: "#page", swap: "outerMorph"});
    away = document.hidden;
  });
  addEventListener("pageshow", () => { rest(); arrive(); });

  document.addEventListener("keydown", e => {
    const el = e.target;
    if (e.key === "Escape" && stop) return stop.abort();
    if (el.matches(".say textarea") && e.key === "Enter" && !e.shiftKey && !e.isComposing) {
      e.preventDefault();
      el.form.requestSubmit();
      return;
    }
    if (!("keys" in document.body.dataset) || e.ctrlKey || e.metaKey || e.altKey || el.matches("input:not([type=checkbox]),textarea,select")) return;
    const rows = [...document.querySelectorAll("[data-row]")], at = rows.findIndex(r => r.contains(el));
    const go = row => { const link = row && row.querySelector("a,button,input"); if (link) link.focus(); };
    if (e.key === "j") go(rows[Math.min(at + 1, rows.length - 1)]);
    else if (e.key === "k") go(rows[Math.max(at - 1, 0)]);
    else if (e.key === "x" && at >= 0) { const box = rows[at].querySelector("input[type=checkbox]"); if (box) box.checked = !box.checked; }
    else if (e.key === "/") { const find = document.querySelector("input[type=search]"); if (find) { e.preventDefault(); find.focus(); } }
    else if (e.key === "?") { const help = document.getElementById("keys"); if (help) { help.open = !help.open; help.querySelector("summary").focus(); } }
  });
})();
