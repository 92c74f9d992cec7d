/** Why nothing was imported. The message is a sentence without its full stop, for the operator. */
export class ImportError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ImportError';
  }
}
