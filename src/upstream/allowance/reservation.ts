import type { Answered } from '../outcome.ts';

/** A call that was counted and may be sent. */
export interface Reservation {
  kind: 'reserved';
  /** Only for a call that was definitely not sent. Calling it again has no effect. */
  release(): void;
  /** Records the rate limit that the response to the call reports, if it does. */
  recordAnswer(answer: Pick<Answered, 'status' | 'headers'>): void;
}
