import { createHash } from 'node:crypto'
import { ParleyError } from '../../core/errors.ts'
import { EVENT_TYPES, type SessionEvent } from '../../core/event.ts'
import { isMediaId, type MediaId, mediaId } from '../../core/ids.ts'
import { isDeeper } from '../../core/opaque.ts'
import type { ArchivedSession } from '../../core/operate-archives.ts'
import { BUNDLE_VERSION } from './bundle-lines.ts'
import { isEvent } from './event-forms.ts'
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
  const lines = text.split('\n')
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
  const other = inner.find(({ kind }) => kind !== 'event' && kind !== 'file')
  if (other !== undefined) throw refused(`it has a line that is not known: ${named(other.kind)}`)
  return {
    session: sessionOf(head.session),
    events: inner.filter(({ kind }) => kind === 'event').map(({ event }) => eventOf(event)),
    files: inner.filter(({ kind }) => kind === 'file').map(fileOf),
    sha256,
  }
}

const NO_BUNDLE = 'it is no bundle, which `parley export --bundle` writes'

/** Other forms of an export, and most other files, begin with something else than an object. */
function isNoObject(line = ''): boolean {
  return !line.startsWith('{')
}

function sessionOf(value: unknown): Bundle['session'] {
  if (!SESSION_FORM.safeParse(value).success) throw refused('its session has a form that is not known')
  return value as Bundle['session']
}

function eventOf(value: unknown): SessionEvent {
  const { type: given } = fieldsOf(value)
  const type = EVENT_TYPES.find((one) => one === given)
  if (type === undefined) throw refused(`it has an event of a later version: ${named(given)}`)
  if (!isEvent(type, value)) throw refused(`its ${type} has a form that is not known`)
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

function parse(line: string): Fields {
  const value = parsed(line)
  if (isDeeper(value, MOST_LEVELS)) throw refused(`one of its lines has more than ${MOST_LEVELS} levels`)
  return fieldsOf(value)
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw refused('one of its lines is no JSON')
  }
}

const MOST_LEVELS = 500

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
