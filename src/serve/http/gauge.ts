/** A value of this moment, for `/metrics`. */
export interface Gauge {
  name: string;
  help: string;
  value: number;
  /** Default: one that may fall again. */
  type?: 'counter';
}
