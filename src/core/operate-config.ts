/** The part of `OperatorService` about the configuration, apart only for its size. */
export interface ConfigOperator {
  /**
   * Reads the file again and takes over who is who, who may talk and what is sent; everything else takes effect at the
   * next start. `invalid` for a file with a mistake, and the policy stays as it was; `unavailable` without a daemon.
   */
  reload(): Promise<ReloadReport>
}

/** A sentence a line. */
export interface ReloadReport {
  /** Each change that lets more people in, answers more, joins more conversations or sends more than before. */
  readonly wider: readonly string[]
  readonly narrower: readonly string[]
  readonly other: readonly string[]
  readonly warnings: readonly string[]
  /** The names of changed settings that take effect at the next start. */
  readonly later: readonly string[]
}
