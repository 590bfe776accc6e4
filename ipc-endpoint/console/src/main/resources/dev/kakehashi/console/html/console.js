// What the pages do in a browser beyond HTML: questions before actions, live parts, charts. Every page works without it.
(() => {
  "use strict";

  const SAMPLES = 300;
  const MEGABYTE = 1024 * 1024;
  const charts = new Map();

  // ---- forms ----

  document.addEventListener("submit", event => {
    const question = event.submitter && event.submitter.dataset.confirm;
    if (question && !window.confirm(question)) {
      event.preventDefault();
    }
  });

  document.addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.dataset && event.target.dataset.submit) {
      event.preventDefault();
      event.target.form.requestSubmit();
    }
  });

  // ---- live parts ----

  // A page that nobody sees asks for nothing. One in which somebody reads a text, or fills a form in, stays as it is.
  document.addEventListener("htmx:before:request", event => {
    const live = document.getElementById("live");
    if (!live || !live.contains(event.target)) {
      return;
    }
    const at = document.activeElement;
    const isBusy = live.querySelector("details[open]") || (at && live.contains(at) && at.matches("input, textarea, button"));
    if (document.hidden || isBusy) {
      event.preventDefault();
    }
  });
  const stale = on => () => {
    const live = document.getElementById("live");
    if (live) {
      live.classList.toggle("stale", on);
    }
  };
  document.addEventListener("htmx:error", stale(true));
  document.addEventListener("htmx:after:swap", () => {
    stale(false)();
    takeSample();
  });

  // ---- the overview's charts: this tab keeps what it has seen ----

  const KEY = "kakehashi-samples";

  function samples() {
    try {
      return JSON.parse(sessionStorage.getItem(KEY)) || [];
    } catch {
      return [];
    }
  }

  function takeSample() {
    const element = document.getElementById("sample");
    if (!element) {
      return;
    }
    const all = samples();
    all.push({ at: Date.now() / 1000, ...JSON.parse(element.dataset.values) });
    while (all.length > SAMPLES) {
      all.shift();
    }
    sessionStorage.setItem(KEY, JSON.stringify(all));
    document.querySelectorAll("[data-series]").forEach(target => drawSeries(target, all));
  }

  // Between two samples; null where there is nothing to say, as after a restart.
  function between(before, now, kind, series) {
    const value = now[series];
    if (value === undefined) {
      return null;
    }
    if (kind === "value") {
      return value;
    }
    if (kind === "megabytes") {
      return value / MEGABYTE;
    }
    if (!before || before[series] === undefined || now.at - before.at > 30) {
      return null;
    }
    if (kind === "group") {
      const groups = now.groups - before.groups;
      return groups > 0 ? (now.commits - before.commits) / groups : null;
    }
    if (kind === "p99") {
      return quantile(before.times, value, 0.99);
    }
    return value < before[series] ? null : (value - before[series]) / (now.at - before.at);
  }

  // The bound, in ms, under which a share of the requests between two samples took.
  function quantile(before, now, share) {
    const counts = now.map(([upper, count], i) => [upper, count - (before[i] ? before[i][1] : 0)]);
    const sum = counts.reduce((all, [, count]) => all + count, 0);
    if (sum <= 0) {
      return null;
    }
    let seen = 0;
    for (const [upper, count] of counts) {
      seen += count;
      if (seen >= sum * share) {
        return upper / 1000;
      }
    }
    return null;
  }

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  }

  function axes(more) {
    const axis = { stroke: colour("faint"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 } };
    return [{ ...axis, ...more }, { ...axis, size: 62 }];
  }

  const clock = at => new Date(at * 1000).toLocaleTimeString("en-GB");

  function drawSeries(target, all) {
    const { series, kind } = target.dataset;
    const x = all.map(sample => sample.at);
    const y = all.map((sample, i) => between(all[i - 1], sample, kind, series));
    const known = charts.get(target);
    if (known) {
      known.setData([x, y]);
      return;
    }
    if (!y.some(value => value !== null)) {
      target.innerHTML = "<p class=\"empty\">no figures yet</p>";
      return;
    }
    target.replaceChildren();
    charts.set(
      target,
      new uPlot(
        {
          width: target.clientWidth,
          height: 160,
          legend: { show: false },
          cursor: { y: false },
          scales: { y: { range: (_, least, most) => [0, most > 0 ? most * 1.1 : 1] } },
          axes: axes({ values: (_, splits) => splits.map(clock), space: 70 }),
          series: [{}, { stroke: colour("accent"), width: 2, points: { show: x.length < 3 } }],
        },
        [x, y],
        target));
  }

  // ---- the chart of a result ----

  const isTime = text => /^\d{4}-\d\d-\d\d( \d\d:\d\d|$)/.test(text);

  function drawTable(target) {
    const table = document.querySelector("#" + target.dataset.table + " table");
    const heads = [...table.tHead.rows[0].cells];
    const rows = [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => (cell.classList.contains("null") ? null : cell.textContent)));
    const isNumber = heads.map(head => head.classList.contains("number"));
    // The first column is the axis, if there is another one with numbers.
    const values = heads.map((_, i) => i).filter(i => isNumber[i] && (i > 0 || isNumber.filter(Boolean).length === 1)).slice(0, 6);
    if (values.length === 0 || rows.length < 2) {
      target.remove();
      return;
    }
    const first = rows.map(row => row[0]);
    const own = values[0] === 0;
    const times = !own && first.every(text => text !== null && isTime(text));
    const numbers = !own && isNumber[0];
    let x = rows.map((_, i) => i);
    if (times) {
      x = first.map(text => Date.parse(text.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00")) / 1000);
    } else if (numbers) {
      x = first.map(Number);
    }
    const order = x.map((_, i) => i).sort((a, b) => x[a] - x[b]);
    const sorted = order.map(i => x[i]);
    const palette = ["accent", "bad", "good", "wait", "faint", "text"];
    const names = !times && !numbers;
    const label = i => {
      if (!Number.isInteger(i) || i < 0 || i >= rows.length) {
        return "";
      }
      return own ? i + 1 : (first[i] || "").slice(0, 14);
    };
    new uPlot(
      {
        width: target.clientWidth - 18,
        height: 260,
        scales: { x: names ? { time: false, range: [-0.6, rows.length - 0.4] } : { time: times }, y: { range: (_, least, most) => (least < 0 ? [least, most] : [0, most > 0 ? most * 1.05 : 1]) } },
        axes: axes(names ? { values: (_, splits) => splits.map(i => label(i)), space: 80 } : {}),
        series: [
          { label: heads[0].textContent },
          ...values.map((i, n) => ({
            label: heads[i].textContent,
            stroke: colour(palette[n]),
            fill: names && values.length === 1 ? colour(palette[n]) : undefined,
            width: 2,
            points: { show: !names && rows.length < 60 },
            paths: names ? uPlot.paths.bars({ size: [0.7, 60] }) : undefined,
          })),
        ],
      },
      [sorted, ...values.map(i => order.map(row => (rows[row][i] === null ? null : Number(rows[row][i]))))],
      target);
    target.setAttribute("role", "img");
    target.setAttribute("aria-label", "Chart of the result; the table below has its values");
  }

  addEventListener("resize", () => charts.forEach((chart, target) => chart.setSize({ width: target.clientWidth, height: 160 })));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    charts.forEach(chart => chart.destroy());
    charts.clear();
    document.querySelectorAll("[data-series]").forEach(target => drawSeries(target, samples()));
  });

  takeSample();
  document.querySelectorAll("[data-table]").forEach(drawTable);
})();
