/** Answers probes and monitors. */
export interface HealthOperator {
  /** Returns whether everything works that answers need. Cheap enough to be asked every second by anybody. */
  ready(): Promise<Readiness>
  /** Returns the metrics in the text format of Prometheus. */
  metrics(): Promise<MetricsPage>
}

export interface Readiness {
  /**
   * `starting`: what was interrupted is being resumed, and no channel is up yet; `degraded`: a channel cannot receive,
   * or the store takes no write.
   */
  readonly status: 'ready' | 'starting' | 'degraded'
  /** The channels that cannot receive now. */
  readonly channels: readonly { readonly channel: string; readonly account: string; readonly status: string }[]
  /** False where a write was not committed in time. */
  readonly store: boolean
}

export interface MetricsPage {
  readonly type: string
  readonly text: string
}
