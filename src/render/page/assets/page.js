"use strict";
// Shows the data of the page. Texts of notes become text nodes; the only HTML among them, the bodies, was written by
// qipu, which leaves nothing live in it.
(() => {
  const el = (id) => document.getElementById(id);
  const data = JSON.parse(el("data").textContent);
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

  // Notes and links. Notes go by their numbers inside the drawing: an id may be any word.
  const nodes = data.notes.map((note, id) => ({ id, note, to: [], from: [], width: 0 }));
  const byId = new Map(nodes.map((node) => [node.note.id, node]));
  const links = data.links.map((link) => {
    const [from, to] = [byId.get(link.from), byId.get(link.to)];
    const line = { source: from.id, target: to.id, from, to, type: link.type, inline: !link.source.includes("typed") };
    from.to.push(line);
    to.from.push(line);
    return line;
  });
  const degree = (node) => node.to.length + node.from.length;
  for (const node of nodes) node.radius = Math.min(16, 3.5 + 1.5 * Math.sqrt(degree(node)));
  const byWeight = [...nodes].sort((a, b) => degree(b) - degree(a) || b.note.value - a.note.value || a.id - b.id);

  // Colours: types that qipu knows keep theirs, others get the next.
  const known = [
    ["permanent", "#3b82f6"], ["moc", "#f59e0b"], ["literature", "#22c55e"], ["fleeting", "#f43f5e"], ["journal", "#8b5cf6"],
  ];
  const others = ["#14b8a6", "#f97316", "#ec4899", "#84cc16", "#0ea5e9", "#a16207", "#94a3b8"];
  const colors = new Map(known);
  const count = (lists) => {
    const counts = new Map();
    for (const list of lists) for (const name of new Set(list)) counts.set(name, (counts.get(name) || 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  };
  const types = count(nodes.map((node) => [node.note.type]));
  const tags = count(nodes.map((node) => node.note.tags));
  types.filter(([name]) => !colors.has(name)).forEach(([name], i) => colors.set(name, others[i % others.length]));
  for (const node of nodes) node.color = colors.get(node.note.type);
  let paint = {};
  const readPaint = () => {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["text", "soft", "accent", "edge", "halo"]) paint[name] = style.getPropertyValue("--" + name).trim();
  };
  readPaint();

  // What is shown now.
  const hiddenTypes = new Set();
  const wantedTags = new Set();
  let found = null;
  let chosen = null;
  let hovered = null;
  const isShown = (node) =>
    !hiddenTypes.has(node.note.type) && (!wantedTags.size || node.note.tags.some((tag) => wantedTags.has(tag)));
  const isNear = (node, centre) =>
    node === centre || node.to.some((line) => line.to === centre) || node.from.some((line) => line.from === centre);
  const centre = () => hovered || chosen;
  const isLit = (node) => {
    if (centre()) return isNear(node, centre());
    return !found || found.has(node);
  };
  const isLineLit = (line) => (centre() ? line.from === centre() || line.to === centre() : !found);

  // The drawing. The layout is the same each time: its places begin on a spiral in the order of the notes, and it runs
  // for a number of steps, not for a time. Above some thousand notes the steps are fewer and coarser.
  const many = nodes.length;
  let isLaidOut = false;
  let isTouched = false;
  const isHuge = many > 2000 || links.length > 6000;
  const circle = (node, context) => {
    context.beginPath();
    context.arc(node.x, node.y, node.radius, 0, 2 * Math.PI);
  };
  const drawNode = (node, context, scale) => {
    context.globalAlpha = isLit(node) ? 1 : 0.18;
    circle(node, context);
    context.fillStyle = node.color;
    context.fill();
    context.lineWidth = (node === chosen ? 3 : 1.25) / scale;
    context.strokeStyle = node === chosen ? paint.text : paint.halo;
    if (node === chosen || !isHuge) context.stroke();
    context.globalAlpha = 1;
  };
  // Thousands of lines are drawn each by itself: as one path that crosses itself they take far longer.
  const drawLine = (line, context, scale) => {
    const isCentral = centre() && isLineLit(line);
    context.strokeStyle = (isCentral ? paint.accent : paint.edge) + faint(line);
    context.lineWidth = (isCentral ? 2 : 1) / scale;
    context.beginPath();
    context.moveTo(line.from.x, line.from.y);
    context.lineTo(line.to.x, line.to.y);
    context.stroke();
  };
  const SIZE = 12;
  const short = (text) => (text.length > 42 ? [...text].slice(0, 40).join("") + "…" : text);
  // Names stand below their notes, the most linked first, where there is room.
  const drawNames = (context, scale) => {
    const view = el("graph");
    const boxes = [];
    const isFree = (box) => boxes.every((b) => box[0] > b[2] || box[2] < b[0] || box[1] > b[3] || box[3] < b[1]);
    context.font = `${SIZE / scale}px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "top";
    context.lineJoin = "round";
    const first = byWeight.filter((node) => node === hovered || node === chosen);
    const least = isHuge && !centre() && !found ? 6 : 3;
    const near = centre() || found ? byWeight.filter((node) => isLit(node) && !first.includes(node)) : byWeight;
    for (const node of [...first, ...near]) {
      if (boxes.length >= 140) break;
      if (!isShown(node) || !(node.radius * scale > least)) continue;
      const at = graph.graph2ScreenCoords(node.x, node.y);
      if (at.x < 0 || at.y < 0 || at.x > view.clientWidth || at.y > view.clientHeight) continue;
      const name = (node.name ||= short(node.note.title || node.note.id));
      node.width ||= context.measureText(name).width * scale;
      const top = at.y + node.radius * scale + 3;
      const box = [at.x - node.width / 2 - 4, top - 1, at.x + node.width / 2 + 4, top + SIZE + 3];
      if (!isFree(box)) continue;
      boxes.push(box);
      const y = node.y + node.radius + 3 / scale;
      context.lineWidth = 4 / scale;
      context.strokeStyle = paint.halo;
      context.strokeText(name, node.x, y);
      context.fillStyle = node === chosen ? paint.accent : paint.text;
      context.fillText(name, node.x, y);
    }
  };
  const faint = (line) => (isLineLit(line) ? (centre() ? "ff" : isHuge ? "40" : "80") : "18");
  const graph = new ForceGraph(el("graph"))
    .backgroundColor("rgba(0,0,0,0)")
    .nodeLabel(() => null)
    .linkLabel(() => null)
    .nodeVisibility(isShown)
    .linkVisibility((line) => (isLaidOut || !isHuge) && isShown(line.from) && isShown(line.to))
    .linkCanvasObjectMode(() => (isHuge ? "replace" : undefined))
    .linkCanvasObject(drawLine)
    .nodeCanvasObject(drawNode)
    .nodePointerAreaPaint((node, color, context, scale) => {
      context.fillStyle = color;
      context.beginPath();
      context.arc(node.x, node.y, node.radius + 4 / scale, 0, 2 * Math.PI);
      context.fill();
    })
    .linkPointerAreaPaint(() => {})
    .linkColor((line) => (centre() && isLineLit(line) ? paint.accent : paint.edge) + faint(line))
    .linkWidth((line) => (centre() && isLineLit(line) ? 2 : 1))
    .linkLineDash((line) => (line.inline && !isHuge ? [3, 3] : null))
    .linkDirectionalArrowLength((line) => (!isHuge || (centre() && isLineLit(line)) ? 4 : 0))
    .linkDirectionalArrowRelPos(1)
    .linkCurvature((line) => (line.to.to.some((back) => back.to === line.from) ? 0.15 : 0))
    .onRenderFramePost(drawNames)
    .onNodeClick((node) => choose(node))
    .onBackgroundClick(() => choose(null))
    .onNodeHover((node) => {
      hovered = node;
      redraw();
    })
    .minZoom(0.02)
    .maxZoom(12)
    .cooldownTime(Infinity)
    .d3AlphaDecay(many > 2000 ? 0.07 : 0.0228)
    .warmupTicks(many <= 600 ? 300 : many <= 2000 ? 120 : 0)
    .cooldownTicks(many <= 600 ? 0 : many <= 2000 ? 150 : 80);
  graph.d3Force("charge").strength(isHuge ? -45 : -130).distanceMax(isHuge ? 350 : 700).theta(isHuge ? 1.3 : 0.9);
  graph.d3Force("link").distance((line) => 34 + line.from.radius + line.to.radius);
  // What hangs together with nothing must not drift away.
  graph.d3Force("together", (alpha) => {
    for (const node of nodes) {
      node.vx -= node.x * 0.05 * alpha;
      node.vy -= node.y * 0.07 * alpha;
    }
  });
  const redraw = () => graph.linkColor(graph.linkColor());
  const fit = (time) => graph.zoomToFit(still ? 0 : time, 48, isShown);
  // While the layout runs the whole is kept in view, unless the user has zoomed or moved.
  let steps = 0;
  for (const name of ["pointerdown", "wheel"]) el("graph").addEventListener(name, () => { isTouched = true; }, { passive: true });
  graph.onEngineTick(() => {
    if (!isLaidOut && !isTouched && !chosen && steps++ % 8 === 0) fit(0);
  });
  graph.onEngineStop(() => {
    if (isLaidOut) return;
    isLaidOut = true;
    redraw();
    if (!isTouched) fit(0);
    if (chosen) follow();
    document.documentElement.dataset.state = "ready";
  });
  const resize = () => graph.width(el("graph").clientWidth).height(el("graph").clientHeight);
  resize();
  new ResizeObserver(resize).observe(el("graph"));
  graph.graphData({ nodes, links });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readPaint(); redraw(); });

  // Small pieces of the page.
  const make = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "onclick") made.addEventListener("click", value);
      else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  };
  const button = (name, onclick, attributes, ...children) =>
    make("button", { type: "button", class: name, onclick, ...attributes }, ...children);
  const dot = (color) => {
    const made = make("span", { class: "dot" });
    made.style.background = color;
    return made;
  };
  const title = (node) => node.note.title || node.note.id;

  // One note, with its text and its links both ways. The address names it, so that going back goes back.
  const choose = (node) => {
    const hash = node ? "#" + node.note.id : "#";
    if (location.hash === hash || (!node && !location.hash)) return follow();
    location.hash = hash;
  };
  const follow = () => {
    chosen = byId.get(location.hash.slice(1)) || null;
    hovered = null;
    el("note").hidden = !chosen;
    if (chosen) {
      el("note").replaceChildren(...noteParts(chosen));
      el("note").scrollTop = 0;
    }
    resize();
    if (chosen && Number.isFinite(chosen.x)) graph.centerAt(chosen.x, chosen.y, still ? 0 : 400);
    redraw();
  };
  const noteParts = (node) => {
    const { note } = node;
    const close = button("close", () => choose(null), { title: "Close (Esc)", "aria-label": "Close" }, "×");
    const top = make("div", { class: "top" }, dot(node.color), make("span", { class: "name" }, note.type), close);
    const facts = make("p", { class: "facts" }, make("code", {}, note.id), ` · value ${note.value}`);
    if (note.changed) facts.append(` · ${note.changed.slice(0, 10)}`);
    facts.append(make("br"), note.path);
    if (note.compacts) facts.append(make("br"), `digest of ${note.compacts.join(", ")}`);
    const parts = [top, make("h2", { class: "title" }, title(node)), facts];
    if (note.tags.length) parts.push(make("div", { class: "tags" }, ...note.tags.map((tag) => tagButton(tag))));
    const body = make("div", { class: "body" });
    if (note.html === undefined) body.textContent = note.summary;
    else body.innerHTML = note.html;
    // A heading that repeats the title says it twice.
    const first = body.firstElementChild;
    if (first && first.tagName === "H1" && first.textContent.trim() === title(node)) first.remove();
    for (const link of body.querySelectorAll("a[data-to]")) {
      const to = named(link.dataset.to, node);
      if (to) link.href = "#" + to.note.id;
    }
    parts.push(body, ...linkList("Links to", node.to, "to"), ...linkList("Linked from", node.from, "from"));
    return parts;
  };
  // Which of the notes that a note links to is meant by a name in its text.
  const named = (text, node) => {
    const name = fold(text.split("#")[0].replace(/\.md$/, ""));
    const stem = name.slice(name.lastIndexOf("/") + 1);
    const isMeant = ({ note }) => {
      const path = fold(note.path.replace(/\.md$/, ""));
      const is = [fold(note.id), fold(note.title), path.slice(path.lastIndexOf("/") + 1)];
      return is.includes(name) || is.includes(stem);
    };
    const line = node.to.find((line) => isMeant(line.to));
    return line && line.to;
  };
  const linkList = (heading, lines, end) => {
    if (!lines.length) return [];
    const item = (line) =>
      make("li", {}, make("span", { class: "type", title: line.type }, line.type), button("", () => choose(line[end]), {}, title(line[end])));
    const sorted = [...lines].sort((a, b) => (a.type < b.type ? -1 : a.type > b.type ? 1 : a[end].id - b[end].id));
    return [make("h2", {}, heading), make("ul", { class: "links" }, ...sorted.map(item))];
  };
  addEventListener("hashchange", follow);

  // Filters.
  const toggle = (set, name) => {
    if (!set.delete(name)) set.add(name);
    refilter();
  };
  const tagButton = (tag, many) => {
    const made = button("tag", () => toggle(wantedTags, tag), { "data-tag": tag, "aria-pressed": wantedTags.has(tag) }, tag);
    if (many) made.append(make("span", { class: "many" }, String(many)));
    return made;
  };
  const MOST_TAGS = 200;
  el("types").append(...types.map(([name, many]) => make("li", {}, button("", () => toggle(hiddenTypes, name),
    { "data-type": name, "aria-pressed": "true" }, dot(colors.get(name)), make("span", { class: "name" }, name), make("span", { class: "many" }, String(many))))));
  el("tags").append(...tags.slice(0, MOST_TAGS).map(([tag, many]) => make("li", {}, tagButton(tag, many))));
  el("tags").closest("section").hidden = !tags.length;
  const refilter = () => {
    for (const made of document.querySelectorAll("[data-type]")) made.ariaPressed = String(!hiddenTypes.has(made.dataset.type));
    for (const made of document.querySelectorAll("[data-tag]")) made.ariaPressed = String(wantedTags.has(made.dataset.tag));
    const shown = nodes.filter(isShown).length;
    const all = data.truncated ? `${nodes.length} of ${data.matched}` : `${nodes.length}`;
    el("count").textContent = shown === nodes.length ? `${all} notes, ${links.length} links` : `${shown} of ${all} notes`;
    el("all").hidden = shown === nodes.length;
    graph.nodeVisibility(isShown);
    search();
  };
  el("all").addEventListener("click", () => {
    hiddenTypes.clear();
    wantedTags.clear();
    refilter();
  });

  // Search: every word must stand in the note; names count more than texts.
  const MOST_FOUND = 50;
  const text = (node) => {
    const { note } = node;
    node.folded ||= [fold(title(node)), fold([note.id, note.type, ...note.tags].join(" ")), fold((note.html || note.summary || "").replace(/<[^>]*>/g, " "))];
    return node.folded;
  };
  const rank = (node, words) => {
    let sum = 0;
    for (const word of words) {
      const [name, names, body] = text(node);
      const isWhole = name.split(/[^\p{L}\p{N}]+/u).includes(word);
      const at = isWhole ? 8 : name.includes(word) ? 4 : names.includes(word) ? 2 : body.includes(word) ? 1 : 0;
      if (!at) return 0;
      sum += at;
    }
    return sum;
  };
  const search = () => {
    const words = fold(el("find").value).split(/\s+/).filter(Boolean);
    el("found").hidden = !words.length;
    if (!words.length) {
      found = null;
      return redraw();
    }
    const hits = nodes.filter(isShown).map((node) => [rank(node, words), node]).filter(([sum]) => sum);
    hits.sort((a, b) => b[0] - a[0] || a[1].id - b[1].id);
    found = new Set(hits.map(([, node]) => node));
    const item = ([, node]) =>
      make("li", {}, button("", () => choose(node), {}, make("span", {}, title(node)), make("small", {}, `${node.note.type} · ${node.note.id}`)));
    el("found").replaceChildren(...hits.slice(0, MOST_FOUND).map(item));
    if (!hits.length) el("found").append(make("p", {}, "Nothing found"));
    if (hits.length > MOST_FOUND) el("found").append(make("p", {}, `and ${hits.length - MOST_FOUND} more`));
    redraw();
  };
  el("find").addEventListener("input", search);

  // Keys and buttons.
  const zoom = (times) => graph.zoom(graph.zoom() * times, still ? 0 : 200);
  const views = { closer: () => zoom(1.5), farther: () => zoom(1 / 1.5), whole: () => fit(400) };
  // When a drag ends, the library swallows clicks anywhere until a timer of its own has run, which may be long where
  // drawing is. This listener was there before that one, so it is asked first.
  addEventListener("click", (event) => views[event.target.closest?.("#view button")?.id]?.(), true);
  addEventListener("keydown", (event) => {
    const isTyping = document.activeElement === el("find");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      el("find").focus();
      el("find").select();
    } else if (event.key === "Escape") {
      if (el("find").value) {
        el("find").value = "";
        search();
      } else if (chosen) choose(null);
      if (isTyping) el("find").blur();
    } else if (event.key === "Enter" && isTyping) {
      const first = el("found").querySelector("button");
      if (first) first.click();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const stops = [el("find"), ...el("found").querySelectorAll("button")];
      const at = stops.indexOf(document.activeElement);
      const next = stops[at + (event.key === "ArrowDown" ? 1 : -1)];
      if (at >= 0 && next) {
        event.preventDefault();
        next.focus();
      }
    }
  });
  refilter();
  follow();

  // Where a note is drawn in the window, for who drives the page.
  window.qipu = {
    place(id) {
      const node = byId.get(id);
      const at = graph.graph2ScreenCoords(node.x, node.y);
      const box = el("graph").getBoundingClientRect();
      return { x: box.left + at.x, y: box.top + at.y };
    },
  };
})();
