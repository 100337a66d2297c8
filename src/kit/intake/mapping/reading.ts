/** Why a value could not be read as the mapping says. */
export interface MappingFault {
  /** Field of ours, such as `payout` or `events.payout`. */
  field: string;
  /** Place in the record. */
  place: string;
  problem: string;
}

/** What came up while one record, or one milestone of it, was read. */
export class Reading {
  /** The first fault. */
  fault: MappingFault | undefined;
  /** A word says that it does not count. */
  isPassedOver = false;
  /** The allowed and the denied leave no place where the offer runs. */
  runsNowhere = false;
  readonly warnings = new Set<string>();

  note(fault: MappingFault): void {
    this.fault ??= fault;
  }
}
