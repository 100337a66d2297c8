/** What cannot be shown, with the status that says so and a sentence for who asked. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
