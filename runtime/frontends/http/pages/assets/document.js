// Shows the pages of a PDF where one is to be shown. The program in a PDF is not run: only its pages are
// drawn. Pages far away from the window are not held.
const near = 3; // pages on either side that stay drawn

for (const box of document.querySelectorAll("[data-pdf]")) show(box);

async function show(box) {
  const told = box.querySelector(".state"), words = box.dataset;
  const marks = [];
  for (const q of box.querySelectorAll("q")) {
    const mark = marks[q.dataset.of] ||= {texts: [], apart: "words" in q.dataset};
    if (plain(q.textContent).length > 2) mark.texts.push(plain(q.textContent));
  }
  told.textContent = words.loading;
  box.ariaBusy = "true"; // until its first page is drawn
  let pdf, lib;
  try {
    lib = await import(words.lib);
    lib.GlobalWorkerOptions.workerSrc = words.worker;
    pdf = await lib.getDocument({url: words.pdf, isEvalSupported: false, enableXfa: false, useWasm: false, wasmUrl: "/assets/", disableRange: true, disableStream: true}).promise;
  } catch (e) {
    told.textContent = e && e.name === "PasswordException" ? words.locked : words.failed;
    box.ariaBusy = "false";
    return;
  }
  const say = n => { told.textContent = words.at.replace("%1", n).replace("%2", pdf.numPages); };
  const scroll = Object.assign(document.createElement("div"), {className: "pdf-pages", tabIndex: 0});
  scroll.setAttribute("role", "group");
  scroll.setAttribute("aria-labelledby", "document");
  const size = (await pdf.getPage(1)).getViewport({scale: 1});
  const all = [];
  for (let n = 1; n <= pdf.numPages; n++) {
    const at = Object.assign(document.createElement("div"), {className: "pdf-page"});
    at.style.aspectRatio = `${size.width} / ${size.height}`;
    all.push(at);
    scroll.append(at);
  }
  box.append(scroll);
  let here = 0;
  const seen = new IntersectionObserver(changed => {
    for (const {target, isIntersecting} of changed) target.near = isIntersecting;
    const first = all.findIndex(at => at.near);
    if (first < 0) return;
    if (first !== here - 1) say(here = first + 1);
    all.forEach((at, i) => Math.abs(i - first) <= near ? draw(i) : drop(i));
  }, {root: scroll});
  all.forEach(at => seen.observe(at));
  const open = Math.min(Math.max(Number(words.page) || 1, 1), pdf.numPages);
  if (open > 1) scroll.scrollTop = all[open - 1].offsetTop;
  say(here = open);
  compare();

  // What is on file is looked for in the text of all pages, one after the other.
  async function compare() {
    const table = document.querySelector(".compared");
    if (!table) return;
    const left = new Map([...table.querySelectorAll("[data-found]")].map(at => [Number(at.dataset.found), at]));
    let any = false;
    for (let n = 1; n <= pdf.numPages && left.size; n++) {
      const text = await pdf.getPage(n).then(page => page.getTextContent()).catch(() => ({items: []}));
      const said = plain(text.items.map(item => item.str).join(" "));
      any ||= said !== "";
      for (const [i, at] of left) if (marks[i] && holds(said, marks[i])) {
        const go = Object.assign(document.createElement("button"), {type: "button", className: "btn bare", textContent: table.dataset.at.replace("%1", n)});
        go.onclick = () => { scroll.scrollTop = all[n - 1].offsetTop; scroll.focus(); };
        at.replaceChildren(go);
        left.delete(i);
      }
    }
    for (const at of left.values()) at.textContent = any ? table.dataset.not.replace("%1", pdf.numPages) : table.dataset.scan;
  }

  async function draw(i) {
    const at = all[i];
    if (at.drawn) return;
    at.drawn = true;
    try {
      const page = await pdf.getPage(i + 1), whole = page.getViewport({scale: 1});
      at.style.aspectRatio = `${whole.width} / ${whole.height}`;
      const view = page.getViewport({scale: at.clientWidth / whole.width * Math.min(devicePixelRatio || 1, 2)});
      const canvas = Object.assign(document.createElement("canvas"), {width: view.width, height: view.height});
      canvas.setAttribute("aria-hidden", "true");
      await page.render({canvas, viewport: view}).promise;
      if (!at.drawn) return;
      const text = await page.getTextContent();
      const said = Object.assign(document.createElement("div"), {className: "vh", textContent: text.items.map(item => item.str).join(" ")});
      at.replaceChildren(canvas, ...found(text.items, whole, lib), said);
      box.ariaBusy = "false";
    } catch { at.drawn = false; }
  }
  function drop(i) {
    all[i].drawn = false;
    all[i].replaceChildren();
  }

  // found returns a frame around each line that holds a marked text, or a part of one.
  function found(items, whole, lib) {
    let joined = "";
    const from = items.map(item => { const at = joined.length; joined += plain(item.str) + " "; return at; });
    const frames = [];
    const texts = marks.flatMap(mark => mark.apart && !mark.texts.some(text => joined.includes(text)) && holds(joined, mark) ? mark.texts.flatMap(tokens) : mark.texts);
    for (const mark of new Set(texts)) {
      for (let at = joined.indexOf(mark); at >= 0; at = joined.indexOf(mark, at + mark.length)) {
        items.forEach((item, i) => {
          const end = from[i] + plain(item.str).length;
          if (!item.str.trim() || from[i] >= at + mark.length || end <= at) return;
          const [, , , , x, y] = lib.Util.transform(whole.transform, item.transform);
          const high = Math.hypot(item.transform[2], item.transform[3]), frame = document.createElement("mark");
          Object.assign(frame.style, {left: 100 * x / whole.width + "%", top: 100 * (y - high) / whole.height + "%", width: 100 * item.width / whole.width + "%", height: 120 * high / whole.height + "%"});
          frames.push(frame);
        });
      }
    }
    return frames;
  }
}

// plain is a text without what documents write otherwise: capitals, blanks, marks of letters.
function plain(text) {
  return text.toLowerCase().replace(/[äöü]|[aou]\u0308/g, at => at[0].normalize("NFD")[0] + "e").replace(/ß/g, "ss")
    .normalize("NFKD").replace(/\p{M}/gu, "").replace(/\s+/g, " ").trim();
}

const tokens = text => text.split(/[^\p{L}\p{N}]+/u).filter(word => word.length > 1);

function holds(said, mark) {
  const all = new Set(tokens(said));
  return mark.texts.some(text => said.includes(text) || mark.apart && tokens(text).length > 1 && tokens(text).every(word => all.has(word)));
}
