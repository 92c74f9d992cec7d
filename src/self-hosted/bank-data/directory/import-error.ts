/** Why nothing was imported, in a sentence without its full stop, for whoever ran the import. */
export class ImportError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ImportError';
  }
}
