/** One result of looking for faults, as `parley doctor` prints it: a line each. */
export interface Finding {
  /** The part that was examined: `telegram`, `slack/work`, `model ollama`, `database`, `clock`. */
  readonly part: string
  /** The name of the check for programs, which never changes: `token`, `privacy-mode`, `second-poller`. */
  readonly check: string
  /** `warning`: it works, but not as most people expect. `skipped`: it could not be examined, for the reason given. */
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped'
  readonly says: string
  /** A command to type or a place to click; there for every warning and failure. */
  readonly remedy?: string
}
