import type { Channels } from '../core/channel-traits.ts'
import { formatPath, type Mistake } from './mistake.ts'
import type { ConfigFile } from './schema.ts'

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
