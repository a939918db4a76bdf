/** A refusal of the Messages API in its own shape. */
export class MessagesError extends Error {
  override name = 'MessagesError'
  readonly status: number
  readonly type: string

  constructor(status: number, type: string, message: string) {
    super(message)
    this.status = status
    this.type = type
  }
}

export function invalid(message: string): MessagesError {
  return new MessagesError(400, 'invalid_request_error', message)
}

export function errorJson(type: string, message: string, requestId: string): string {
  return JSON.stringify({ type: 'error', error: { type, message }, request_id: requestId })
}
