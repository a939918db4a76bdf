import { type Address, addressNamed, formatAddress } from '../core/address.ts'
import { agentNamed, placeNamed, type Surrounding, surroundingOf } from './build-schedules.ts'
import type { Config, InboundHookSettings } from './config.ts'
import type { Mistake } from './mistake.ts'
import type { ConfigFile } from './schema.ts'
import { Secret } from './secrets.ts'

type Block = NonNullable<ConfigFile['http']>['hooks'][string]

/** Builds the API's settings; its hooks name agents and places that exist. */
export function buildHttp(
  file: ConfigFile,
  known: Parameters<typeof surroundingOf>[1],
): { readonly http: Pick<Config, 'http'>; readonly mistakes: readonly Mistake[] } {
  if (file.http === undefined) return { http: {}, mistakes: [] }
  const around = surroundingOf(file, known)
  const { hooks: blocks, ...settings } = file.http
  const hooks = Object.entries(blocks).map(([name, block]) => build(name, block, around))
  return { http: { http: { ...settings, ...(hooks.length === 0 ? {} : { hooks }) } }, mistakes: around.mistakes }
}

/**
 * Returns one warning for each hook that has the secret of another one, or of a hook of the daemon's own: a call that
 * somebody has kept of the one is signed for the other too.
 */
export function sharedSecretWarnings({ http, hooks }: ConfigFile): readonly string[] {
  const signing = Object.entries(hooks).flatMap(([name, { secret }]) =>
    secret === undefined ? [] : [{ path: `hooks.${name}`, secret }],
  )
  const called = Object.entries(http?.hooks ?? {}).map(([name, { secret }]) => ({ path: `http.hooks.${name}`, secret }))
  return called.flatMap(({ path, secret }, at) => {
    const other = [...signing, ...called.slice(0, at)].find((one) => one.secret === secret)
    if (other === undefined) return []
    return [
      `${path}.secret: ${other.path} has the same secret, so whoever keeps a call of the one could send it to the other; give each its own`,
    ]
  })
}

/**
 * Returns one warning for each session that a hook may go to while its answers are posted in another chat, of many
 * people: a call could have the agent say there what only the people of that session know.
 */
export function shownInGroupWarnings({ http }: ConfigFile): readonly string[] {
  return Object.entries(http?.hooks ?? {}).flatMap(([name, { sessions, deliverTo = '' }]) => {
    const place = addressNamed(deliverTo)
    if (place === undefined || place.chatType === 'direct') return []
    return sessions.flatMap((session, index) => {
      if (chatOf(addressNamed(session)) === chatOf(place)) return []
      return [
        `http.hooks.${name}.sessions[${index}]: what the agent answers to a call in ${session} is posted in ${deliverTo}, which is http.hooks.${name}.deliverTo, and everybody there reads it; keep one of the two`,
      ]
    })
  })
}

/** The topics of a chat have the same people. */
function chatOf(address: Address | undefined): string | undefined {
  if (address === undefined) return undefined
  const { topic: _, ...chat } = address
  return formatAddress(chat)
}

function build(name: string, { secret, signature, sessions, prompt, ...block }: Block, around: Surrounding) {
  const at = ['http', 'hooks', name]
  const deliverTo = block.deliverTo && placeNamed(block.deliverTo, [...at, 'deliverTo'], around)
  const agent = block.agent === undefined ? undefined : agentNamed(block.agent, [...at, 'agent'], around)
  const hook: InboundHookSettings = {
    ...{ name, secret: new Secret(secret), signature, sessions },
    ...(agent === undefined ? {} : { agent }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(deliverTo ? { deliverTo } : {}),
  }
  return hook
}
