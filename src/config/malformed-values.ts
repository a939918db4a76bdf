import type { Channels } from '../core/channel-traits.ts'
import { isWellFormedId } from '../core/platform-id.ts'
import { type ConfigPath, formatPath, type Mistake } from './mistake.ts'
import type { ConfigFile } from './schema.ts'

/** Every `<channel>:<id>` that no sender there can have: it would let nobody in, and a rule would deny nobody. */
export function malformedIdMistakes(file: ConfigFile, { ids, traits }: Channels): Mistake[] {
  return [...personIds(file), ...ruleIds(file)].flatMap(({ path, text }) => {
    const channel = ids.find((one) => text.toLowerCase().startsWith(`${one}:`))
    if (channel === undefined || isWellFormedId(traits(channel).ids, text.slice(channel.length + 1).trim())) return []
    return { path, message: `${formatPath(path)}: ${text} can be nobody's id; write the id that /whoami says` }
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

/** A warning for each token that does not look like one of its platform, which would refuse it without saying why. */
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
