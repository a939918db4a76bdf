import { ParleyError } from '../../core/errors.ts'
import type { Exchange, HistoryBoundary } from '../../core/event.ts'

const FORMS =
  'write {"kind":"truncated","turns":n}, {"kind":"compacted"} or {"kind":"replaced","exchanges":[{"user":…,"assistant":…}]}'

/** Returns a caller's request as the event that records it (K33, K36). Throws `invalid` for any other value. */
export function readBoundary(asked: unknown): HistoryBoundary {
  const { kind, turns, exchanges } = fieldsOf(asked)
  switch (kind) {
    case 'truncated':
      if (typeof turns === 'number' && Number.isSafeInteger(turns) && turns >= 0) return { kind, turns }
      throw new ParleyError('invalid', 'the turns to keep must be a whole number, 0 or more')
    case 'compacted':
      return { kind }
    case 'replaced':
      if (Array.isArray(exchanges)) return { kind, exchanges: exchanges.map(readExchange) }
      throw new ParleyError('invalid', FORMS)
    default:
      throw new ParleyError('invalid', FORMS)
  }
}

/** Every model refuses an empty text, so that each later turn would fail with it. */
function readExchange(asked: unknown): Exchange {
  const { user, assistant } = fieldsOf(asked)
  if (!isText(user) || !isText(assistant)) {
    throw new ParleyError('invalid', 'every exchange needs a text of the user and one of the assistant')
  }
  return { user, assistant }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw new ParleyError('invalid', FORMS)
  return { ...value }
}
