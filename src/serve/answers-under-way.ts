import type { Server } from 'node:http';

/**
 * Knows of every answer that has not left the process yet. Node's own `server.close()` takes a connection for idle as
 * soon as its answer was handed over, and cuts off what the client has not taken yet.
 */
export class AnswersUnderWay {
  #count = 0;
  #noneLeft: (() => void) | undefined;

  constructor(server: Server) {
    server.on('request', (_request, response) => {
      this.#count++;
      response.once('close', () => {
        this.#count--;
        if (this.#count === 0) this.#noneLeft?.();
      });
    });
  }

  /** Returns at a moment when every answer has left, or its client has gone. */
  async finished(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => (this.#noneLeft = resolve));
  }
}
