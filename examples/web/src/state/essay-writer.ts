/** Whether the gateway's essays come from the offline drafter. `servePages` writes it into the page. */
export function isDrafter(): boolean {
  return document.querySelector('meta[name="essay-writer"]')?.getAttribute('content') === 'drafter';
}
