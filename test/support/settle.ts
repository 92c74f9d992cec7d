/** Lets all promises settle that wait for no timer and no I/O. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
}
