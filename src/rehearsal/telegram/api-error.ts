export interface ErrorParameters {
  retry_after?: number
  migrate_to_chat_id?: number
}

/** A refusal of the Bot API: the HTTP status equals `code`, and the description is that of the real server. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: number
  readonly parameters: ErrorParameters | undefined

  constructor(code: number, description: string, parameters?: ErrorParameters) {
    super(description)
    this.code = code
    this.parameters = parameters
  }
}

export function badRequest(what: string, parameters?: ErrorParameters): ApiError {
  return new ApiError(400, `Bad Request: ${what}`, parameters)
}

export function forbidden(what: string): ApiError {
  return new ApiError(403, `Forbidden: ${what}`)
}

export function tooManyRequests(retryAfterSeconds: number): ApiError {
  return new ApiError(429, `Too Many Requests: retry after ${retryAfterSeconds}`, { retry_after: retryAfterSeconds })
}
