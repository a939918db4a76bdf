import type { Channels } from '../core/channel-traits.ts'
import { isPlaceholder } from '../core/placeholder-id.ts'
import { formatPath, type Mistake } from './mistake.ts'
import type { ConfigFile } from './schema.ts'

/** A `keyPrefix` may end in the middle of an id. */
const SHORTEST_PREFIX = 9

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
export function placeholderMistakes(file: ConfigFile, { examples }: Channels): Mistake[] {
  return [...personIds(file), ...ruleIds(file), ...scheduleIds(file)]
    .filter(({ ids, shortest }) => ids.some((id) => isPlaceholder(id, examples, shortest)))
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
