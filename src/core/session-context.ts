import { ParleyError } from './errors.ts'

/** The variables that the client of a session gives at its start; the agent's prompt names them as `{{ctx.name}}`. */
export type SessionContext = Readonly<Record<string, string>>

const MOST = 32
const NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/
const LONGEST = 2_000

/** The beginnings of keys that providers and platforms give out, and the shapes of those without one. */
const KEYS: readonly RegExp[] = [
  /\b(sk|pk|rk)[-_](live|test|ant|proj|or)?[-_]?[A-Za-z0-9_-]{16,}/,
  /\b(xox[abeprs]|xapp)-[A-Za-z0-9-]{10,}/,
  /\bgh[oprsu]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}/,
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}/,
  /\b\d{6,12}:[A-Za-z0-9_-]{30,}/,
  /(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{20,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
]

/** Returns true for a text that has a key in it, as providers and platforms give them out. */
export function looksLikeKey(text: string): boolean {
  return KEYS.some((key) => key.test(text))
}

/**
 * Returns the variables that a client asks for. Throws `invalid` for a name or a value that cannot be one, and for a
 * value that looks like a key: the event of the start shows every value (C30). The message has no value in it.
 */
export function readContext(asked: Readonly<Record<string, unknown>>): SessionContext {
  const entries = Object.entries(asked)
  if (entries.length > MOST) throw new ParleyError('invalid', `context may have ${MOST} variables at most.`)
  for (const [name, value] of entries) {
    if (!NAME.test(name))
      throw new ParleyError('invalid', 'A name in context must be letters, digits and _, beginning with a letter.')
    if (typeof value !== 'string' || value.length > LONGEST)
      throw new ParleyError('invalid', `context.${name} must be a text of ${LONGEST} characters at most.`)
    if (looksLikeKey(value))
      throw new ParleyError(
        'invalid',
        `context.${name} looks like a key; it would stand in the record of the session. Leave it out, and change it if it was one.`,
      )
  }
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
}

/** Returns a text with each `{{ctx.name}}` replaced by its value, or by nothing where there is none (C46). */
export function interpolate(text: string, context: SessionContext): string {
  if (!text.includes('{{')) return text
  return text.replace(/\{\{\s*ctx\.([A-Za-z][A-Za-z0-9_]*)\s*\}\}/g, (_, name: string) =>
    Object.hasOwn(context, name) ? (context[name] ?? '') : '',
  )
}
