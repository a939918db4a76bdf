import { formatPath, type Mistake } from './mistake.ts'
import type { ConfigFile } from './schema.ts'

/**
 * Runs of characters that examples begin their ids with. The examples of this repository (111111111, 222222222, 777777777,
 * -1001234567890, 111111111111111111, T012ABCDE, U012ABCDE) and the usual ones elsewhere (123456789, U0123456789, T01/U333)
 * are pieces of these, or one character again and again.
 */
const RUNS: readonly string[] = ['12345678901234567890', '0123456789', '9876543210', '012abcdefghijk', 'abcdefghijk']
/** The ids with which Slack's own pages show what an id looks like. */
const SLACK_EXAMPLES: readonly string[] = ['012ab3cd', '012ab3cde', '012a3cde', '012ab3c4']
/** Shorter numbers are too likely to be an id that there is. */
const SHORTEST_NUMBER = 6
/** No id that begins as those of Slack or of Telegram's groups is as short as this. */
const SHORTEST_REST = 3
/** A `keyPrefix` may end in the middle of an id. */
const SHORTEST_PREFIX = 9

/**
 * Whether an id was copied from an example: whoever holds it on the platform would get what the line grants. A sign, the
 * -100 of Telegram's groups and the first letter of Slack's ids are not looked at.
 */
export function isPlaceholder(id: string, shortest = 0): boolean {
  if (/[<>…]/.test(id)) return true
  const [, mark = '', core = ''] = /^(-100(?=\d)|[a-z](?=\w)|)-?(.*)$/.exec(id.trim().toLowerCase()) ?? []
  if (core.length < Math.max(shortest, mark === '' ? SHORTEST_NUMBER : SHORTEST_REST)) return false
  const repeated = core === core.charAt(0).repeat(core.length)
  return repeated || SLACK_EXAMPLES.includes(core) || RUNS.some((run) => run.startsWith(core))
}

interface NamedId {
  readonly path: Mistake['path']
  readonly text: string
  readonly ids: readonly string[]
  readonly remedy: string
  readonly shortest?: number
}

const PERSON = 'write the id that /whoami says, or take the line out'
const PLACE = 'write the id that /whoami says there, or take the line out'

/** Every id of an example that stands where ids decide: people, rules, bots, targets of schedules. */
export function placeholderMistakes(file: ConfigFile): Mistake[] {
  return [...personIds(file), ...ruleIds(file), ...scheduleIds(file)]
    .filter(({ ids, shortest }) => ids.some((id) => isPlaceholder(id, shortest)))
    .map(({ path, text, remedy }) => ({
      path,
      message: `${formatPath(path)}: ${text} is an id from an example, and not yours; ${remedy}`,
    }))
}

function personIds({ people }: ConfigFile): NamedId[] {
  return Object.entries(people).flatMap(([name, { ids }]) =>
    ids.map((text, index) => senderId(['people', name, 'ids', index], text)),
  )
}

function ruleIds({ people, routing: { access, dispatch }, session: { sendPolicy } }: ConfigFile): NamedId[] {
  const sender = (path: Mistake['path'], text: string | undefined): NamedId[] =>
    text === undefined || Object.hasOwn(people, text) ? [] : [senderId(path, text)]
  const groups = access.groups.flatMap(({ match, botIds = [] }, index) => {
    const path = ['routing', 'access', 'groups', index]
    return [
      ...placeIds([...path, 'match'], match),
      ...botIds.map((text, place) => senderId([...path, 'botIds', place], text)),
    ]
  })
  const routes = dispatch.flatMap(({ match }, index) => {
    const path = ['routing', 'dispatch', index, 'match']
    return [...placeIds(path, match), ...sender([...path, 'sender'], match.sender)]
  })
  const sends = sendPolicy.rules.flatMap(({ match }, index) => {
    const path = ['session', 'sendPolicy', 'rules', index, 'match']
    const prefix = match.keyPrefix === undefined ? [] : [prefixId([...path, 'keyPrefix'], match.keyPrefix)]
    return [...placeIds(path, match), ...sender([...path, 'person'], match.person), ...prefix]
  })
  return [...groups, ...routes, ...sends]
}

function scheduleIds({ schedules }: ConfigFile): NamedId[] {
  return schedules.flatMap((block, index) =>
    (['digestOf', 'deliverTo'] as const).flatMap((field) => {
      const text = block[field]
      return text === undefined ? [] : [chatId(['schedules', index, field], text)]
    }),
  )
}

function placeIds(path: Mistake['path'], match: { readonly chat?: string; readonly space?: string }): NamedId[] {
  return (['chat', 'space'] as const).flatMap((field) => {
    const text = match[field]
    return text === undefined ? [] : [chatId([...path, field], text)]
  })
}

/** `telegram:1`, `slack:T1/U1`, a bare id. */
function senderId(path: Mistake['path'], text: string): NamedId {
  return { path, text, ids: lastPart(text).split('/'), remedy: PERSON }
}

/** `-100`, `group:-100`, `telegram:group:-100/42`; a topic's number may well be one that counts up. */
function chatId(path: Mistake['path'], text: string): NamedId {
  return { path, text, ids: lastPart(text).split('/').slice(0, 1), remedy: PLACE }
}

function prefixId(path: Mistake['path'], text: string): NamedId {
  return { ...chatId(path, text), shortest: SHORTEST_PREFIX }
}

function lastPart(text: string): string {
  return text.slice(text.lastIndexOf(':') + 1)
}
