/** A text of this tab, in sessionStorage, for a reload. Texts that are too long for it are not stored. */
export function storedText(key: string) {
  return {
    /** Empty if none was stored. */
    read: (): string => sessionStorage.getItem(key) ?? '',
    write(text: string): void {
      sessionStorage.removeItem(key);
      try {
        if (text !== '') sessionStorage.setItem(key, text);
      } catch {
        // It is too long.
      }
    },
  };
}
