import { useState } from 'react';
import { type ListRow, toCsv, toTable, toTabSeparated } from '../state/list-rows.ts';

interface ExportButtonsProps {
  /** The shown rows. */
  rows: readonly ListRow[];
}

export function ExportButtons({ rows }: ExportButtonsProps) {
  const [message, setMessage] = useState('');

  async function copy() {
    try {
      await navigator.clipboard.writeText(toTabSeparated(toTable(rows)));
      setMessage(`${rows.length} copied`);
    } catch {
      setMessage('The browser does not allow copying here.');
    }
  }

  function download() {
    const url = URL.createObjectURL(new Blob([toCsv(toTable(rows))], { type: 'text/csv' }));
    const link = Object.assign(document.createElement('a'), { href: url, download: 'ibans.csv' });
    link.click();
    URL.revokeObjectURL(url);
    setMessage('');
  }

  return (
    <div className="export">
      <span role="status">{message}</span>
      <button type="button" className="small" onClick={() => void copy()}>
        Copy
      </button>
      <button type="button" className="small" onClick={download}>
        CSV
      </button>
    </div>
  );
}
