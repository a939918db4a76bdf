import type { Channels } from '../core/channel-traits.ts'
import { isWellFormedId, nobodysId } from '../core/platform-id.ts'
import { type ConfigPath, formatPath, type Mistake } from './mistake.ts'
import type { ConfigFile } from './schema.ts'

/**
 * Every `<channel>:<id>` that no sender there can have: it would let nobody in, and a rule would deny nobody. The id of
 * a person without a channel is one that no platform of the configuration can have.
 */
export function malformedIdMistakes(file: ConfigFile, { ids, traits }: Channels): Mistake[] {
  const configured = Object.keys(file.channels)
  return [...personIds(file), ...ruleIds(file)].flatMap(({ path, text }) => {
    const channel = ids.find((one) => text.toLowerCase().startsWith(`${one}:`))
    // A rule may name a person by their name instead; the prefix of no channel is warned of.
    if (channel === undefined && (path[0] !== 'people' || text.includes(':'))) return []
    const own = text.slice(channel === undefined ? 0 : channel.length + 1).trim()
    const possible = (channel === undefined ? configured : [channel]).map(traits)
    if (possible.length === 0 || possible.some((one) => isWellFormedId(one.ids, own))) return []
    const remedy = channel === undefined ? 'write <channel>:<id> as /whoami says it' : 'write the id that /whoami says'
    return { path, message: `${formatPath(path)}: ${nobodysId(possible, text)}; ${remedy}` }
  })
}

interface NamedId {
  readonly path: ConfigPath
  readonly text: string
}

function personIds({ people }: ConfigFile): NamedId[] {
  return Object.entries(people).flatMap(([name, { ids }]) =>
    ids.map((text, index) => ({ path: ['people', name, 'ids', index], text })),
  )
}

function ruleIds({ routing: { access, dispatch }, session: { sendPolicy } }: ConfigFile): NamedId[] {
  const bots = access.groups.flatMap(({ botIds = [] }, index) =>
    botIds.map((text, place) => ({ path: ['routing', 'access', 'groups', index, 'botIds', place], text })),
  )
  const senders = dispatch.flatMap(({ match: { sender } }, index) =>
    sender === undefined ? [] : { path: ['routing', 'dispatch', index, 'match', 'sender'], text: sender },
  )
  const denied = sendPolicy.rules.flatMap(({ match: { person } }, index) =>
    person === undefined ? [] : { path: ['session', 'sendPolicy', 'rules', index, 'match', 'person'], text: person },
  )
  return [...bots, ...senders, ...denied]
}

/** A warning for each token of another form than its platform gives: it would be refused without a reason. */
export function mistakenTokenWarnings({ channels }: ConfigFile, { platforms, traits }: Channels): string[] {
  return Object.entries(channels).flatMap(([channel, block]) =>
    Object.entries(block?.accounts ?? {}).flatMap(([account, settings]) => {
      const token = tokenOf(settings)
      const looks = (platform: string): boolean => token !== undefined && traits(platform).token?.test(token) === true
      if (token === undefined || traits(channel).token === undefined || looks(channel)) return []
      const path = `channels.${channel}.accounts.${account}.token`
      const other = platforms.find(looks)
      return other === undefined
        ? `${path}: this does not look like a token of ${traits(channel).name}; copy it again, whole`
        : `${path}: this looks like a token of ${other}; put it under channels.${other}, and the one of ${channel} here`
    }),
  )
}

function tokenOf(settings: unknown): string | undefined {
  if (typeof settings !== 'object' || settings === null || !('token' in settings)) return undefined
  return typeof settings.token === 'string' ? settings.token : undefined
}
