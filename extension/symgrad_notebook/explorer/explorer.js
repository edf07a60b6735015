// The Jacobian explorer: draws the levels and marks that the kernel sends, a byte each a cell, moves about in them, and
// shows what the kernel says of an entry. Strings become text nodes, never markup.

const ZERO = 0, NUMBER = 1, MINUS_INFINITY = 2, INFINITY = 3, NAN = 4; // marks, the more notable the higher
const ODD = { [NAN]: "NaN", [INFINITY]: "∞", [MINUS_INFINITY]: "−∞" };
const TOP = 127; // the level of the largest magnitude
const PATTERN = 76; // the level whose colour stands for any entry
const CELL = { rows: 38, columns: 68 }; // the height and width that a cell is drawn at most
const AIM = 6; // pixels below which a cell is too small to aim at
const SIDE_BY_SIDE = 760; // pixels from which on the entry stands beside the plot
const FONT = "11px system-ui, sans-serif";
const AXES = ["rows", "columns"];
const HELP = "Arrow keys move, Enter shows the formula, + and − zoom, 0 resets";

/** What `f` gives for the rows and for the columns: their places, sizes and windows are kept side by side. */
const each = f => ({ rows: f("rows"), columns: f("columns") });
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

function make(tag, className, ...children) {
	const made = document.createElement(tag);
	made.className = className;
	made.append(...children);
	return made;
}

function set(node, attributes) {
	for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
	return node;
}

function press(text, title, onclick, isOn) {
	const made = set(make("button", "", text), { type: "button", title, "aria-label": title });
	if (isOn !== undefined) set(made, { "aria-pressed": isOn });
	made.onclick = onclick;
	return made;
}

function indexOf(axis, k) {
	const index = [];
	for (let d = axis.shape.length - 1; d >= 0; k = Math.floor(k / axis.shape[d--])) index.unshift(k % axis.shape[d]);
	return index.join(", ");
}

function short(value, digits) {
	const size = Math.abs(value);
	const text = size && (size >= 1e4 || size < 1e-3) ? value.toExponential(1) : String(+value.toPrecision(size < 1e3 ? digits : 4));
	return text.replace("e+", "e").replaceAll("-", "−");
}

/** A buffer as numbers; copied, so that they lie on a number's boundary. */
const numbers = (view, Kind) => new Kind(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));

/** Asks the kernel: one question of a kind at a time, of those that wait meanwhile only the newest. */
class Channel {
	constructor(model, heard) {
		Object.assign(this, { model, view: Math.random().toString(36).slice(2), serial: 0, asked: {}, waiting: {} });
		this.listener = (content, buffers) => {
			if (content.view !== this.view) return;
			const { kind, of } = content, answered = { blocks: "open", lines: "pick", problem: of }[kind] ?? kind;
			if (this.asked[answered]?.serial === content.serial) {
				delete this.asked[answered];
				if (this.waiting[answered]) this.ask(answered, this.waiting[answered]);
			}
			heard(content, buffers);
		};
		model.on("msg:custom", this.listener);
	}

	ask(kind, content) {
		const at = performance.now();
		this.waiting[kind] = content;
		// a kernel that was restarted never answers: after a while it is asked again
		if (at - this.asked[kind]?.at < 10000) return;
		delete this.waiting[kind];
		this.asked[kind] = { serial: ++this.serial, at };
		this.model.send({ kind, view: this.view, serial: this.serial, ...content });
	}
}

/** The colours of a theme as an ImageData holds them: of every level, and of the marks. */
class Palette {
	constructor(levels, marks) {
		this.levels = numbers(levels, Uint32Array);
		[this.paper, this.hatch, this.ink, this.alarm] = numbers(marks, Uint32Array);
	}

	isPale(level) {
		const c = this.levels[level + TOP];
		return 0.3 * (c & 255) + 0.6 * ((c >> 8) & 255) + 0.1 * ((c >> 16) & 255) > 135;
	}

	/** The colour of a pixel. Marks are textures, so that they differ by more than colour; `unit` is a CSS pixel. */
	pixel(mark, level, x, y, unit, isPattern) {
		if (mark === ZERO) return (x + y) % (6 * unit) < unit ? this.hatch : this.paper;
		if (mark === NAN) return (Math.floor(x / (3 * unit)) + Math.floor(y / (3 * unit))) % 2 ? this.ink : this.alarm;
		if (mark === INFINITY) return x % (5 * unit) < 2 * unit ? this.ink : this.levels[2 * TOP];
		if (mark === MINUS_INFINITY) return y % (5 * unit) < 2 * unit ? this.ink : this.levels[0];
		return this.levels[(isPattern ? PATTERN : level) + TOP];
	}
}

/** For each of the pixels of a view, `grain` of them alike, the cells of a tile: the first and after the last. */
function spans(pixels, [low, high], [start, end], cells, grain) {
	const first = new Int32Array(pixels), last = new Int32Array(pixels);
	const at = p => Math.floor(((low + (p / pixels) * (high - low) - start) * cells) / (end - start) + 1e-9);
	for (let p = 0; p < pixels; p++) {
		first[p] = at(p - (p % grain));
		last[p] = first[p] < 0 || first[p] >= cells ? first[p] : clamp(at(p - (p % grain) + grain), first[p] + 1, cells);
	}
	return [first, last];
}

/** Draws a part of a tile; of several cells under a pixel the largest by mark and magnitude shows. */
function paint(image, tile, view, palette, { unit = 1, grain = 1, isPattern = false } = {}) {
	const { width, height } = image, pixels = new Uint32Array(image.data.buffer), { levels, marks, bins } = tile;
	const [left, right] = spans(width, view.columns, tile.columns, bins[1], grain);
	const [top, bottom] = spans(height, view.rows, tile.rows, bins[0], grain);
	for (let y = 0; y < height; y++) {
		for (let x = 0; x < width; x++) {
			let mark = -1, level = 0;
			for (let i = top[y]; i < bottom[y]; i++) {
				for (let k = i * bins[1] + left[x], end = i * bins[1] + right[x]; k < end; k++) {
					if (marks[k] > mark) mark = marks[k];
					if (Math.abs(levels[k]) > Math.abs(level)) level = levels[k];
				}
			}
			pixels[y * width + x] = mark < 0 ? 0 : palette.pixel(mark, level, x, y, unit, isPattern);
		}
	}
}

class View {
	isLog = false;

	constructor(model, el) {
		this.model = model;
		this.root = make("div", "sg-explorer");
		el.append(this.root);
		this.build();
		this.listen();
		this.channel = new Channel(model, (content, buffers) => this[`on_${content.kind}`](content, buffers));
		this.channel.ask("open");
		this.resized = new ResizeObserver(() => this.draw());
		this.resized.observe(this.root);
		// a theme's variables may come after its attributes
		this.themed = new MutationObserver(() => [0, 400].forEach(wait => setTimeout(() => this.recolor(), wait)));
		for (const node of [document.documentElement, document.body]) this.themed.observe(node, { attributes: true });
	}

	close() {
		this.model.off("msg:custom", this.channel.listener);
		window.removeEventListener("keydown", this.keyed, true);
		this.resized.disconnect();
		this.themed.disconnect();
	}

	build() {
		const group = (...buttons) => set(make("span", "sg-group", ...buttons), { role: "group" });
		const choice = (names, apply) => {
			const choose = k => {
				buttons.forEach((button, other) => set(button, { "aria-pressed": other === k }));
				apply(k === 1);
			};
			const buttons = names.map((name, k) => press(name, name, () => choose(k), !k));
			return group(...buttons);
		};
		const tools = make("div", "sg-tools",
			choice(["Values", "Pattern"], isOn => {
				this.isPattern = isOn;
				this.draw();
			}),
			choice(["Linear", "Log"], isOn => {
				this.isLog = isOn;
				this.legend();
				this.request();
			}),
			group(
				press("+", "Zoom in", () => this.zoom(0.5)),
				press("−", "Zoom out", () => this.zoom(2)),
				press("Reset", "Show the whole block", () => this.reset()),
			),
		);
		this.canvas = set(make("canvas", "sg-canvas"), { tabindex: 0, role: "application" });
		this.readout = make("div", "sg-readout", "Waiting for the kernel …");
		this.scale = make("div", "sg-legend");
		this.heading = make("div", "sg-heading");
		this.table = make("div", "sg-blocks");
		this.live = set(make("div", "sg-live"), { "aria-live": "polite" });
		const empty = make("p", "sg-quiet", "Click an entry to see its formula and the lines it comes from.");
		this.entry = set(make("section", "sg-entry", empty), { "aria-label": "Entry" });
		const hint = make("div", "sg-hint", `Drag moves, Shift + drag shows a box, Ctrl + wheel zooms. ${HELP}.`);
		const plot = make("div", "sg-plot", tools, this.canvas, this.readout, this.scale, hint);
		this.root.append(this.heading, this.table, make("div", "sg-body", plot, this.entry), this.live);
	}

	listen() {
		const on = (name, heard, options) => this.canvas.addEventListener(name, event => {
			if (this.plot) heard({ rows: event.offsetY, columns: event.offsetX }, event);
		}, options);
		on("pointerdown", (at, event) => {
			if (event.button) return;
			this.canvas.setPointerCapture(event.pointerId);
			this.drag = { at, view: this.view, isBox: event.shiftKey };
		});
		on("pointermove", at => {
			const { drag, cell } = this;
			if (!drag) return this.look(this.windowAt(at), false);
			drag.isMoved ||= Math.hypot(at.rows - drag.at.rows, at.columns - drag.at.columns) > 4;
			if (drag.isMoved && !drag.isBox)
				return this.show(each(axis => drag.view[axis].map(edge => edge + (drag.at[axis] - at[axis]) / cell[axis])));
			drag.to = drag.isMoved && at;
			this.draw();
		});
		on("pointerup", at => {
			const { drag } = this, ends = drag?.to && [drag.at, drag.to].map(end => this.cellAt(end));
			this.drag = undefined;
			if (ends) this.show(each(axis => ends.map(end => end[axis]).sort((a, b) => a - b)));
			else if (drag && !drag.isMoved) this.pick(this.windowAt(at));
		});
		on("pointercancel", () => (this.drag = undefined));
		on("pointerleave", () => this.drag || this.look(undefined));
		on("wheel", (at, event) => {
			if (!event.ctrlKey && !event.metaKey) return; // the page scrolls as it should
			event.preventDefault();
			this.zoom(Math.exp(clamp(event.deltaY, -60, 60) / 150), this.cellAt(at));
		}, { passive: false });
		for (const name of ["focus", "blur"]) on(name, () => this.draw());
		// before JupyterLab, which listens at the document: plain keys in here are no commands of the notebook
		this.keyed = event => event.composedPath().includes(this.root) && this.key(event);
		window.addEventListener("keydown", this.keyed, true);
	}

	on_blocks(content, buffers) {
		Object.assign(this, { blocks: content.blocks, inputs: content.inputs, most: content.most });
		const [light, marks, dark, darkMarks, ...tiles] = buffers;
		this.palettes = { light: new Palette(light, marks), dark: new Palette(dark, darkMarks) };
		this.thumbnails = content.blocks.map((block, k) => ({
			rows: [0, block.shape[0]],
			columns: [0, block.shape[1]],
			bins: block.bins,
			levels: numbers(tiles[2 * k], Int8Array),
			marks: numbers(tiles[2 * k + 1], Uint8Array),
		}));
		this.heading.textContent = content.title;
		this.readout.textContent = "";
		this.tabulate();
		this.recolor();
		this.choose(0);
	}

	on_window(content, buffers) {
		if (content.block !== this.number || content.log !== this.isLog) return;
		this.tile = { ...content, levels: numbers(buffers[0], Int8Array), marks: numbers(buffers[1], Uint8Array) };
		this.draw();
		this.request();
	}

	on_values(content, [values]) {
		if (content.block === this.number) this.values = { ...content, values: numbers(values, Float64Array) };
		this.draw();
	}

	on_look({ block, title, value, structural }) {
		if (block !== this.number || !this.looked) return;
		const among = this.many > 1 ? `of ${this.many.toLocaleString("en")} here` : "";
		this.readout.textContent = structural && among ? `all ${among}: zero by structure`
			: `${title} = ${value}${structural ? " by structure" : ""}${among && `, the largest ${among}`}`;
		if (this.isSpoken) this.live.textContent = this.readout.textContent;
	}

	on_entry(content) {
		this.canvas.style.cursor = "";
		const { block, row, column, title, value, structural, latex, text, note } = content;
		this.picked = { block, rows: row, columns: column };
		if (block === this.number) this.go(this.picked);
		const why = structural ? [make("span", "sg-quiet", " by structure: zero for all values")] : [];
		const typesetter = latex && this.model.widget_manager?.rendermime?.latexTypesetter, code = make("code", "", text);
		const formula = make("div", "sg-formula", typesetter ? `$\\displaystyle ${latex}$` : code);
		this.entry.replaceChildren(make("h4", "sg-title", title), make("div", "sg-value", make("code", "", value), ...why), formula);
		typesetter?.typeset(formula);
		if (typesetter) this.entry.append(make("details", "sg-text", make("summary", "", "as text"), code));
		if (note) this.entry.append(make("p", "sg-note", note));
		this.entry.append((this.lines = make("div", "sg-lines")));
		this.live.textContent = `${title} = ${value}. ${text || note}`;
	}

	on_lines({ files, paths, note }) {
		const { lines } = this, rows = {};
		if (note) lines.append(make("p", "sg-note", note));
		for (const file of files) {
			const listed = file.lines.map(line => (rows[line.id] = sourceLine(line)));
			lines.append(make("div", "sg-file", file.name), make("ul", "sg-source", ...listed));
		}
		const { out, by } = this.blocks[this.picked.block];
		if (paths.length) lines.append(make("div", "sg-file", "Paths, the largest first"));
		const buttons = paths.map(path => {
			const text = [by.name, ...path.map(id => `line ${rows[id].dataset.number}`), out.name].join(" → ");
			const button = press(text, text, () => {
				const isOn = button.getAttribute("aria-pressed") !== "true";
				for (const other of buttons) set(other, { "aria-pressed": isOn && other === button });
				for (const [id, row] of Object.entries(rows)) row.classList.toggle("sg-off", isOn && !path.includes(+id));
			}, false);
			button.className = "sg-path";
			return button;
		});
		lines.append(...buttons);
	}

	on_problem({ text }) {
		this.readout.textContent = this.live.textContent = text;
	}

	tabulate() {
		if (this.blocks.length < 2) return;
		this.buttons = this.blocks.map(({ out, by, text, shape }, k) => {
			const button = press("", `${out.name} by ${by.name}: ${text}`, () => this.choose(k), false);
			button.className = "sg-block";
			button.replaceChildren(make("canvas", ""), make("span", "sg-quiet", shape.join(" × ")));
			return button;
		});
		const heads = this.blocks.slice(0, this.inputs).map(({ by }) => make("th", "", `by ${by.name}`));
		const rows = [make("tr", "", make("td", ""), ...heads)];
		for (let k = 0; k < this.blocks.length; k += this.inputs) {
			const cells = this.buttons.slice(k, k + this.inputs).map(button => make("td", "", button));
			rows.push(make("tr", "", make("th", "", this.blocks[k].out.name), ...cells));
		}
		this.table.replaceChildren(make("table", "", ...rows));
	}

	choose(number) {
		this.number = number;
		this.block = this.blocks[number];
		this.buttons?.forEach((button, k) => set(button, { "aria-pressed": k === number }));
		this.tile = this.values = this.plot = undefined;
		this.cursor = each(() => 0);
		const { out, by, text, shape } = this.block;
		this.count = { rows: shape[0], columns: shape[1] };
		set(this.canvas, { "aria-label": `Heatmap of ${out.name} by ${by.name}: ${text}. ${HELP}.` });
		this.legend();
		this.reset();
	}

	recolor() {
		if (!this.palettes) return;
		const [r, g, b] = getComputedStyle(this.root).color.match(/[\d.]+/g).map(Number);
		this.palette = this.palettes[0.3 * r + 0.6 * g + 0.1 * b > 128 ? "dark" : "light"];
		this.legend();
		this.draw();
		this.buttons?.forEach((button, k) => {
			const [rows, columns] = this.blocks[k].shape, longest = Math.max(rows, columns);
			if (!rows || !columns) return;
			const size = n => Math.max(Math.round((44 * n) / longest), 8), tile = this.thumbnails[k];
			picture(button.firstChild, size(columns), size(rows), image => paint(image, tile, tile, this.palette));
		});
	}

	legend() {
		if (!this.block) return;
		const { block, palette } = this, bar = make("canvas", "sg-bar"), ticks = make("div", "sg-ticks");
		picture(bar, 2 * TOP + 1, 1, image => new Uint32Array(image.data.buffer).set(palette.levels));
		for (const [at, text] of block.ticks[this.isLog ? "log" : "linear"]) {
			const tick = make("span", "", text.replaceAll("-", "−"));
			tick.style.left = `${50 * (at + 1)}%`;
			ticks.append(tick);
		}
		const scale = make("div", "sg-scale", bar, ticks), keys = make("div", "sg-keys");
		const key = (tag, mark, text, count) => {
			const swatch = make("canvas", ""), made = make(tag, "sg-key", swatch, `${text}: ${count.toLocaleString("en")}`);
			picture(swatch, 22, 12, image => new Uint32Array(image.data.buffer).forEach((_, k, pixels) => {
				pixels[k] = palette.pixel(mark, 0, k % 22, Math.floor(k / 22), 1);
			}));
			keys.append(made);
			return made;
		};
		if (block.zeros) key("span", ZERO, "zero by structure", block.zeros);
		for (const { mark, count, first } of block.odd) {
			const [row, column] = first;
			key("button", mark, ODD[mark], count).onclick = () => this.pick({ rows: [row, row + 1], columns: [column, column + 1] });
		}
		this.scale.replaceChildren(...(block.numbers ? [scale] : []), keys);
	}

	/** Shows a part of the block, at least three cells of it. */
	show(wanted) {
		this.view = each(axis => {
			const [low, high] = wanted[axis], count = this.count[axis], size = clamp(high - low, Math.min(count, 3), count);
			const start = clamp((low + high - size) / 2, 0, count - size);
			return [start, start + size];
		});
		this.request();
		this.draw();
	}

	reset() {
		this.show(each(axis => [0, this.count[axis]]));
	}

	zoom(factor, around = each(axis => this.cursor[axis] + 0.5)) {
		this.show(each(axis => {
			const at = clamp(around[axis], ...this.view[axis]);
			return this.view[axis].map(edge => at + (edge - at) * factor);
		}));
	}

	/** Asks for the part that is shown and some around it, where the tile is too coarse or elsewhere. */
	request() {
		const { count, tile, view, most, values } = this;
		if (!this.plot) return; // the first drawing asks again
		const around = extra => each(axis => {
			const [low, high] = view[axis], more = extra(high - low, count[axis]);
			return [Math.max(Math.floor(low - more), 0), Math.min(Math.ceil(high + more), count[axis])];
		});
		const holds = (part, axis) => part[axis][0] <= view[axis][0] && view[axis][1] <= part[axis][1];
		const isFine = (axis, k) => {
			const [start, end] = tile[axis], [low, high] = view[axis];
			return holds(tile, axis) && tile.bins[k] / (end - start) >= Math.min(1, (0.9 * this.size[axis]) / (high - low));
		};
		if (this.isLegible && !(values && AXES.every(axis => holds(values, axis)))) this.ask("values", around(size => size / 2));
		const asked = around((size, all) => (all <= most ? all : Math.max(most - size, size) / 2));
		const key = JSON.stringify([this.number, this.isLog, asked]), isCurrent = tile?.log === this.isLog;
		// where it was asked for already it is as fine as it gets
		if (isCurrent && (AXES.every(isFine) || key === this.requested)) return;
		this.requested = key;
		this.ask("window", asked);
	}

	cellAt(place) {
		return each(axis => this.view[axis][0] + (place[axis] - this.plot[axis]) / this.cell[axis]);
	}

	/** Pixels that a cell is high and wide. */
	get cell() {
		return each(axis => this.size[axis] / (this.view[axis][1] - this.view[axis][0]));
	}

	/** Whether there is room for numbers in the cells. */
	get isLegible() {
		return this.cell.columns >= 30 && this.cell.rows >= 15;
	}

	/** The cells meant by a place: one, or those around it where they are too small to aim at. */
	windowAt(place) {
		const { plot, size, cell, count } = this, at = this.cellAt(place);
		if (AXES.some(axis => place[axis] < plot[axis] || place[axis] >= plot[axis] + size[axis])) return undefined;
		return each(axis => {
			const near = cell[axis] < AIM ? AIM / 2 / cell[axis] : 0, low = Math.max(Math.floor(at[axis] - near), 0);
			return [Math.min(low, count[axis] - 1), clamp(Math.ceil(at[axis] + near), low + 1, count[axis])];
		});
	}

	/** Cells by which arrow keys move: one, or as many as cannot be told apart. */
	get step() {
		return each(axis => Math.max(1, Math.round(3 / this.cell[axis])));
	}

	get cursorWindow() {
		return each(axis => [this.cursor[axis], Math.min(this.cursor[axis] + this.step[axis], this.count[axis])]);
	}

	/** Puts the cursor there, and into view. */
	go(place) {
		this.cursor = each(axis => clamp(place[axis], 0, this.count[axis] - 1));
		this.show(each(axis => {
			const [low, high] = this.view[axis], at = this.cursor[axis];
			const by = Math.min(at - low, 0) + Math.max(at + 1 - high, 0);
			return [low + by, high + by];
		}));
	}

	key(event) {
		if (event.altKey || event.metaKey || (event.ctrlKey && event.key !== "Home" && event.key !== "End")) return;
		event.stopPropagation();
		if (!this.plot || !event.composedPath().includes(this.canvas)) return;
		const { rows, columns } = this.step, times = event.shiftKey ? 8 : 1, all = event.ctrlKey ? Infinity : 0;
		const move = (down, across) => () => {
			this.go({ rows: this.cursor.rows + down, columns: this.cursor.columns + across });
			this.look(this.cursorWindow, true);
		};
		const act = {
			ArrowUp: move(-rows * times, 0),
			ArrowDown: move(rows * times, 0),
			ArrowLeft: move(0, -columns * times),
			ArrowRight: move(0, columns * times),
			Home: move(-all, -Infinity),
			End: move(all, Infinity),
			Enter: () => this.pick(this.cursorWindow),
			"+": () => this.zoom(0.5),
			"=": () => this.zoom(0.5),
			"-": () => this.zoom(2),
			0: () => this.reset(),
		}[event.key];
		if (act) event.preventDefault();
		act?.();
	}

	/** Says what is in a window; of none, nothing. */
	look(window, isSpoken) {
		const key = window && JSON.stringify([this.number, window]);
		if (!window) this.readout.textContent = "";
		if (!window || (key === this.looked && !isSpoken)) return void (this.looked = key);
		const many = AXES.map(axis => window[axis][1] - window[axis][0]).reduce((a, b) => a * b);
		Object.assign(this, { looked: key, isSpoken, many });
		this.ask("look", window);
	}

	pick(window) {
		if (!window) return;
		this.canvas.style.cursor = "progress";
		this.isSpoken = false; // the entry is what is spoken next, not a look that is answered after it
		this.ask("pick", window);
	}

	ask(kind, window) {
		this.channel.ask(kind, { block: this.number, log: this.isLog, ...window });
	}

	draw() {
		this.frame ||= requestAnimationFrame(() => {
			this.frame = 0;
			if (this.palette && this.block && this.root.clientWidth) this.drawNow(this.canvas.getContext("2d"));
		});
	}

	/** Places the plot in the canvas, whose size it gives. */
	layout(pen) {
		const { count } = this, { out, by } = this.block;
		if (!count.rows || !count.columns) return [320, 40];
		pen.font = FONT;
		const width = text => Math.ceil(pen.measureText(text).width), left = clamp(width(indexOf(out, count.rows - 1)) + 30, 40, 140);
		const all = this.root.clientWidth, own = all > SIDE_BY_SIDE ? 0.54 * all : all;
		const room = { rows: 520, columns: clamp(own - left - 14, 80, 620) };
		const square = Math.min(room.columns / count.columns, room.rows / count.rows, 40), isFirst = !this.plot;
		this.plot = { rows: 42, columns: left };
		this.size = each(axis => {
			const full = count[axis] * CELL[axis], most = room[axis];
			return full <= most ? full : Math.round(clamp(count[axis] * square, Math.min(most, 150), most));
		});
		if (isFirst) this.request();
		const { rows, columns } = this.size;
		return [left + Math.max(columns, Math.min(width(by.name) + 30, room.columns)) + 14, rows + 52];
	}

	drawNow(pen) {
		const { canvas, block, tile, view, palette } = this, unit = window.devicePixelRatio || 1;
		const sizes = this.layout(pen), [width, height] = sizes.map(n => Math.round(n * unit));
		if (canvas.width !== width || canvas.height !== height) {
			Object.assign(canvas, { width, height });
			[canvas.style.width, canvas.style.height] = sizes.map(n => `${n}px`);
		}
		pen.setTransform(1, 0, 0, 1, 0, 0);
		pen.clearRect(0, 0, width, height);
		this.accent = getComputedStyle(this.canvas).outlineColor;
		if (tile) {
			const { cell, plot, size, count } = this, pixels = n => Math.round(n * unit);
			const image = pen.createImageData(pixels(size.columns), pixels(size.rows));
			// a single pixel among zeros is easily missed
			const isThin = block.zeros > 0.9 * count.rows * count.columns && Math.min(cell.rows, cell.columns) < 2;
			const grain = isThin ? Math.round(2 * unit) : 1;
			paint(image, tile, view, palette, { unit: Math.max(1, Math.round(unit)), grain, isPattern: this.isPattern });
			pen.putImageData(image, pixels(plot.columns), pixels(plot.rows));
		}
		pen.setTransform(unit, 0, 0, unit, 0, 0);
		pen.font = FONT;
		pen.lineWidth = 1;
		pen.strokeStyle = pen.fillStyle = getComputedStyle(this.root).color;
		pen.textBaseline = "middle";
		if (!this.plot) return pen.fillText(`no entries: ${block.shape.join(" × ")}`, 4, 20);
		if (tile) this.cells(pen);
		this.axes(pen);
		this.frames(pen);
	}

	/** Lines between cells and values in them, where there is room. */
	cells(pen) {
		const { plot, size, view, tile, cell, palette, values } = this;
		if (Math.min(cell.rows, cell.columns) < 8) return;
		const at = (axis, k) => plot[axis] + (k - view[axis][0]) * cell[axis];
		const seen = each(axis => {
			const first = Math.floor(view[axis][0]);
			return Array.from({ length: Math.ceil(view[axis][1]) - first }, (_, k) => first + k);
		});
		pen.save();
		pen.beginPath();
		pen.rect(plot.columns, plot.rows, size.columns, size.rows);
		pen.clip();
		pen.globalAlpha = 0.16;
		for (const r of seen.rows) pen.fillRect(plot.columns, Math.round(at("rows", r)), size.columns, 1);
		for (const c of seen.columns) pen.fillRect(Math.round(at("columns", c)), plot.rows, 1, size.rows);
		pen.globalAlpha = 1;
		pen.textAlign = "center";
		const place = (part, r, c) => (r - part.rows[0]) * (part.columns[1] - part.columns[0]) + c - part.columns[0];
		for (const r of this.isLegible && values && !this.isPattern ? seen.rows : []) {
			for (const c of seen.columns) {
				const k = place(tile, r, c), mark = tile.marks[k], value = values.values[place(values, r, c)];
				const texts = ODD[mark] ? [ODD[mark]] : [3, 2, 1].map(digits => short(value, digits));
				const text = texts.find(t => pen.measureText(t).width < cell.columns - 4) ?? "…"; // empty is zero
				if (mark === ZERO || value === undefined || !text) continue;
				const x = at("columns", c + 0.5), y = at("rows", r + 0.5);
				pen.fillStyle = "#fff";
				if (ODD[mark]) pen.fillRect(x - 14, y - 8, 28, 16);
				if (ODD[mark] || palette.isPale(tile.levels[k])) pen.fillStyle = "#111";
				pen.fillText(text, x, y + 1);
			}
		}
		pen.restore();
	}

	/** Names and indices along the rows and columns, as many as fit. */
	axes(pen) {
		const { plot, size, view, cell, count } = this, { out, by } = this.block, { rows: y, columns: x } = plot;
		pen.globalAlpha = 0.75;
		pen.strokeRect(x - 0.5, y - 0.5, size.columns + 1, size.rows + 1);
		const ticks = (array, axis, room, put) => {
			const least = Math.max(room / cell[axis], 1), power = 10 ** Math.floor(Math.log10(least)), [low, high] = view[axis];
			const step = [1, 2, 5, 10].map(k => k * power).find(k => k >= least);
			for (let k = Math.ceil(low / step) * step; array.shape.length && k + 0.5 < high; k += step)
				if (k + 0.5 > low) put(indexOf(array, k), (k + 0.5 - low) * cell[axis]);
		};
		pen.textAlign = "right";
		ticks(out, "rows", 16, (text, down) => {
			pen.fillText(text, x - 7, y + down);
			pen.fillRect(x - 4, Math.round(y + down), 3, 1);
		});
		pen.textAlign = "center";
		ticks(by, "columns", pen.measureText(indexOf(by, count.columns - 1)).width + 14, (text, across) => {
			pen.fillText(text, x + across, y - 11);
			pen.fillRect(Math.round(x + across), y - 4, 1, 3);
		});
		pen.globalAlpha = 1;
		pen.font = `600 ${FONT}`;
		pen.textAlign = "left";
		pen.fillText(`${by.name} →`, x, 12);
		pen.save();
		pen.translate(10, y);
		pen.rotate(-Math.PI / 2);
		pen.textAlign = "right";
		pen.fillText(`← ${out.name}`, 0, 0);
		pen.restore();
	}

	frames(pen) {
		const { plot, view, cell, drag, picked, cursor, step, number } = this;
		const box = (start, size) => [["#fff", 5], [this.accent, 2.5]].forEach(([strokeStyle, lineWidth]) =>
			Object.assign(pen, { strokeStyle, lineWidth }).strokeRect(start.columns, start.rows, size.columns, size.rows));
		const frame = (place, cells) => {
			const middle = each(axis => place[axis] + cells[axis] / 2), size = each(axis => Math.max(cells[axis] * cell[axis], 11));
			if (AXES.some(axis => middle[axis] < view[axis][0] || middle[axis] > view[axis][1])) return;
			box(each(axis => plot[axis] + (middle[axis] - view[axis][0]) * cell[axis] - size[axis] / 2), size);
		};
		const isHere = picked?.block === number;
		if (isHere) frame(picked, each(() => 1));
		pen.setLineDash([5, 3]);
		const isAway = !isHere || AXES.some(axis => picked[axis] !== cursor[axis]);
		if (isAway && this.canvas.matches(":focus")) frame(cursor, step);
		pen.setLineDash([]);
		if (drag?.to) box(drag.at, each(axis => drag.to[axis] - drag.at[axis]));
	}
}

function picture(canvas, width, height, fill) {
	Object.assign(canvas, { width, height });
	const pen = canvas.getContext("2d"), image = pen.createImageData(width, height);
	fill(image);
	pen.putImageData(image, 0, 0);
}

/** A line of the user's code, with what flows on from it. */
function sourceLine({ id, number, text, flow = "", size, sign, width, labels }) {
	const share = make("span", "sg-flow", flow), code = make("code", "", text), row = make("li", flow && "sg-on");
	if (flow) {
		share.title = `${labels.join(", ")} ${flow} flows on from this line, ${size} in magnitudes`;
		const bar = make("span", sign < 0 ? "sg-minus" : "sg-plus");
		bar.style.width = `${Math.max(2, 100 * width)}%`;
		code.prepend(bar);
	}
	row.append(make("span", "sg-number", number), share, code);
	row.dataset.number = number;
	return row;
}

export default {
	render({ model, el }) {
		const view = new View(model, el);
		return () => view.close();
	},
};
