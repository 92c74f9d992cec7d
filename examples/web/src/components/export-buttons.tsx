import { useState } from 'react';
import { type ListRow, toCsv, toTable, toTabSeparated } from '../state/list-rows.ts';
import { saveFile } from '../state/save-file.ts';

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
    saveFile('ibans.csv', new Blob([toCsv(toTable(rows))], { type: 'text/csv' }));
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
