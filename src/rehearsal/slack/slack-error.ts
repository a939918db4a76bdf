/** A refusal of the Web API: HTTP 200 with `{ ok: false, error }`, or another status where the platform uses one. */
export class SlackApiError extends Error {
  override readonly name = 'SlackApiError'
  readonly code: string
  /** Further fields of the answer, such as `needed` and `provided`. */
  readonly fields: Readonly<Record<string, unknown>>

  constructor(code: string, fields: Readonly<Record<string, unknown>> = {}) {
    super(code)
    this.code = code
    this.fields = fields
  }
}
