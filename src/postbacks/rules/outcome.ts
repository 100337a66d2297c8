/** Reasons why an attempt failed. */
export type OutcomeError =
  /** By the status: 410, one that sends elsewhere, and any other that is not 2xx. */
  | 'gone'
  | 'redirect'
  | 'http_status'
  /** No connection was made, or it broke before a status arrived. */
  | 'refused_address'
  | 'dns'
  | 'tls'
  | 'connection'
  /** No status arrived before the deadline, or what arrived was no HTTP response. */
  | 'timeout'
  | 'bad_answer'
  /** Reason of an attempt that sent nothing, since no request could be made. */
  | 'unsendable';

/** Outcome of one attempt. */
export interface Outcome {
  /** Null where no status line arrived. */
  status: number | null;
  /** Null after a 2xx status, whatever came after that. */
  error: OutcomeError | null;
  /** Why an address was refused. */
  detail?: string | undefined;
  /** Seconds that the receiver asked for by `Retry-After`. */
  retryAfterSeconds: number | null;
  durationMilliseconds: number;
  /** Host and port only: the rest of the address may hold credentials. */
  host: string;
}

/** What lets a postback go where `refused_address` keeps it from. */
export const refusedAddressCure =
  'postbacks go to public addresses alone; OFFERLINE_ALLOW_PRIVATE_POSTBACKS=1 in the environment of offerline allows private networks';
