// Focus, busy forms, drafts, and keys of the console that move and never act. All
// pages work without it.
(() => {
  const find = (what, within = document) => [...within.querySelectorAll(what)], all = (what, fn) => find(what).forEach(fn);
  const on = (event, fn) => document.addEventListener(event, fn), id = name => document.getElementById(name);
  const make = (tag, of, ...inside) => { const el = Object.assign(document.createElement(tag), of); el.append(...inside); return el; };
  const draftKey = el => "draft " + el.dataset.draft;
  const store = (fn, at = "localStorage") => { try { return fn(window[at]); } catch { return null; } };
  // A number like that of a card stays in no browser.
  const draft = el => store(s => /\b[3-6]\d{3}([ -]?\d){11}/.test(el.value) ? s.removeItem(draftKey(el)) : s.setItem(draftKey(el), el.value));
  // The server may have masked something in what was sent last.
  const wasSent = (el, text) => el.dataset.sent && text && new RegExp("^" + el.dataset.sent.split("••••••")
    .map(of => of.replace(/[^\w\s]/g, "\\$&")).join("[^]+") + "$").test(text.trim());
  // Drafts go once what was sent in this tab is done, and no others.
  const sent = change => store(s => s.setItem("sent", JSON.stringify(change(JSON.parse(s.getItem("sent") || "[]")))), "sessionStorage");
  const drafts = form => find("[data-draft]", form).map(draftKey);
  const forget = keys => { store(s => keys.forEach(k => s.removeItem(k))); return []; };

  function arrive() {
    const first = document.querySelector("[data-focus]");
    if (first && first !== arrive.last) first.focus();
    arrive.last = first;
    if (/[?&]done=/.test(location.search)) sent(forget);
    all("[data-draft]", el => {
      if (el.type === "file") return back(el);
      const kept = store(s => s.getItem(draftKey(el)));
      if (el.type === "radio") return el.checked ||= kept === el.value && !el.closest("fieldset").querySelector(":checked");
      if (wasSent(el, el.value)) el.value = "";
      if (wasSent(el, kept)) forget([draftKey(el)]);
      else el.value ||= kept;
    });
    all(".logbox", el => { el.scrollTop = el.scrollHeight; });
    copies();
  }

  // A call can be copied.
  function copies() {
    const words = document.body.dataset.copy;
    if (words && navigator.clipboard) all("pre.call:not(.copies)", el => {
      const button = make("button", {type: "button", className: "btn bare", textContent: words}), text = el.textContent;
      el.classList.add("copies");
      el.append(button);
      button.onclick = () => navigator.clipboard.writeText(text).then(() => { button.textContent = document.body.dataset.copied; }, () => {});
    });
  }

  // say has a text read aloud; kind is "vh" where it is on the page already.
  const say = (text, kind = "") => {
    const at = id("state");
    if (at && at.textContent !== text) at.replaceChildren(make("span", {textContent: text, className: kind}));
  };
  const words = name => { const at = id("state"); return at ? at.dataset[name] || "" : ""; };

  on("input", e => {
    if (e.target.dataset.draft && e.target.type !== "file") draft(e.target);
  });
  on("submit", e => {
    if (e.target.getAttribute("aria-busy") === "true") return e.preventDefault();
    e.target.setAttribute("aria-busy", "true");
    if (e.target.sending) { // the files first: the last of them sends the form
      e.target.waits = e.submitter;
      return e.preventDefault();
    }
    const sends = new FormData(e.target), files = sends.getAll("file");
    if (e.target.matches(".say") && !(files.length && files.every(f => f.size === 0))) {
      e.preventDefault();
      say(words("writing"));
      id("said").focus();
      follow(e.target, files.some(f => f.size) ? sends : new URLSearchParams([...sends].filter(([, v]) => typeof v === "string")));
    }
    all("[data-draft]:not([type=file],[type=radio])", el => el.form === e.target && draft(el));
    if (!e.target.matches(".say")) sent(keys => keys.concat(drafts(e.target)));
  });
  // A reply comes fact by fact, unread; then the page as it is now.
  let stop = null;
  async function follow(form, body) {
    const live = id("live"), button = id("stop");
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
          if (event.text) live.append(make("p", {textContent: event.text}));
          live.parentElement.scrollTop = live.parentElement.scrollHeight;
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
    forget(drafts(form));
    htmx.ajax("GET", became, {target: "#page", select: "#page", swap: "outerMorph"});
  }
  on("click", e => { if (e.target.id === "stop" && stop) { stop.abort(); id("said").focus(); } });

  // Files leave as soon as they are chosen; the form sends their references.
  on("change", e => { if (e.target.dataset.sending) take(e.target, [...e.target.files]); });
  const zone = e => e.dataTransfer && [...e.dataTransfer.types].includes("Files") && e.target.closest("[data-drop]");
  on("dragover", e => {
    const at = zone(e);
    all(".over", el => el !== at && el.classList.remove("over"));
    if (at) { e.preventDefault(); at.classList.add("over"); }
  });
  on("dragleave", e => { if (!e.relatedTarget) all(".over", el => el.classList.remove("over")); });
  on("drop", e => {
    const at = zone(e), el = at && at.querySelector("input[type=file]");
    all(".over", el => el.classList.remove("over"));
    if (el) { e.preventDefault(); take(el, [...e.dataTransfer.files]); }
  });

  function take(el, files) {
    const list = el.parentElement.querySelector(".sent");
    if (!el.multiple) { files.splice(1); list.querySelectorAll("button:first-of-type,:checked").forEach(of => of.click()); }
    files.forEach(file => send(el, list, file));
    el.value = "";
  }

  // What is here is known to who comes back, until the form is sent.
  const keep = (el, change) => store(s => {
    const all = change(JSON.parse(s.getItem(draftKey(el)) || "[]"));
    all.length ? s.setItem(draftKey(el), JSON.stringify(all)) : s.removeItem(draftKey(el));
  });
  const row = (el, list, name) => {
    const at = make("p", {className: "at"}), ending = name.split(".").pop().slice(0, 4);
    const kind = make("span", {className: "kind", textContent: ending, ariaHidden: "true"});
    const remove = make("button", {type: "button", className: "btn bare", textContent: el.dataset.remove});
    remove.append(make("span", {className: "vh", textContent: ": " + name}));
    const item = make("li", {}, kind, at, remove);
    list.append(item);
    return {at, kind, remove, item};
  };
  function back(el) {
    const list = el.parentElement.querySelector(".sent"), refused = el.dataset.refused.split(" ");
    const here = find(".opt", list).map(of => (of.remove(), {...of.dataset, reference: of.querySelector("input").value}));
    keep(el, all => {
      all = here.concat(all.filter(f => ![...refused, ...here.map(of => of.reference)].includes(f.reference)));
      const there = find("input", list).map(of => of.value);
      for (const {name, size, reference} of el.multiple ? all : all.slice(-1)) if (!there.includes(reference)) {
        const {at, remove, item} = row(el, list, name);
        at.textContent = el.dataset.here.replace("%1", name).replace("%2", size);
        item.append(make("input", {type: "hidden", name: el.name, value: reference}));
        remove.onclick = () => gone(el, list, item, reference);
      }
      return all;
    });
    total(el, list);
  }
  function gone(el, list, item, reference) {
    item.remove();
    keep(el, of => of.filter(f => f.reference !== reference));
    list.nextElementSibling.textContent = "";
    total(el, list);
    el.focus();
  }
  addEventListener("beforeunload", e => { if ([...document.forms].some(form => form.sending)) e.preventDefault(); });

  // Three files leave at once; one bar is for all.
  const queue = [];
  let under = 0;
  const next = () => { while (under < 3 && queue.length) { under++; queue.shift()(); } };
  function total(el, list) {
    const items = [...list.children], wrong = items.filter(of => of.matches(".wrong")).length;
    const here = items.filter(of => of.querySelector("input")).length, bar = el.parentElement.querySelector(".all");
    bar.hidden = items.length < 2;
    bar.querySelector("progress").max = items.length || 1;
    bar.querySelector("progress").value = here + wrong;
    bar.querySelector("span").textContent = bar.dataset.says.replace("%1", here).replace("%2", items.length - here - wrong).replace("%3", wrong);
  }

  const inWords = n => n < 1e3 ? n + " B" : n < 1e6 ? Math.ceil(n / 100) / 10 + " kB" : Math.ceil(n / 1e5) / 10 + " MB";
  const takes = (el, type) => !el.accept || el.accept.split(",").some(of => of === type || of.endsWith("*") && type.startsWith(of.slice(0, -1)));

  function send(el, list, file) {
    const form = el.form, bar = make("progress", {max: 100, value: 0}), {at, kind, remove, item} = row(el, list, file.name);
    item.append(bar);
    bar.ariaLabel = file.name;
    total(el, list);
    picture(file).then(shown => shown && kind.replaceWith(shown), () => {});
    const told = list.nextElementSibling, size = inWords(file.size);
    const put = (text, of) => { at.textContent = text.replace("%1", file.name).replace("%2", of); };
    const post = new XMLHttpRequest();
    let open = true, sent = false, reference = "";
    const ends = wrong => {
      if (!open) return;
      open = false;
      if (sent) { under--; next(); }
      queueMicrotask(() => total(el, list));
      bar.className = "over"; // it keeps its place
      if (wrong) {
        at.textContent = wrong.includes(file.name) ? wrong : file.name + ": " + wrong;
        item.classList.add("wrong");
        const again = remove.cloneNode(true);
        again.firstChild.data = el.dataset.again;
        again.onclick = () => { item.remove(); send(el, list, file); el.focus(); };
        item.append(again);
      }
      told.textContent = at.textContent;
      if (--form.sending) return;
      const by = form.waits;
      if (form.getAttribute("aria-busy") !== "true" || by === undefined) return;
      form.removeAttribute("aria-busy");
      form.waits = undefined;
      if (!list.querySelector(".wrong")) form.requestSubmit(by);
    };
    remove.onclick = () => {
      post.abort();
      ends("");
      gone(el, list, item, reference);
    };
    form.sending = (form.sending || 0) + 1;
    if (el.dataset.most && file.size > +el.dataset.most) return put(el.dataset.large, ""), ends(at.textContent);
    post.open("POST", "/v1/uploads?name=" + encodeURIComponent(file.name));
    post.upload.onprogress = p => {
      bar.value = Math.floor(100 * p.loaded / p.total);
      put(p.loaded < p.total ? el.dataset.sending : el.dataset.checking, bar.value);
    };
    post.onload = () => {
      let of = {};
      try { of = JSON.parse(post.responseText); } catch {}
      if (post.status === 401) return ends(el.dataset.signin);
      if (post.status !== 201) return ends([of.title || el.dataset.failed, of.next].filter(t => t).map(t => t[0].toUpperCase() + t.slice(1)).join(". "));
      if (!takes(el, of.type)) return put(el.dataset.wrong, ""), ends(at.textContent);
      item.append(make("input", {type: "hidden", name: el.name, value: reference = of.reference}));
      keep(el, all => [...(el.multiple ? all : []), {name: file.name, size, reference}]);
      put(el.dataset.here, size);
      ends();
    };
    post.onerror = () => ends(el.dataset.failed);
    put(el.dataset.waits, size);
    queue.push(() => {
      sent = true;
      if (!open) { under--; return next(); }
      post.send(file);
    });
    next();
  }

  // picture draws a small picture of a file.
  async function picture(file) {
    if (!/^image\/(jpeg|png|webp)$/.test(file.type)) return null;
    const of = await createImageBitmap(file, {resizeHeight: 96}), canvas = make("canvas", {width: 96, height: 96});
    canvas.getContext("2d").drawImage(of, (of.width - 96) / 2, 0, 96, 96, 0, 0, 96, 96);
    of.close();
    canvas.ariaHidden = "true";
    return canvas;
  }

  const rest = () => all("form[aria-busy]", f => f.removeAttribute("aria-busy"));
  on("htmx:finally:request", rest);
  on("htmx:error", () => say(words("failed")));
  on("htmx:after:swap", () => {
    rest();
    arrive();
    // What was answered, and what is asked, is read aloud.
    const last = find(".log>li").pop(); // its sources are a list too
    const told = [last && !last.matches(".me") && last, document.querySelector("#talk .card")].filter(el => el);
    say(told.map(el => el.innerText).join("\n"), "vh");
    const box = id("said");
    if (document.activeElement === document.body && box) box.focus();
  });
  // A list is read anew for who comes back, unless they began something.
  let away = false;
  on("visibilitychange", () => {
    const begun = el => el.matches("[type=checkbox],[type=radio]") ? el.checked : el.type !== "hidden" && el.value;
    const fields = find("#page input,#page textarea");
    if (away && !document.hidden && !stop && document.querySelector("[data-again]") && !fields.some(begun))
      htmx.ajax("GET", location.pathname, {target: "#page", select: "#page", swap: "outerMorph"});
    away = document.hidden;
  });
  addEventListener("pageshow", () => { rest(); arrive(); });
  if (document.body.dataset.at) history.replaceState(null, "", document.body.dataset.at); // to come back sends nothing again

  on("keydown", e => {
    const el = e.target;
    if (e.key === "Escape" && stop) return stop.abort();
    if (el.matches(".say textarea") && e.key === "Enter" && !e.shiftKey && !e.isComposing) {
      e.preventDefault();
      el.form.requestSubmit();
      return;
    }
    if (!("keys" in document.body.dataset) || e.ctrlKey || e.metaKey || e.altKey) return;
    if (el.matches("input:not([type=checkbox]),textarea,select")) return;
    const rows = find("[data-row]"), at = rows.findIndex(r => r.contains(el));
    const go = row => { const link = row && row.querySelector("a,button,input"); if (link) link.focus(); };
    if (e.key === "j") go(rows[Math.min(at + 1, rows.length - 1)]);
    else if (e.key === "k") go(rows[Math.max(at - 1, 0)]);
    else if (e.key === "x" && at >= 0) { const box = rows[at].querySelector("input[type=checkbox]"); if (box) box.checked = !box.checked; }
    else if (e.key === "/") { const find = document.querySelector("input[type=search]"); if (find) { e.preventDefault(); find.focus(); } }
    else if (e.key === "?") { const help = id("keys"); if (help) { help.open = !help.open; help.querySelector("summary").focus(); } }
  });
})();
