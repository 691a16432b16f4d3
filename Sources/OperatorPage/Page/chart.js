// Draws the last hour: bars of requests, with errors in their feet, and a line of the 95th percentile.

const space = "http://www.w3.org/2000/svg";
const [width, height] = [600, 120];

function shape(tag, attributes, text) {
  const node = document.createElementNS(space, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text) node.textContent = text;
  return node;
}

/** Returns a chart of minutes, each with `requests`, `errors` and perhaps `p95` in milliseconds, and what its heights stand for. */
export function chart(minutes) {
  const most = Math.max(1, ...minutes.map(({ requests }) => requests));
  const slowest = Math.round(10 * Math.max(1, ...minutes.map(({ p95 }) => p95 ?? 0))) / 10;
  const label = `Requests of the last hour by minute: at most ${most} in a minute; the slowest 95th percentile is ${slowest} ms`;
  const step = width / 60;
  const start = 60 - minutes.length;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "chart", preserveAspectRatio: "none" });
  const line = [];
  minutes.forEach(({ requests, errors, p95 }, index) => {
    const x = (start + index) * step;
    const bar = (number, name) => {
      const tall = (number / most) * (height - 4);
      if (number) svg.append(shape("rect", { x: x + 1, y: height - tall, width: step - 2, height: tall, class: name }));
    };
    bar(requests, "requests");
    bar(errors, "errors");
    if (p95 !== undefined) line.push(`${x + step / 2},${height - 2 - (p95 / slowest) * (height - 8)}`);
  });
  if (line.length > 1) svg.append(shape("polyline", { points: line.join(" "), class: "slow" }));
  svg.append(shape("line", { x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5, class: "axis" }));
  return { svg, most, slowest };
}
