'use strict';

// Sizes of units, in that of the smallest one of its kind, for the order of a column.
const units = {
  '': 1, '%': 1, K: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30,
  ps: 1, ns: 1e3, us: 1e6, ms: 1e9, s: 1e12, min: 6e13, h: 3.6e15,
  B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40,
};

// numberOf returns the number that a cell shows, or null.
function numberOf(text) {
  const found = /^([+-]?[0-9.]+)\s*(\S*)$/.exec(text.replace(/(?<=[0-9])\u202f(?=[0-9])/g, ''));
  return found && found[2] in units ? Number(found[1]) * units[found[2]] : null;
}

// compare orders cells: numbers, then texts, then those without a value.
function compare(a, b) {
  const x = numberOf(a), y = numberOf(b);
  if (x !== null && y !== null) return x - y;
  if ((x === null) !== (y === null)) return x === null ? 1 : -1;
  if ((a === '–') !== (b === '–')) return a === '–' ? 1 : -1;
  return a.localeCompare(b);
}

// sortBy sorts the rows of a table by a column, a second time the other way round.
function sortBy(table, head, column) {
  const down = head.getAttribute('aria-sort') === 'ascending';
  for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
  head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  const body = table.tBodies[0];
  const rows = [...body.rows].sort((a, b) => compare(a.cells[column].textContent, b.cells[column].textContent));
  if (down) rows.reverse();
  body.append(...rows);
}

for (const table of document.querySelectorAll('table')) {
  if (!table.tHead) continue;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'sort';
    button.append(...head.childNodes);
    button.addEventListener('click', () => sortBy(table, head, column));
    head.append(button);
  });
}

// What a drawing takes from the page's style sheet.
const inherited = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-dashoffset', 'stroke-linecap', 'stroke-linejoin', 'opacity', 'fill-opacity', 'font-family', 'font-size', 'font-weight'];

// styled returns a copy of an element of a drawing that needs no style sheet.
function styled(element) {
  const copy = element.cloneNode(true);
  const from = [element, ...element.querySelectorAll('*')], to = [copy, ...copy.querySelectorAll('*')];
  from.forEach((e, i) => {
    if (e.closest('.hover')) return to[i].remove(); // it shows nothing
    const style = getComputedStyle(e);
    for (const name of inherited) to[i].style.setProperty(name, style.getPropertyValue(name));
    to[i].removeAttribute('class');
  });
  return copy;
}

const namespace = 'http://www.w3.org/2000/svg';

function make(name, attributes, text) {
  const e = document.createElementNS(namespace, name);
  for (const key in attributes) e.setAttribute(key, attributes[key]);
  if (text) e.textContent = text;
  return e;
}

// drawingOf returns a figure as a drawing of its own, with title and legend.
function drawingOf(figure) {
  const svg = figure.querySelector(':scope > svg');
  const { width, height } = svg.viewBox.baseVal;
  const entries = [...figure.querySelectorAll('.legend > li')];
  const head = 26, line = 20;
  const whole = make('svg', { xmlns: namespace, viewBox: `0 ${-head} ${width} ${head + height + line * entries.length + 6}` });
  whole.setAttribute('width', width);
  whole.setAttribute('height', head + height + line * entries.length + 6);
  const page = getComputedStyle(figure), font = { 'font-family': 'sans-serif', 'font-size': 12, fill: page.color };
  whole.append(make('rect', { x: 0, y: -head, width: '100%', height: '100%', fill: page.backgroundColor }));
  whole.append(make('text', { ...font, x: 4, y: -9, 'font-weight': 600 }, figure.querySelector('figcaption').textContent));
  whole.append(...styled(svg).childNodes);
  entries.forEach((entry, i) => {
    const y = height + line * i + 8;
    const sign = make('g', { transform: `translate(18 ${y})` });
    sign.append(...styled(entry.querySelector('svg')).childNodes);
    whole.append(sign, make('text', { ...font, x: 38, y: y + 4 }, entry.textContent.trim()));
  });
  return whole;
}

function save(url, name) {
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
}

// svgOf returns the text of a figure's SVG file.
function svgOf(figure) { return new XMLSerializer().serializeToString(drawingOf(figure)); }

function svgURL(figure) { return 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(svgOf(figure)); }

// pngOf returns a promise of a figure's PNG file as a data URL, at three pixels for one of the drawing.
function pngOf(figure) {
  const scale = 3, image = new Image();
  return new Promise((done, fail) => {
    image.onload = () => {
      const canvas = document.createElement('canvas');
      canvas.width = image.width * scale;
      canvas.height = image.height * scale;
      canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
      done(canvas.toDataURL('image/png'));
    };
    image.onerror = fail;
    image.src = svgURL(figure);
  });
}

for (const figure of document.querySelectorAll('figure')) {
  if (!figure.querySelector(':scope > svg')) continue;
  const title = figure.querySelector('figcaption').textContent;
  const section = figure.closest('section');
  const name = ((section ? section.id + '-' : '') + title).toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
  const exports = document.createElement('p');
  exports.className = 'export';
  const add = (kind, f) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = kind;
    button.setAttribute('aria-label', `Save ${title} as ${kind}`);
    button.addEventListener('click', f);
    exports.append(button);
  };
  add('SVG', () => save(svgURL(figure), name + '.svg'));
  add('PNG', () => pngOf(figure).then((url) => save(url, name + '.png')));
  figure.append(exports);
}
