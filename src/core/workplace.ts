import { ParleyError } from './errors.ts'
import { looksLikeKey } from './session-context.ts'

/** The names of the tiers that bound tool servers; here a client says with them how far its user means it. */
export const FILE_SCOPES = ['sandboxed', 'workspace', 'full'] as const
export type FileScope = (typeof FILE_SCOPES)[number]

/**
 * The place in which the user of a client works, as the client gave it at the start of a session (C43). It is kept and
 * shown, its folder to the model too, and grants nothing: no tool, no bound and no decision reads it.
 */
export interface Workplace {
  readonly workingFolder?: string
  readonly fileScope: FileScope
  readonly activeFile?: string
  /** The text that is selected. */
  readonly selection?: string
  /** A branch, a tag or a commit. */
  readonly gitReference?: string
}

export type AskedWorkplace = { readonly [Field in keyof Workplace]?: Workplace[Field] | undefined }

/** The longest value of each text. Only a selection has several lines. */
export const WORKPLACE_LIMITS = {
  workingFolder: 1_024,
  activeFile: 1_024,
  selection: 8_000,
  gitReference: 256,
} as const

type TextField = keyof typeof WORKPLACE_LIMITS
const TEXTS = Object.keys(WORKPLACE_LIMITS) as readonly TextField[]
const CONTROL = /\p{Cc}/u

/**
 * Returns the workplace that a client gives, its texts passed through `redact`. Throws `invalid` for a text that is too
 * long, has control characters, or looks like a key: the record of the session shows it (C30).
 */
export function readWorkplace(asked: AskedWorkplace, redact: (text: string) => string): Workplace {
  const { fileScope = 'sandboxed' } = asked
  if (!FILE_SCOPES.includes(fileScope))
    throw new ParleyError('invalid', `workplace.fileScope must be ${FILE_SCOPES.join(', ')}.`)
  const texts = TEXTS.flatMap((field) => {
    const value = asked[field]
    if (value === undefined) return []
    checkText(field, value)
    return [[field, redact(value)]]
  })
  return { ...Object.fromEntries(texts), fileScope }
}

function checkText(field: TextField, value: unknown): void {
  const most = WORKPLACE_LIMITS[field]
  if (typeof value !== 'string' || value.length > most)
    throw new ParleyError('invalid', `workplace.${field} must be a text of ${most} characters at most.`)
  if (CONTROL.test(field === 'selection' ? value.replace(/[\t\r\n]/g, '') : value))
    throw new ParleyError('invalid', `workplace.${field} must not have control characters.`)
  if (looksLikeKey(value))
    throw new ParleyError('invalid', `workplace.${field} looks like a key; leave it out, and change it if it was one.`)
}
