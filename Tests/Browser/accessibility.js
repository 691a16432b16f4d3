// Returns what WCAG 2.2 AA would find on the page as it is shown now: too little contrast (1.4.3, 1.4.11), controls
// without a name (4.1.2), pictures without a text (1.1.1), ids that are there twice, headings that skip a level, and sideways
// scrolling (1.4.10).
(() => {
  const findings = [];
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const color = (text) => {
    if (!known.has(text)) known.set(text, painted(text));
    return known.get(text);
  };
  const painted = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return { channels: [red, green, blue], alpha: alpha / 255 };
  };
  const luminance = (channels) => {
    const [red, green, blue] = channels.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ratio = (one, other) => {
    const [light, dark] = [luminance(one), luminance(other)].sort((left, right) => right - left);
    return (light + 0.05) / (dark + 0.05);
  };
  const background = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = color(getComputedStyle(at).backgroundColor);
      if (found.alpha === 1) return found.channels;
      if (found.alpha > 0) findings.push(`${name(at)} has a translucent background, which is not computed`);
    }
    return [255, 255, 255];
  };
  const name = (element) => {
    const own = element.id ? `#${element.id}` : `.${[...element.classList].join(".")}`;
    return `${element.tagName.toLowerCase()}${own} "${element.textContent.trim().slice(0, 40)}"`;
  };
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true });

  let texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !isShown(element) || element.closest(":disabled, noscript, script")) continue;
    texts += 1;
    const style = getComputedStyle(element);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    const found = ratio(color(style.color).channels, background(element));
    if (found < least) findings.push(`contrast ${found.toFixed(2)} below ${least}: ${name(element)}`);
  }

  const controls = [...document.querySelectorAll("a[href], button, input, select, textarea, summary")].filter(isShown);
  for (const control of controls) {
    const label = control.getAttribute("aria-label")
      || [...control.labels ?? []].map((each) => each.textContent).join(" ") || control.textContent;
    if (!label.trim()) findings.push(`no name: ${control.outerHTML.slice(0, 120)}`);
    if (control.matches("input, select, textarea") && !control.disabled) {
      const style = getComputedStyle(control);
      const found = ratio(color(style.borderTopColor).channels, background(control.parentElement));
      if (control.type !== "checkbox" && control.type !== "file" && found < 3) {
        findings.push(`border ${found.toFixed(2)} below 3: ${name(control)}`);
      }
      const hint = control.placeholder
        ? ratio(color(getComputedStyle(control, "::placeholder").color).channels, background(control)) : 21;
      if (hint < 4.5) findings.push(`placeholder ${hint.toFixed(2)} below 4.5: ${name(control)}`);
    }
  }

  for (const image of document.images) if (!image.alt) findings.push(`no text for a picture: ${image.outerHTML}`);
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  for (const id of new Set(ids)) {
    if (ids.indexOf(id) !== ids.lastIndexOf(id)) findings.push(`id is there twice: ${id}`);
  }
  let before = 0;
  for (const heading of [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(isShown)) {
    const level = Number(heading.tagName[1]);
    if (level > before + 1) findings.push(`level ${level} after ${before}: ${name(heading)}`);
    before = level;
  }
  if (!document.documentElement.lang) findings.push("no language");
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) findings.push(`scrolls sideways: ${scrollWidth} of ${clientWidth} pixels`);
  return { findings: [...new Set(findings)], texts, controls: controls.length };
})()
