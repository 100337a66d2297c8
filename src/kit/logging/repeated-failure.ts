/** A failure that each new try may repeat: it is logged once, until its message changes or a try passes. */
export class RepeatedFailure {
  #message: string | undefined;

  /** Message of the last try; undefined where that passed. */
  get message(): string | undefined {
    return this.#message;
  }

  /** False where the try before failed with the same message. */
  isNew(message: string): boolean {
    const isNew = message !== this.#message;
    this.#message = message;
    return isNew;
  }

  /** Marks a try that passed; true where the one before failed. */
  pass(): boolean {
    const hadFailed = this.#message !== undefined;
    this.#message = undefined;
    return hadFailed;
  }
}
