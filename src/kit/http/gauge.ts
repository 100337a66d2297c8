/** A value of this moment, for `/metrics`. */
export interface Gauge {
  name: string;
  help: string;
  value: number;
  /** Default: one that may fall again. */
  type?: 'counter';
}

/** A gauge with a value for each of several things, told apart by a label. */
export interface LabelledGauge extends Pick<Gauge, 'name' | 'help'> {
  label: string;
  values: readonly (readonly [label: string, value: number])[];
}
