import { createHash } from 'node:crypto'
import { DOORS } from '../../core/doors.ts'
import { errorCode, ParleyError, toError } from '../../core/errors.ts'
import { EVENT_TYPES, type SessionEvent } from '../../core/event.ts'
import { isMediaId, type MediaId, mediaId } from '../../core/ids.ts'
import type { ArchivedSession } from '../../core/operate-archives.ts'
import { readJson } from '../../core/read-json.ts'
import { BUNDLE_VERSION } from './bundle-lines.ts'
import { mistakeIn } from './event-forms.ts'
import { SESSION_FORM } from './session-form.ts'

/** A session that came from another store, as its file says. Its checksum proves that it is whole, not who wrote it. */
export interface Bundle {
  readonly session: Omit<ArchivedSession, 'lastSeq'>
  readonly events: readonly SessionEvent[]
  readonly files: readonly { readonly media: MediaId; readonly bytes: Uint8Array }[]
  readonly sha256: string
}

type Fields = Readonly<Record<string, unknown>>

/** Reads a bundle. Throws `invalid` for a file that is none, was cut off or changed, or is of a later version. */
export function readBundle(given: string): Bundle {
  // Some editors begin a file with a mark of its encoding.
  const text = given.startsWith('\uFEFF') ? given.slice(1) : given
  // Each line becomes a text of its own: five hundred million empty ones would be more than any memory has.
  const lines = text.split('\n', MOST_LINES + 1)
  if (lines.length > MOST_LINES) throw refused(`it has more than ${MOST_LINES} lines`)
  if (lines.pop() !== '' || lines.length < 2)
    throw refused('it is no bundle, which `parley export --bundle` writes, or it was cut off')
  if (isNoObject(lines[0])) throw refused(NO_BUNDLE)
  const values = lines.map(parse)
  const [head, end] = [values[0], values.at(-1)]
  if (head?.kind !== 'session') throw refused(NO_BUNDLE)
  if (typeof head.version !== 'number' || !Number.isInteger(head.version) || head.version < 1) throw refused(NO_BUNDLE)
  if (head.version > BUNDLE_VERSION)
    throw refused(`it has version ${head.version} of the form, and this Parley reads ${BUNDLE_VERSION}: upgrade it`)
  if (end?.kind !== 'end') throw refused('it was cut off: its last line is not the end')
  const body = text.slice(0, text.length - (lines.at(-1)?.length ?? 0) - 1)
  const sha256 = createHash('sha256').update(body).digest('hex')
  if (sha256 !== end.sha256 || end.lines !== lines.length - 1)
    throw refused('its checksum differs: it was changed or damaged on the way')
  const inner = values.slice(1, -1)
  return { session: sessionOf(head.session), ...contentsOf(inner), sha256 }
}

function contentsOf(inner: readonly Fields[]): Pick<Bundle, 'events' | 'files'> {
  const events: SessionEvent[] = []
  const files: Bundle['files'][number][] = []
  const calls = new Calls()
  for (const [index, line] of inner.entries()) {
    // The session is the first line.
    const number = index + 2
    if (line.kind === 'event') events.push(calls.checked(eventOf(line.event, number), number))
    else if (line.kind === 'file') files.push(fileOf(line))
    else throw refused(`its line ${number} is not known: ${named(line.kind)}`)
  }
  return { events, files }
}

/**
 * The calls of the turns that are read. An id names one call of its step, and a result has a call in its turn: every
 * provider refuses a request with anything else.
 */
class Calls {
  readonly #made = new Map<string | undefined, Set<string>>()

  checked(event: SessionEvent, line: number): SessionEvent {
    const { type, data, turnId } = event
    const made = this.#made.get(turnId) ?? new Set<string>()
    if (type === 'assistant_step') {
      const ids = data.calls.map(({ callId }) => callId)
      if (new Set(ids).size < ids.length) throw refused(`its line ${line} has two calls with one id`)
      for (const id of ids) made.add(id)
      this.#made.set(turnId, made)
    } else if (type === 'tool_result' && !made.has(data.callId))
      throw refused(`its line ${line} has the result of a call that no step of its turn made`)
    return event
  }
}

/** More than the events of any session. */
const MOST_LINES = 2_000_000

const NO_BUNDLE = 'it is no bundle, which `parley export --bundle` writes'

/** Other forms of an export, and most other files, begin with something else than an object. */
function isNoObject(line = ''): boolean {
  return !line.startsWith('{')
}

function sessionOf(value: unknown): Bundle['session'] {
  if (!SESSION_FORM.safeParse(value).success) throw refused('its session has a form that is not known')
  return value as Bundle['session']
}

function eventOf(value: unknown, line: number): SessionEvent {
  const { type: given } = fieldsOf(value)
  const type = EVENT_TYPES.find((one) => one === given)
  if (type === undefined) throw refused(`its line ${line} has an event of a later version: ${named(given)}`)
  const mistake = mistakeIn(type, value)
  if (mistake !== undefined) throw refused(`its ${type} has a form that is not known (line ${line}${mistake})`)
  return value as SessionEvent
}

/** A file is kept under the digest of its content. */
function fileOf({ media, base64 }: Fields): Bundle['files'][number] {
  if (!isMediaId(media) || typeof base64 !== 'string') throw refused('a file in it has no handle')
  const bytes = Buffer.from(base64, 'base64')
  if (mediaId(createHash('sha256').update(bytes).digest('hex')) !== media)
    throw refused(`the file ${media} in it has another content`)
  return { media, bytes }
}

function parse(line: string, index: number): Fields {
  try {
    return fieldsOf(readJson(line, DOORS.archiveLine))
  } catch (error) {
    const why = errorCode(error) === 'too_long' ? `is too long. ${toError(error).message}` : 'is no JSON.'
    throw refused(`its line ${index + 1} ${why}`.slice(0, -1))
  }
}

/** A name may be anything in a file that somebody has changed. */
function named(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 40) : `no name, but ${typeof value}`
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

function refused(reason: string): ParleyError {
  return new ParleyError('migration_failed', `The file cannot be imported: ${reason}.`)
}
