"use strict";
(() => {
  const known = JSON.parse(document.getElementById("figures").textContent);
  const settings = { displayModeBar: false, responsive: true, displaylogo: false };
  const find = (id) => document.getElementById(id);

  /** Plotly reads a few tags in text; names are names. */
  const plain = (text, length = 22) => {
    const short = text.length > length ? text.slice(0, length - 1) + "…" : text;
    return short.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  };

  /** Plotly gives all columns of a legend the width of its longest name, and takes its rows from the plot. */
  const legendRows = (data, width) => {
    const names = data.filter((trace) => trace.name && trace.showlegend !== false).map((trace) => trace.name);
    const longest = Math.max(0, ...names.map((name) => 7 * name.length + 50));
    return names.length > 1 ? Math.ceil(names.length / Math.max(1, Math.floor((width - 60) / longest))) : 0;
  };

  const draw = (place, figure) => {
    const layout = structuredClone(figure.layout);
    const data = figure.data.map((trace) => ({ ...trace }));
    if (figure.labels) {
      const names = figure.labels;
      data[0].customdata = names.map((truth) => names.map((answer) => `true ${truth}<br>answered ${answer}`));
    }
    if (place.clientWidth < 460) {
      layout.font.size = 11;
      layout.margin = { ...layout.margin, l: 36, r: 4 };
      const x = layout.xaxis;
      if (x.tickvals && x.tickvals.length > 6) {
        x.ticktext = x.ticktext.filter((_, i) => i % 2 === 0);
        x.tickvals = x.tickvals.filter((_, i) => i % 2 === 0);
      }
      if (layout.yaxis.scaleanchor) layout.height = Math.min(layout.height, place.clientWidth + 30);
      data.forEach((trace) => { if (trace.type === "heatmap") trace.showscale = false; });
    }
    layout.height += 19 * Math.max(0, legendRows(data, place.clientWidth) - 2);
    Plotly.react(place, data, layout, settings);
  };

  const variant = {};
  const redraw = (place) => {
    const figure = known.plots[place.dataset.figure];
    if (!figure) return;
    const key = variant[place.dataset.group] ?? Object.keys(figure)[0];
    draw(place, figure[key] ?? figure[Object.keys(figure)[0]]);
  };
  const plots = [...document.querySelectorAll(".plot[data-figure]")];
  for (const select of document.querySelectorAll("select[data-switches]")) {
    const group = select.dataset.switches;
    const update = () => {
      variant[group] = select.value;
      plots.filter((place) => place.dataset.group === group).forEach(redraw);
      for (const each of document.querySelectorAll(`[data-shown-with="${group}"]`)) {
        each.hidden = each.dataset.variant !== select.value;
      }
    };
    select.addEventListener("change", update);
    variant[group] = select.value;
  }
  plots.forEach(redraw);

  let redrawOutputs = () => {};
  /** What is folded has no width to be drawn in until it is opened. */
  const folds = [...document.querySelectorAll("section details")];
  const redrawIn = (fold) => {
    plots.filter((place) => fold.contains(place)).forEach(redraw);
    if (fold.contains(find("plot-overall"))) redrawOutputs();
  };
  folds.forEach((fold) => fold.addEventListener("toggle", () => fold.open && redrawIn(fold)));
  const openNamed = () => {
    const fold = document.getElementById(location.hash.slice(1))?.querySelector("details");
    if (fold) fold.open = true;
  };
  window.addEventListener("hashchange", openNamed);
  for (const link of document.querySelectorAll("nav a")) link.addEventListener("click", () => setTimeout(openNamed));

  const outputs = known.outputs;
  if (outputs) {
    const group = find("pick-group"), part = find("pick-part"), target = find("pick-class");
    const decoded = new Map();
    const numbers = (packed) => {
      if (!decoded.has(packed)) {
        const bytes = Uint8Array.from(atob(packed.data), (c) => c.charCodeAt(0));
        const steps = new Uint16Array(bytes.buffer);
        decoded.set(packed, Array.from(steps, (step) => (step * packed.scale) / 65535));
      }
      return decoded.get(packed);
    };
    const shown = () =>
      outputs.groups[group.value].curves.map((line) => ({ ...line, ...outputs.curves[line.curve] }));
    const everyTick = (labels) => {
      const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((each) => labels.length / each <= 10) ?? labels.length;
      const places = labels.map((_, i) => i).filter((i) => i % step === 0);
      return { tickvals: places, ticktext: places.map((i) => plain(labels[i], 14)) };
    };
    const layout = (x, y, more) => ({
      ...structuredClone(known.layout),
      xaxis: { ...known.axis, ...x },
      yaxis: { ...known.axis, ...y },
      ...more,
    });

    /** Curves over classes in their order; `back` is drawn behind them as an area. */
    const curves = (place, lines, back, mark) => {
      const labels = outputs.labels;
      const x = labels.map((_, i) => i);
      const names = labels.map((label) => plain(label, 30));
      const few = labels.length <= 15;
      const data = lines.map((line) => ({
        type: "scatter", mode: few ? "lines+markers" : "lines", name: plain(line.label, 40), x, y: line.y,
        line: { color: line.colour, width: 2, dash: line.dash }, customdata: names,
        hovertemplate: "%{customdata}: %{y:.2%}<extra>%{fullData.name}</extra>",
      }));
      if (back) {
        const area = { type: "scatter", mode: "lines", fill: "tozeroy", fillcolor: "#dcdcdc", line: { color: "#c4c4c4", width: 0.5 } };
        const bars = { type: "bar", marker: { color: "#dcdcdc" } };
        data.unshift({
          ...(few ? bars : area), name: "true distribution", x, y: back, customdata: names,
          hovertemplate: "%{customdata}: %{y:.2%}<extra>truth</extra>",
        });
      }
      const shapes = mark === undefined ? [] : [
        { type: "line", x0: mark, x1: mark, yref: "paper", y0: 0, y1: 1, line: { color: "#222", width: 1.5, dash: "dot" } },
      ];
      const annotations = mark === undefined ? [] : [
        { x: mark, yref: "paper", y: 1, text: "true class", showarrow: false, xanchor: mark > labels.length / 2 ? "right" : "left", yanchor: "top", bgcolor: "rgba(255,255,255,.75)" },
      ];
      const range = [-0.5, labels.length - 0.5];
      draw(place, { data, layout: layout({ ...everyTick(outputs.marks), range, showgrid: false }, { tickformat: ".2~%", rangemode: "tozero" }, { shapes, annotations }) });
    };

    /** Dots per class, for classes without an order: the classes that matter most, from the top. */
    const dots = (place, lines, labels, weights, back, mark) => {
      const best = weights.map((w, i) => [w, i]).sort((a, b) => b[0] - a[0]).slice(0, 12).map((pair) => pair[1]);
      if (mark !== undefined && mark >= 0 && !best.includes(mark)) best[best.length - 1] = mark;
      const y = best.map((_, i) => i);
      const data = lines.map((line, i) => ({
        type: "scatter", mode: "markers", name: plain(line.label, 40), x: best.map((j) => line.y[j]), y,
        marker: { color: line.colour, size: 9, symbol: ["circle", "square", "triangle-up", "diamond", "cross", "star"][i % 6] },
        hovertemplate: "%{x:.2%}<extra>%{fullData.name}</extra>",
      }));
      if (back) data.unshift({ type: "bar", orientation: "h", name: "true distribution", x: best.map((j) => back[j]), y, marker: { color: "#dcdcdc" }, hovertemplate: "%{x:.2%}<extra>truth</extra>" });
      const text = best.map((j) => (j === mark ? "▸ " : "") + plain(labels[j], 18));
      draw(place, { data, layout: layout({ tickformat: ".2~%", rangemode: "tozero" }, { tickvals: y, ticktext: text, range: [best.length - 0.5, -0.5] }) });
    };

    const most = (lists) => lists[0].map((_, i) => Math.max(...lists.map((list) => list[i])));
    const all = () => {
      const lines = shown().map((line) => ({ ...line, y: numbers(line.overall[part.value]) }));
      const truth = numbers(outputs.truth[part.value]);
      if (outputs.ordered) return curves(find("plot-overall"), lines, truth);
      const off = most(lines.map((line) => line.y.map((value, i) => Math.abs(value - truth[i]))));
      return dots(find("plot-overall"), lines, outputs.labels, off, truth);
    };
    const one = () => {
      const at = Number(target.value);
      const lines = shown().map((line) => {
        const every = numbers(line.byClass[part.value]);
        const width = every.length / outputs.classes.length;
        return { ...line, y: every.slice(at * width, (at + 1) * width) };
      });
      const count = outputs.counts[part.value][at];
      find("class-title").textContent =
        `True class ${outputs.classes[at]} (${count ? count.toLocaleString("en") : "no"} example${count === 1 ? "" : "s"} a run)`;
      if (outputs.ordered) return curves(find("plot-class"), lines, null, outputs.target[at]);
      const places = outputs.answers ? outputs.answers[at] : outputs.labels.map((_, i) => i);
      const labels = places.map((i) => outputs.labels[i]);
      return dots(find("plot-class"), lines, labels, most(lines.map((line) => line.y)), null, places.indexOf(outputs.target[at]));
    };
    const both = () => { all(); one(); };
    group.addEventListener("change", both);
    part.addEventListener("change", both);
    target.addEventListener("change", one);
    const step = (by) => {
      const count = target.options.length;
      target.value = (Number(target.value) + by + count) % count;
      one();
    };
    find("previous-class").addEventListener("click", () => step(-1));
    find("next-class").addEventListener("click", () => step(1));
    redrawOutputs = both;
    both();
  }
  openNamed();

  const every = () => [...document.querySelectorAll(".plot.js-plotly-plot")];
  window.addEventListener("beforeprint", () => {
    folds.forEach((fold) => { fold.open = true; redrawIn(fold); });
    every().forEach((place) => Plotly.relayout(place, { width: 640 }));
  });
  window.addEventListener("afterprint", () => every().forEach((place) => Plotly.relayout(place, { width: null, autosize: true })));
  document.documentElement.dataset.drawn = "yes";
})();
