// Arrows, space and the page keys move, Home and End jump, p prints, f fills the screen.
const slides = [...document.querySelectorAll("body > header, body > section")];
slides.forEach((slide, i) => {
  slide.dataset.deck = document.title;
  slide.dataset.page = (i + 1) + " / " + slides.length;
});

const current = () =>
  slides.findIndex((slide) => slide.getBoundingClientRect().bottom > innerHeight / 2);

const remember = (i) => history.replaceState(null, "", "#" + slides[i].id);

const show = (i) => {
  const to = Math.max(0, Math.min(i, slides.length - 1));
  slides[to].scrollIntoView();
  remember(to);
};

const steps = {
  ArrowRight: 1, ArrowDown: 1, PageDown: 1, Enter: 1,
  ArrowLeft: -1, ArrowUp: -1, PageUp: -1, Backspace: -1,
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const step = event.key === " " ? (event.shiftKey ? -1 : 1) : steps[event.key];
  if (step) show(current() + step);
  else if (event.key === "Home") show(0);
  else if (event.key === "End") show(slides.length - 1);
  else if (event.key === "p") print();
  else if (event.key === "f") document.documentElement.requestFullscreen();
  else return;
  event.preventDefault();
});

addEventListener("scrollend", () => remember(current()));
