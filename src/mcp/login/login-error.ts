import { ParleyError } from '../../core/errors.ts'

/** Returns the command that begins a login. */
export function loginCommand(server: string): string {
  return `parley mcp login ${server}`
}

/** Codes of an authorization server after which the same login can never succeed. */
const OVER: ReadonlySet<string> = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client', 'invalid_scope'])

/** Returns the code of an authorization server's refusal; undefined for everything else. */
export function refusalCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'errorCode' in error ? error.errorCode : undefined
  return typeof code === 'string' && /^[a-z_]{1,40}$/.test(code) ? code : undefined
}

export function isOver(error: unknown): boolean {
  return OVER.has(refusalCode(error) ?? '')
}

/**
 * Returns an error of the way to a login in words of our own: those of a server may hold what it was sent, a token or a
 * code.
 */
export function toLoginError(error: unknown, host: string): ParleyError {
  if (error instanceof ParleyError) return error
  const code = refusalCode(error)
  const words = code === undefined ? 'answers in a form that cannot be read' : `refuses: ${code}`
  return new ParleyError('unavailable', `${host} ${words}.`)
}
