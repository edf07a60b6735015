// The picture of a program whose boxes answer: a click, or Enter on a focused box, asks the kernel what it holds.
// What is drawn comes as a message with SVG that symgrad made; it is checked against a list of what that may hold.

const ELEMENTS = new Set(["svg", "g", "title", "style", "defs", "marker", "path", "rect", "polygon", "circle", "text"]);
const REFUSED = /^on|href|^src|^style$|^xlink/i;
const WAYS = { operation: "each operation", line: "source lines", loop: "loops", stretch: "stretches" };
const ARROWS = { ArrowDown: "to", ArrowUp: "from", ArrowRight: "right", ArrowLeft: "left" };

/** The SVG as an element, or an Error where it holds anything that a picture of symgrad's does not. */
export function parsed(text) {
  const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (root.localName !== "svg") throw new Error("the picture cannot be read");
  for (const part of [root, ...root.querySelectorAll("*")]) {
    const odd = [...part.attributes].find((a) => REFUSED.test(a.name) || /url\((?!#)/i.test(a.value));
    const rules = part.localName === "style" && /@import|url\(|expression|<|\\/i.test(part.textContent);
    if (part.namespaceURI !== "http://www.w3.org/2000/svg" || !ELEMENTS.has(part.localName) || odd || rules)
      throw new Error(`the picture holds ${part.localName}${odd ? ` with ${odd.name}` : ""}, and is not shown`);
  }
  return document.importNode(root, true);
}

function make(tag, css, text = "") {
  const made = document.createElement(tag);
  made.className = css;
  made.textContent = text;
  return made;
}

/** True where the page behind is dark: its own colour decides, whatever the front end calls its themes. */
function isDark(el) {
  for (let at = el; at; at = at.parentElement) {
    const [r, g, b, a = 1] = (getComputedStyle(at).backgroundColor.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
    if (a > 0.5) return 0.299 * r + 0.587 * g + 0.114 * b < 128;
  }
  return false;
}

class View {
  constructor(model, el) {
    this.model = model;
    this.zoom = 0; // 0: as wide as there is room
    this.chosen = null;
    this.waiting = null; // the question that is asked, and the one that goes next
    this.next = null;
    this.root = make("div", "sg-picture");
    this.bar = make("div", "sg-picture-bar");
    this.field = make("div", "sg-picture-field");
    this.field.setAttribute("role", "application");
    this.field.setAttribute("aria-label", "Program: arrow keys walk along its arrows, Enter shows what a box holds");
    this.about = make("div", "sg-picture-about");
    this.about.setAttribute("role", "status");
    this.about.setAttribute("aria-live", "polite");
    this.hint = "Click a box, or walk with the arrow keys and press Enter: its formula, value and source line show here.";
    this.about.append(make("p", "sg-picture-hint", this.hint));
    this.root.append(this.bar, this.field, this.about);
    el.append(this.root);
    this.buttons();
    this.field.addEventListener("click", (e) => this.choose(e.target.closest?.(".sg-box")));
    this.field.addEventListener("keydown", (e) => this.key(e));
    this.field.addEventListener("focusin", (e) => this.focus(e.target.closest?.(".sg-box")));
    this.hear = (message) => this.receive(message);
    model.on("msg:custom", this.hear);
    this.themes = new MutationObserver(() => this.theme());
    this.themes.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "class"] });
    this.ask({ kind: "ready" });
  }

  close() {
    this.model.off("msg:custom", this.hear);
    this.themes.disconnect();
    this.root.remove();
  }

  buttons() {
    const label = make("label", "sg-picture-label", "one box for ");
    this.folds = make("select", "sg-picture-folds");
    this.folds.addEventListener("change", () => this.ask({ kind: "fold", by: this.folds.value }));
    label.append(this.folds);
    this.bar.append(label);
    for (const [text, name, change] of [
      ["−", "smaller", () => this.scaled(1 / 1.25)],
      ["+", "larger", () => this.scaled(1.25)],
      ["fit", "as wide as the page", () => this.scaled(0)],
    ]) {
      const button = make("button", "sg-picture-button", text);
      button.type = "button";
      button.title = name;
      button.setAttribute("aria-label", name);
      button.addEventListener("click", change);
      this.bar.append(button);
    }
  }

  // One question is under way at a time; of those asked meanwhile the last one goes next.
  ask(message) {
    if (this.waiting) this.next = message;
    else {
      this.waiting = message;
      this.model.send(message);
    }
  }

  receive(message) {
    this.waiting = null;
    if (message.kind === "picture") this.draw(message);
    else if (message.kind === "details") this.tell(message);
    else if (message.kind === "error") this.fail(message.text);
    if (this.next) {
      const next = this.next;
      this.next = null;
      this.ask(next);
    }
  }

  draw({ svg, by, folds }) {
    try {
      this.svg = parsed(svg);
    } catch (error) {
      this.fail(error.message);
      return;
    }
    this.chosen = null;
    this.natural = this.svg.viewBox.baseVal.width;
    this.boxes = [...this.svg.querySelectorAll(".sg-box")];
    this.byKey = new Map(this.boxes.map((box) => [box.dataset.key, box]));
    this.edges = [...this.svg.querySelectorAll(".sg-edge")];
    for (const box of this.boxes) {
      box.setAttribute("role", "button");
      box.setAttribute("tabindex", "-1");
      box.setAttribute("aria-label", box.querySelector("title").textContent);
    }
    this.boxes[0]?.setAttribute("tabindex", "0");
    this.folds.replaceChildren(
      ...folds.map((fold) => {
        const option = make("option", "", WAYS[fold]);
        option.value = fold;
        option.selected = fold === by;
        return option;
      }),
    );
    this.field.replaceChildren(this.svg);
    this.theme();
    this.scaled(this.zoom && 1);
    this.about.replaceChildren(make("p", "sg-picture-hint", this.hint));
  }

  theme() {
    this.svg?.setAttribute("data-theme", isDark(this.root) ? "dark" : "light");
  }

  scaled(factor) {
    if (!this.svg) return;
    const now = this.svg.getBoundingClientRect().width / this.natural;
    this.zoom = factor && Math.min(Math.max((this.zoom || now) * factor, 0.1), 4);
    this.svg.style.width = this.zoom ? `${this.natural * this.zoom}px` : "";
    this.svg.classList.toggle("sg-fit", !this.zoom);
  }

  choose(box) {
    if (!box) return;
    box.focus({ preventScroll: true });
    this.chosen = box.dataset.key;
    this.mark();
    this.ask({ kind: "box", key: this.chosen });
  }

  mark() {
    for (const box of this.boxes) box.classList.toggle("sg-chosen", box.dataset.key === this.chosen);
    for (const edge of this.edges)
      edge.classList.toggle("sg-near", edge.dataset.from === this.chosen || edge.dataset.to === this.chosen);
  }

  focus(box) {
    if (!box) return;
    for (const other of this.boxes) other.setAttribute("tabindex", other === box ? "0" : "-1");
  }

  key(event) {
    const box = event.target.closest?.(".sg-box");
    if (!box || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") this.choose(box);
    else if (ARROWS[event.key]) this.neighbour(box, ARROWS[event.key])?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation(); // the notebook has keys of its own
  }

  /** Down and up follow an arrow to its other end; left and right go to the next box on the same height. */
  neighbour(box, way) {
    const middle = (b) => {
      const { x, y, width, height } = b.getBoundingClientRect();
      return [x + width / 2, y + height / 2];
    };
    const [x, y] = middle(box);
    const key = box.dataset.key;
    let found;
    if (way === "to") found = this.edges.filter((e) => e.dataset.from === key).map((e) => e.dataset.to);
    else if (way === "from") found = this.edges.filter((e) => e.dataset.to === key).map((e) => e.dataset.from);
    else {
      const side = way === "right" ? 1 : -1;
      found = this.boxes.filter((b) => side * (middle(b)[0] - x) > 1).map((b) => b.dataset.key);
    }
    const upright = way === "to" || way === "from" ? 1 : 4; // sideways, the same height counts more
    const far = (b) => Math.hypot(middle(b)[0] - x, upright * (middle(b)[1] - y));
    return found.map((k) => this.byKey.get(k)).sort((a, b) => far(a) - far(b))[0];
  }

  tell({ key, rows }) {
    if (key !== this.chosen) return;
    const list = make("dl", "sg-picture-rows");
    for (const [word, text] of rows) list.append(make("dt", "", word), make("dd", "", text));
    this.about.replaceChildren(list);
  }

  fail(text) {
    this.about.replaceChildren(make("p", "sg-picture-error", text));
  }
}

export default {
  render({ model, el }) {
    const view = new View(model, el);
    return () => view.close();
  },
};
