import type { Channels } from '../core/channel-traits.ts'
import { toPersonId } from '../core/ids.ts'
import { suggestion } from './describe-issue.ts'
import { formatPath, type Mistake } from './mistake.ts'
import type { ConfigFile } from './schema.ts'

/** The names in a rule for tools that stand for many people. */
const ANYBODY: readonly string[] = ['owner', 'member', 'everybody']

/** Every name of a rule for tools that is nobody's: a rule that denies would deny nobody. */
export function unknownNameMistakes({ tools, people }: ConfigFile): Mistake[] {
  const named = Object.keys(people)
  const known = [...ANYBODY, ...named]
  return tools.policy.flatMap(({ who, approvers = [], action }, index) => {
    const path = ['tools', 'policy', index] as const
    if (approvers.length > 0 && action !== 'ask')
      return [{ path: [...path, 'approvers'], message: `tools.policy[${index}].approvers: ${ONLY_ASKING}` }]
    return [
      ...unknown(who, { path: [...path, 'who'], known, instead: `, or ${ANYBODY.join(', ')}` }),
      ...unknown(approvers, { path: [...path, 'approvers'], known: named, instead: '; an owner may always answer' }),
    ]
  })
}

const ONLY_ASKING = 'nobody is asked under a rule that allows or denies; set action: ask, or remove them'

interface Naming {
  readonly path: Mistake['path']
  readonly known: readonly string[]
  readonly instead: string
}

function unknown(names: readonly string[], { path, known, instead }: Naming): readonly Mistake[] {
  const there = new Set(known.map(toPersonId))
  return names.flatMap((name, place): Mistake | [] => {
    if (there.has(toPersonId(name))) return []
    return {
      path: [...path, place],
      // Compares the name with all others: it is put into words only where it is read.
      get message() {
        return `${formatPath([...path, place])}: there is nobody called ${name} under people; write one of those names${instead}${suggestion(name, known)}`
      },
    }
  })
}

interface Listener {
  readonly path: Mistake['path']
  readonly host: string
  readonly port: number
}

/**
 * A mistake for each account that would take requests where another one does already: the second could never come up.
 */
export function sharedPortMistakes({ channels }: ConfigFile, { traits }: Channels): Mistake[] {
  const all = Object.entries(channels).flatMap(([channel, block]) =>
    Object.entries(block?.accounts ?? {}).flatMap(([account, settings]) => {
      const listen = listenOf(settings, traits(channel).listensIn)
      return listen === undefined ? [] : [{ ...listen, path: ['channels', channel, 'accounts', account, 'listen'] }]
    }),
  )
  return all.flatMap((listener, at) => {
    const other = all.slice(0, at).find((one) => meet(one, listener))
    if (other === undefined) return []
    const { path, port } = listener
    const message = `${formatPath(path)}: ${formatPath(other.path)} has port ${port} already; give each account a port of its own`
    return [{ path, message }]
  })
}

function listenOf(settings: unknown, mode: string | undefined): Pick<Listener, 'host' | 'port'> | undefined {
  const { mode: own, listen } = (settings ?? {}) as { mode?: unknown; listen?: { host: string; port: number } }
  return mode === undefined || own !== mode || listen === undefined || listen.port === 0 ? undefined : listen
}

const EVERYWHERE = ['0.0.0.0', '::']

function meet(one: Listener, other: Listener): boolean {
  if (one.port !== other.port) return false
  return one.host === other.host || [one.host, other.host].some((host) => EVERYWHERE.includes(host))
}
