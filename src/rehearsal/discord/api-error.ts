/** A refusal of the REST API, with the body of the real one. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  readonly code: number
  readonly errors: object | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(
    status: number,
    code: number,
    message: string,
    more: { errors?: object; retryAfterSeconds?: number } = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.errors = more.errors
    this.retryAfterSeconds = more.retryAfterSeconds
  }

  body(): object {
    if (this.retryAfterSeconds !== undefined) {
      return { message: this.message, retry_after: this.retryAfterSeconds, global: false }
    }
    return { message: this.message, code: this.code, ...(this.errors === undefined ? {} : { errors: this.errors }) }
  }
}

export const unauthorized = () => new ApiError(401, 0, '401: Unauthorized')
export const noRoute = () => new ApiError(404, 0, '404: Not Found')
export const unknownChannel = () => new ApiError(404, 10_003, 'Unknown Channel')
export const unknownGuild = () => new ApiError(404, 10_004, 'Unknown Guild')
export const unknownMessage = () => new ApiError(404, 10_008, 'Unknown Message')
export const unknownUser = () => new ApiError(404, 10_013, 'Unknown User')
export const unknownEmoji = () => new ApiError(400, 10_014, 'Unknown Emoji')
export const unknownApplication = () => new ApiError(404, 10_002, 'Unknown Application')
export const tooLarge = () => new ApiError(413, 40_005, 'Request entity too large')
export const missingAccess = () => new ApiError(403, 50_001, 'Missing Access')
export const foreignMessage = () => new ApiError(403, 50_005, 'Cannot edit a message authored by another user')
export const emptyMessage = () => new ApiError(400, 50_006, 'Cannot send an empty message')
export const closedDirect = () => new ApiError(403, 50_007, 'Cannot send messages to this user')
export const missingPermissions = () => new ApiError(403, 50_013, 'Missing Permissions')
export const archivedThread = () => new ApiError(400, 50_083, 'Thread is archived')
export const invalidJson = () => new ApiError(400, 50_109, 'The request body contains invalid JSON.')
export const noHistory = () => new ApiError(403, 160_002, 'Cannot reply without permission to read message history')
export const threadExists = () => new ApiError(400, 160_004, 'A thread has already been created for this message')
export const lockedThread = () => new ApiError(403, 160_005, 'Thread is locked')

/** Returns `Invalid Form Body` for one field. */
export function invalidField(field: string, code: string, message: string): ApiError {
  return new ApiError(400, 50_035, 'Invalid Form Body', { errors: { [field]: { _errors: [{ code, message }] } } })
}
