import { ParleyError } from '../../core/errors.ts'
import {
  collectOverrides,
  isSettingName,
  SESSION_SETTINGS,
  SETTING_NAMES,
  type SessionOverrides,
  type SettingPatch,
} from '../../core/session-settings.ts'

/**
 * Reads the patch of any caller (T29): a value sets, null inherits. Throws `invalid`, which names field and values. It
 * uses the readers of the table, as the store and the chat commands do, where a schema would repeat them.
 */
export function readPatch(given: unknown): SettingPatch {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw invalid(`give ${names()} as an object`)
  const fields = new Map<string, unknown>(Object.entries(given).filter(([, value]) => value !== undefined))
  if (fields.size === 0) throw invalid(`nothing to change; give ${names()}`)
  for (const name of fields.keys()) if (!isSettingName(name)) throw invalid(`"${name}" is not known; give ${names()}`)
  const set = collectOverrides((name) => {
    const field = fields.get(name) ?? undefined
    if (field === undefined) return undefined
    const { value } = SESSION_SETTINGS[name]
    const read = value.read(field)
    if (read === undefined) throw invalid(`"${name}" must be ${value.takes} or null`)
    return read
  })
  return { set, inherit: SETTING_NAMES.filter((name) => fields.get(name) === null) }
}

/** Returns the overrides after a patch. */
export function patched(overrides: SessionOverrides, { set, inherit }: SettingPatch): SessionOverrides {
  return collectOverrides((name) => set[name] ?? (inherit.includes(name) ? undefined : overrides[name]))
}

function names(): string {
  return SETTING_NAMES.join(', ')
}

function invalid(message: string): ParleyError {
  return new ParleyError('invalid', `A session cannot be changed so: ${message}.`)
}
