import { errorCode, ParleyError } from '../core/errors.ts'
import type { SessionSummary } from '../core/operate-sessions.ts'
import type { OperatorService } from '../core/operator.ts'
import { oneLine } from './print/plain.ts'

type Sessions = Pick<OperatorService['sessions'], 'list'>

/** The most sessions among which a title is looked for: those active last. */
const MOST_TITLED = 2_000
const PAGE = 200

/** A title as somebody types it: `›` is on no keyboard. */
function typed(title: string): string {
  return oneLine(title).toLowerCase().replaceAll('›', '>').replaceAll(/ *> */g, '>').trim()
}

/** A key, an id or `main`: a title never stands in for one that is not there. */
const LIKE_KEY = /^(?:main|node-.*|.*:.*)$/i

/**
 * Does something to a session by name, or by its title in the list, where one conversation alone has that: to its
 * session in use, or to the whole conversation. Anybody may call their chat as another one is called: then the error
 * names both by their keys.
 */
export async function byTitle<Answer>(
  sessions: Sessions,
  name: string,
  act: (name: string) => Promise<Answer>,
  what: 'session' | 'conversation' = 'session',
): Promise<Answer> {
  try {
    return await act(name)
  } catch (err) {
    if (errorCode(err) !== 'not_found') throw err
    const [found, ...others] = await titled(sessions, name)
    if (found === undefined) throw err
    return act(what === 'session' && others.length === 0 ? found.id : found.key)
  }
}

/** Returns the address of a conversation that is named by its title in the list, any other name as it is. */
export async function placeNamed(sessions: Sessions, name: string): Promise<string> {
  const [found] = await titled(sessions, name)
  return found?.key ?? name
}

/** Returns the sessions that a title names, all of one conversation. Throws `invalid` where several are called so. */
async function titled(sessions: Sessions, name: string): Promise<readonly SessionSummary[]> {
  if (LIKE_KEY.test(name)) return []
  const { all, more } = await listed(sessions)
  const wanted = typed(name)
  const found = all.filter((one) => namesOf(one).some((known) => typed(known) === wanted))
  const [only, ...others] = new Set(found.map(({ key }) => key))
  if (others.length > 0) {
    const keys = [only, ...others].join(', ')
    throw new ParleyError(
      'invalid',
      `Several conversations are called "${oneLine(name)}"; name one by its key: ${keys}`,
    )
  }
  if (more && only !== undefined)
    throw new ParleyError('invalid', `There are too many sessions to go by a title: name ${only}, if you mean it.`)
  return found
}

/** Returns the title, the topic alone, and the title as the list has it where several are called so. */
function namesOf({ title = '', key }: SessionSummary): readonly string[] {
  return title === '' ? [] : [title, title.split('›').at(-1) ?? '', titleWithId(title, key)]
}

/** Returns a title with the id of its chat behind it: `Ada (111)`. */
export function titleWithId(title: string, key: string): string {
  return `${title} (${placeOf(key)?.id ?? key})`
}

/** Returns the platform, the kind and the id of the place that a key names; undefined for a key of another form. */
export function placeOf(key: string): { readonly where: string; readonly id: string } | undefined {
  const [, channel, kind, id] = /^([^:]+):(direct|group|channel):(.+)$/.exec(key) ?? []
  return id === undefined ? undefined : { where: `${channel} ${kind}`, id }
}

async function listed(
  sessions: Sessions,
): Promise<{ readonly all: readonly SessionSummary[]; readonly more: boolean }> {
  const all: SessionSummary[] = []
  for (let offset = 0; offset < MOST_TITLED; offset += PAGE) {
    const { sessions: page, total } = await sessions.list({ limit: PAGE, offset, inactive: true })
    all.push(...page)
    if (all.length >= total || page.length === 0) return { all, more: false }
  }
  return { all, more: true }
}
