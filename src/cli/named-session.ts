import { errorCode, ParleyError } from '../core/errors.ts'
import type { SessionSummary } from '../core/operate-sessions.ts'
import type { OperatorService } from '../core/operator.ts'
import { oneLine } from './print/plain.ts'

type Sessions = Pick<OperatorService['sessions'], 'list'>

/** The most sessions among which a title is looked for: those active last. */
const MOST_TITLED = 200

/** A title as somebody types it: `›` is on no keyboard. */
function typed(title: string): string {
  return oneLine(title).toLowerCase().replaceAll('›', '>').replaceAll(/ *> */g, '>').trim()
}

/** A key, an id or `main`: a title never stands in for one that is not there. */
const LIKE_KEY = /^(?:main|node-.*|.*:.*)$/i

/**
 * Reads a session by name, or by the title in the list where one conversation alone has it: of that its session in use.
 * Only what reads accepts a title: several places may have the same, and anybody may rename theirs.
 */
export async function byTitle<Answer>(
  sessions: Sessions,
  name: string,
  read: (name: string) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await read(name)
  } catch (err) {
    const { found, more } = await titled(sessions, name, err)
    const [only, ...others] = new Set(found.map(({ key }) => key))
    if (only === undefined) throw err
    if (more)
      throw new ParleyError('invalid', `There are too many sessions to go by a title: name ${only}, if you mean it.`)
    if (others.length === 0) return read(found.length === 1 ? (found[0]?.id ?? only) : only)
    throw new ParleyError('invalid', `Several sessions are called so: ${[only, ...others].join(', ')}.`)
  }
}

/** Does something to a session by name. Where the name is a title, the error says the key that it has to be. */
export async function byKey<Answer>(sessions: Sessions, name: string, act: () => Promise<Answer>): Promise<Answer> {
  try {
    return await act()
  } catch (err) {
    const keys = [...new Set((await titled(sessions, name, err)).found.map(({ key }) => key))]
    if (keys.length === 0) throw err
    throw new ParleyError('not_found', `"${oneLine(name)}" is a title; name the session by its key: ${keys.join(', ')}`)
  }
}

interface Titled {
  readonly found: readonly SessionSummary[]
  /** True if there are more sessions than were looked at. */
  readonly more: boolean
}

async function titled(sessions: Sessions, name: string, err: unknown): Promise<Titled> {
  if (errorCode(err) !== 'not_found' || LIKE_KEY.test(name)) return { found: [], more: false }
  const wanted = typed(name)
  const list = await sessions.list({ limit: MOST_TITLED, offset: 0, inactive: true })
  const found = list.sessions.filter(({ title = '' }) =>
    [typed(title), typed(title.split('›').at(-1) ?? '')].includes(wanted),
  )
  return { found, more: list.total > MOST_TITLED }
}
