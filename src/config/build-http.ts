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
