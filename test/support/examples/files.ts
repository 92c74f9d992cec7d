import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';

/** Drops a file with these bytes on the page, as from a folder. */
export async function dropFile(page: Page, name: string, content: string | Buffer): Promise<void> {
  const base64 = Buffer.from(content).toString('base64');
  await page.evaluate(
    ([fileName = '', text = '']) => {
      const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([bytes], fileName));
      const target = document.querySelector('.file-panel');
      for (const type of ['dragover', 'drop']) {
        target?.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
      }
    },
    [name, base64],
  );
}

/** The file that the button saves. */
export async function download(page: Page, button: string): Promise<{ name: string; text: string }> {
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: button }).click();
  const file = await downloading;
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') };
}
