// Runs in a finished deck, laid out at 1280 x 720, and writes what is wrong with it into the page.
// See tools/slides/check.h.
const kSmallestType = 18;  // CSS pixels: a fortieth of the height
const kMostWords = 75;     // outside code, pictures and formulas
const findings = [];

// The widest font in common use: what fits in it fits in every other.
document.documentElement.style.setProperty("--sans", "DejaVu Sans");

const checkSlide = (slide, number) => {
  const box = slide.getBoundingClientRect();
  const report = (element, what) => {
    const text = element.textContent.trim().replace(/\s+/g, " ").slice(0, 30);
    findings.push(`slide ${number} "${slide.querySelector("h1, h2").textContent}": ` +
                  `${element.localName} "${text}" ${what}`);
  };
  if (box.height > 720.5) report(slide, `is ${Math.ceil(box.height - 720)} px too high`);

  for (const element of slide.querySelectorAll("*")) {
    const own = element.getBoundingClientRect();
    if (own.width === 0) continue;
    const beyond = Math.max(own.right - box.right, box.left - own.left, own.bottom - box.bottom);
    if (beyond > 0.5) report(element, `ends ${Math.ceil(beyond)} px outside the slide`);
    if (element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0 &&
        !element.closest("math, svg"))
      report(element, `is ${element.scrollWidth - element.clientWidth} px wider than its place`);
  }

  const words = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
  let count = 0;
  while (words.nextNode()) {
    const element = words.currentNode.parentElement;
    const text = words.currentNode.data.trim();
    if (text === "" || element.closest("math")) continue;
    const scale = element.getScreenCTM ? element.getScreenCTM().a : 1;
    const size = parseFloat(getComputedStyle(element).fontSize) * scale;
    if (size < kSmallestType)
      report(element, `is ${size.toFixed(1)} px high, under ${kSmallestType}`);
    if (!element.closest("pre, svg")) count += text.split(/\s+/).length;
  }
  if (count > kMostWords) report(slide, `has ${count} words, over ${kMostWords}`);

  for (const node of slide.querySelectorAll("svg .node")) {
    const shape = node.querySelector("polygon, path, ellipse, rect")?.getBoundingClientRect();
    if (!shape) continue;
    for (const text of node.querySelectorAll("text")) {
      const line = text.getBoundingClientRect();
      if (line.left < shape.left || line.right > shape.right) report(text, "is wider than its box");
    }
  }
};

slides.forEach((slide, i) => checkSlide(slide, i + 1));
const result = document.createElement("pre");
result.id = "findings";
result.textContent = [...new Set(findings)].join("\n");
document.body.replaceChildren(result);
