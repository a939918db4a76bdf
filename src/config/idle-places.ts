import { OWN_CHANNELS } from '../core/channel-traits.ts'
import type { ConfigFile } from './schema.ts'

const TYPES: readonly string[] = ['direct', 'group', 'channel']
/** `<channel>[@<account>]:<rest>` */
const OF_CHANNEL = /^([a-z][a-z0-9_-]*)(?:@[^:]+)?:(.*)$/i

/**
 * Returns one warning for each place in a rule for tools that no session can have as its name: a rule that denies
 * something there would deny nothing.
 */
export function idlePlaceWarnings({ tools: { policy, mcp }, session, channels }: ConfigFile): readonly string[] {
  const known = Object.keys(channels)
  const warned = (path: string, keys: readonly string[] = []): readonly string[] =>
    keys.flatMap((key, index) => {
      const why = whyIdle(key, known, session.scope)
      return why === undefined ? [] : [`${path}.in[${index}]: no session is called ${key}, so it does nothing; ${why}`]
    })
  return [
    ...policy.flatMap((rule, index) => warned(`tools.policy[${index}]`, rule.in)),
    ...Object.entries(mcp).flatMap(([name, { inside }]) =>
      inside.flatMap((one, index) =>
        typeof one === 'string' ? [] : warned(`tools.mcp.${name}.inside[${index}]`, one.in),
      ),
    ),
  ]
}

function whyIdle(key: string, channels: readonly string[], scope: string): string | undefined {
  const [, channel = '', rest = ''] = OF_CHANNEL.exec(key) ?? []
  const name = channel.toLowerCase()
  if (!channels.includes(name) || OWN_CHANNELS.includes(name)) return undefined
  const [type = ''] = rest.split(':')
  if (channel !== name || !rest.includes(':') || !TYPES.includes(type))
    return `write ${name}:direct:<chat>, ${name}:group:<chat> or ${name}:channel:<chat>, as parley sessions show says it`
  if (scope !== 'global' || type !== 'direct') return undefined
  return 'with session.scope global all direct chats are one session, main'
}
