/** The part of `OperatorService` by which scripts say something in a chat. */
export interface NotificationOperator {
  /**
   * Says a text in a chat as it is, without a model (T43). Resolves once the platform has it, has refused it, or the
   * wait is over; `queued`: it is on disk, and leaves by itself. `not_found` for a place that whoever asks may not say
   * anything in, or that is on no channel; `invalid`, `too_long`. Once `left` is aborted nobody waits any more.
   */
  say(wanted: NewNotification, left?: AbortSignal): Promise<NotificationReport>
}

export interface NewNotification {
  /** The place, such as `telegram:group:-100123/42`. */
  readonly to: string
  /** Markdown; may be empty beside files. */
  readonly text?: string | undefined
  /** Without a sound, where the platform can. */
  readonly silent?: boolean | undefined
  readonly files?: readonly NotifiedFile[] | undefined
  /** Names the request: it is said once, however often whoever asks repeats it with this name. */
  readonly id?: string | undefined
  /** How long to wait for the outcome, 0 to 3600; by default 30. */
  readonly waitSeconds?: number | undefined
}

export interface NotifiedFile {
  /** The name that people see. */
  readonly name: string
  /** Its bytes as base64. */
  readonly data: string
}

export interface NotificationReport {
  /**
   * `refused`: by the send policy of the place, a mute, or the platform. `lost`: nobody can know whether it arrived,
   * and it is not repeated.
   */
  readonly status: 'delivered' | 'queued' | 'refused' | 'lost'
  readonly to: string
  /** `parley why` shows the rest. */
  readonly traceId: string
  /** Why it is not delivered. */
  readonly reason?: string
  /** The platform's ids of the messages. */
  readonly messageIds: readonly string[]
}
