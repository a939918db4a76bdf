import type { ToolRule } from '../core/approval.ts'
import type { BudgetConfig } from '../core/budget.ts'
import { type ChatMove, movedKey } from '../core/chat-move.ts'
import type { McpServer } from '../core/mcp.ts'
import type { PlaceMatch, RoutingPolicy } from '../core/policy.ts'
import type { RetentionSettings } from '../core/retention.ts'
import type { ConfiguredSchedule } from '../core/schedule.ts'

interface NamingSettings {
  readonly routing: RoutingPolicy
  readonly schedules: readonly ConfiguredSchedule[]
  readonly toolPolicy?: readonly ToolRule[]
  readonly mcp?: readonly Pick<McpServer, 'name' | 'inside'>[]
  readonly budgets?: Pick<BudgetConfig, 'chat' | 'topic'>
  readonly retention?: RetentionSettings
}

/** The settings that name a chat by an id it had before. They still work; a line for each says what to write. */
export function formerNames(config: NamingSettings, moves: readonly ChatMove[]): readonly string[] {
  const places = [...matchesOf(config), ...config.schedules.flatMap(placesOf)]
  const keys = keysOf(config)
  return moves.flatMap((move) => {
    const { channel, from, to } = move
    const named = places.filter((place) => (place.channel ?? channel) === channel && place.chat === from)
    const moved = keys.map(({ path, key }) => ({ path, key, now: movedKey(key, move) }))
    return [
      ...named.map(({ path }) => `${path}: ${from} is the former id of the chat; write ${to}`),
      ...moved.flatMap(({ path, key, now }) =>
        key === now ? [] : `${path}: ${key} is the former name of ${now}; write that`,
      ),
    ]
  })
}

/** The names of conversations in settings about tools and budgets. */
function keysOf({
  toolPolicy = [],
  mcp = [],
  budgets = {},
}: NamingSettings): readonly { readonly path: string; readonly key: string }[] {
  const lists = [
    ...toolPolicy.map(({ in: keys = [] }, index) => ({ path: `tools.policy[${index}].in`, keys })),
    ...mcp.flatMap(({ name, inside }) =>
      inside.map(({ in: keys = [] }, index) => ({ path: `mcp.${name}.inside[${index}].in`, keys })),
    ),
  ]
  const paid = (['chat', 'topic'] as const).flatMap((kind) =>
    Object.keys(budgets[kind]?.only ?? {}).map((key) => ({ path: `budgets.${kind}.only`, key })),
  )
  return [...paid, ...lists.flatMap(({ path, keys }) => keys.map((key) => ({ path, key })))]
}

interface NamedPlace {
  readonly path: string
  readonly channel: string | undefined
  readonly chat: string | undefined
}

function matchesOf({ routing: { access, dispatch, sendPolicy }, retention }: NamingSettings): readonly NamedPlace[] {
  const lists: readonly [string, readonly { readonly match: PlaceMatch }[]][] = [
    ['routing.access.groups', access.groups],
    ['routing.dispatch', dispatch],
    ['session.sendPolicy.rules', sendPolicy.rules],
    ['retention.rules', retention?.rules ?? []],
  ]
  return lists.flatMap(([path, rules]) =>
    rules.map(({ match: { channel, chat } }, index) => ({
      path: `${path}[${index}].match.chat`,
      channel,
      chat: chat?.trim().replace(/^group:/, ''),
    })),
  )
}

function placesOf({ id, definition: { deliverTo, digestOf } }: ConfiguredSchedule): readonly NamedPlace[] {
  return [
    { path: `schedules.${id}.deliverTo`, ...deliverTo },
    ...(digestOf === undefined ? [] : [{ path: `schedules.${id}.digestOf`, ...digestOf }]),
  ]
}
