import { useState } from 'react';
import { toDocx, toFileName, toMarkdown } from '../state/essay-files.ts';
import { saveFile } from '../state/save-file.ts';

interface EssayExportsProps {
  essay: { title: string | null; text: string };
}

export function EssayExports({ essay: { title, text } }: EssayExportsProps) {
  const [message, setMessage] = useState('');
  const name = toFileName(title ?? '');

  async function run(action: () => unknown, done: string, failed: string) {
    try {
      await action();
      setMessage(done);
    } catch {
      setMessage(failed);
    }
  }

  return (
    <div className="export">
      <button
        type="button"
        className="small"
        onClick={() =>
          void run(() => navigator.clipboard.writeText(text), 'Copied', 'The browser does not allow copying here.')
        }
      >
        Copy
      </button>
      <button
        type="button"
        className="small"
        onClick={() => {
          saveFile(`${name}.md`, new Blob([toMarkdown(text)], { type: 'text/markdown' }));
          setMessage('');
        }}
      >
        Markdown
      </button>
      <button
        type="button"
        className="small"
        onClick={() =>
          void run(async () => saveFile(`${name}.docx`, await toDocx(text)), '', 'The document cannot be written.')
        }
      >
        Word (DOCX)
      </button>
      <span role="status">{message}</span>
    </div>
  );
}
