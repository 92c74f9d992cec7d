/** A panel of the dashboard with the values of its queries. */
export interface DrawnPanel {
  title: string;
  /** For each series, its values over time: seconds and value. */
  series: readonly (readonly (readonly [number, number])[])[];
}

/** Draws the panels as lines, four in a row, each from 0 to its largest value. The time of all of them is the same. */
export function drawDashboard(title: string, panels: readonly DrawnPanel[]): string {
  const times = panels.flatMap(({ series }) => series.flat().map(([time]) => time));
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const rows = Math.ceil(panels.length / columns);
  const drawn = panels.map((panel, index) => {
    const x = (index % columns) * (width + gap);
    const y = headHeight + Math.floor(index / columns) * (height + gap + titleHeight);
    return `<g transform="translate(${x} ${y})">${drawPanel(panel, first, last)}</g>`;
  });
  const size = [columns * (width + gap), headHeight + rows * (height + gap + titleHeight)];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.join(' ')}" role="img" font-family="sans-serif" font-size="11">
<title>${escapeText(title)}</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="4" y="18" font-size="14">${escapeText(title)}</text>
${drawn.join('\n')}
</svg>
`;
}

function drawPanel({ title, series }: DrawnPanel, first: number, last: number): string {
  const highest = Math.max(0, ...series.flat().map(([, value]) => value));
  const toX = (time: number) => (((time - first) / (last - first || 1)) * width).toFixed(1);
  const toY = (value: number) => (height - (Math.max(0, value) / (highest || 1)) * height).toFixed(1);
  const lines = series.map((values, index) => {
    const points = values.map(([time, value]) => `${toX(time)},${toY(value)}`).join(' ');
    return `<polyline points="${points}" fill="none" stroke="${colors[index % colors.length]}"/>`;
  });
  const label = `${title}: 0 to ${Number(highest.toPrecision(3)).toLocaleString('en')}`;
  const frame = `<rect y="${titleHeight}" width="${width}" height="${height}" fill="none" stroke="#ccc"/>`;
  return `<text y="12">${escapeText(label)}</text>${frame}<g transform="translate(0 ${titleHeight})">${lines.join('')}</g>`;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

const columns = 4;
const [width, height, gap, titleHeight, headHeight] = [260, 90, 14, 18, 30];
const colors = ['#1f77b4', '#d62728', '#2ca02c', '#ff7f0e', '#9467bd', '#8c564b', '#17becf', '#7f7f7f'];
