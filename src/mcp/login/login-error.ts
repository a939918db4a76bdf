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
  if (code !== undefined) return new ParleyError('unavailable', `${host} refuses: ${code}.`)
  const words = `${host} describes no login in a form that can be read. A token is written under headers instead.`
  return new ParleyError('unavailable', words)
}

/**
 * Asks a token endpoint with the name of the resource, and once without it where that is refused: some authorization
 * servers know no such field.
 */
export async function withoutResource<Result>(
  resource: string | undefined,
  ask: (about: { readonly resource?: string }) => Promise<Result>,
): Promise<Result> {
  if (resource === undefined) return ask({})
  try {
    return await ask({ resource })
  } catch (error) {
    if (!/^invalid_(request|target)$/.test(refusalCode(error) ?? '')) throw error
    return ask({})
  }
}
