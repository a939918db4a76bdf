import { ParleyError } from '../../core/errors.ts'
import { SEND_OVERRIDES, type SessionOverrides, THINKING_LEVELS, VERBOSE_LEVELS } from '../../core/session.ts'

/** Changes of a session's overrides: a value sets, null inherits again, an absent field stays. */
export interface SessionPatch {
  readonly sendPolicy?: SessionOverrides['sendOverride'] | null
  readonly thinkingLevel?: SessionOverrides['thinkingLevel'] | null
  readonly verboseLevel?: SessionOverrides['verboseLevel'] | null
  readonly model?: string | null
}

/** The fields of a patch by name: the allowed values and the override each sets. */
const FIELDS = {
  sendPolicy: { values: SEND_OVERRIDES, sets: 'sendOverride' },
  thinkingLevel: { values: THINKING_LEVELS, sets: 'thinkingLevel' },
  verboseLevel: { values: VERBOSE_LEVELS, sets: 'verboseLevel' },
  model: { values: undefined, sets: 'model' },
} as const satisfies Record<
  keyof SessionPatch,
  { readonly values: readonly string[] | undefined; readonly sets: keyof SessionOverrides }
>

/** Reads the patch of any caller (T29). Throws `invalid`, which names the field and its allowed values. */
export function readPatch(given: unknown): SessionPatch {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw invalid(`give ${names()} as an object`)
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  if (entries.length === 0) throw invalid(`nothing to change; give ${names()}`)
  return Object.fromEntries(entries.map(([name, value]) => [name, readValue(name, value)]))
}

/** Returns the overrides after a patch. */
export function patched(overrides: SessionOverrides, patch: SessionPatch): SessionOverrides {
  const next: Record<string, unknown> = { ...overrides }
  for (const [name, { sets }] of Object.entries(FIELDS)) {
    const value = patch[name as keyof SessionPatch]
    if (value === null) delete next[sets]
    else if (value !== undefined) next[sets] = value
  }
  return next
}

function readValue(name: string, value: unknown): string | null {
  const field = Object.entries(FIELDS).find(([known]) => known === name)?.[1]
  if (!field) throw invalid(`"${name}" is not known; give ${names()}`)
  if (value === null) return null
  const { values } = field
  const fits = typeof value === 'string' && (values ? values.some((known) => known === value) : isModel(value))
  if (!fits) throw invalid(`"${name}" must be ${values ? values.join(', ') : '<provider>/<model>'} or null`)
  return value
}

function isModel(value: string): boolean {
  return /^[^/\s]+\/\S+$/.test(value)
}

function names(): string {
  return Object.keys(FIELDS).join(', ')
}

function invalid(message: string): ParleyError {
  return new ParleyError('invalid', `A session cannot be changed so: ${message}.`)
}
