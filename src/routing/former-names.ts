import type { ChatMove } from '../core/chat-move.ts'
import type { PlaceMatch, RoutingPolicy } from '../core/policy.ts'
import type { ConfiguredSchedule } from '../core/schedule.ts'

/** The settings that name a chat by an id it had before. They still work; a line for each says what to write. */
export function formerNames(
  config: { readonly routing: RoutingPolicy; readonly schedules: readonly ConfiguredSchedule[] },
  moves: readonly ChatMove[],
): readonly string[] {
  const places = [...matchesOf(config.routing), ...config.schedules.flatMap(placesOf)]
  return moves.flatMap(({ channel, from, to }) =>
    places
      .filter((place) => (place.channel ?? channel) === channel && place.chat === from)
      .map(({ path }) => `${path}: ${from} is the former id of the chat; write ${to}`),
  )
}

interface NamedPlace {
  readonly path: string
  readonly channel: string | undefined
  readonly chat: string | undefined
}

function matchesOf({ access, dispatch, sendPolicy }: RoutingPolicy): readonly NamedPlace[] {
  const lists: readonly [string, readonly { readonly match: PlaceMatch }[]][] = [
    ['routing.access.groups', access.groups],
    ['routing.dispatch', dispatch],
    ['session.sendPolicy.rules', sendPolicy.rules],
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
