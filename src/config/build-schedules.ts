import { type Address, formatAddress, parseAddress } from '../core/address.ts'
import { type AgentId, toAgentId, toScheduleId } from '../core/ids.ts'
import { machineZone } from '../core/machine-zone.ts'
import { type ConfiguredSchedule, parseMissed } from '../core/schedule.ts'
import type { Config } from './config.ts'
import { suggestion } from './describe-issue.ts'
import type { Mistake } from './mistake.ts'
import type { ConfigFile } from './schema.ts'

/** Says what is wrong with the times of a schedule, and the remedy. Known to the scheduler. */
export type CheckTiming = (timing: {
  readonly cron: string
  readonly timezone: string
}) => Promise<readonly { readonly field: 'cron' | 'timezone'; readonly message: string }[]>

export interface Surrounding {
  readonly agents: ReadonlySet<AgentId>
  readonly accounts: ReadonlySet<string>
  readonly mistakes: Mistake[]
}

type Block = ConfigFile['schedules'][number]

/** The schedules with their addresses, in places and by agents that exist. */
export function buildSchedules(
  file: ConfigFile,
  known: { readonly agents: readonly AgentId[]; readonly down: Config['down'] },
): { readonly schedules: readonly ConfiguredSchedule[]; readonly mistakes: readonly Mistake[] } {
  const around = surroundingOf(file, known)
  const earlier = new Set<string>()
  const schedules = file.schedules.flatMap((block, index) => {
    if (earlier.has(block.id)) report(around, ['schedules', index, 'id'], () => `there is another schedule ${block.id}`)
    earlier.add(block.id)
    return build(block, index, around) ?? []
  })
  return { schedules, mistakes: around.mistakes }
}

/** Returns the agents and places that there are, and where mistakes about them are collected. */
export function surroundingOf(
  file: ConfigFile,
  known: { readonly agents: readonly AgentId[]; readonly down: Config['down'] },
): Surrounding {
  return { agents: new Set(known.agents), accounts: new Set(accountsOf(file, known.down)), mistakes: [] }
}

/** Returns the mistakes in schedule times that the calendar shows. */
export async function timingMistakes({ schedules }: ConfigFile, check: CheckTiming): Promise<readonly Mistake[]> {
  const checked = await Promise.all(
    schedules.map(async ({ cron, timezone = machineZone() }, index): Promise<Mistake[]> => {
      return (await check({ cron, timezone })).map(({ field, message }) => ({
        path: ['schedules', index, field],
        message: `schedules[${index}].${field}: ${message}`,
      }))
    }),
  )
  return checked.flat()
}

function build(block: Block, index: number, around: Surrounding): ConfiguredSchedule | undefined {
  const { id, cron, prompt, overlap } = block
  const deliverTo = placeNamed(block.deliverTo, ['schedules', index, 'deliverTo'], around)
  const digestOf = block.digestOf && placeNamed(block.digestOf, ['schedules', index, 'digestOf'], around)
  const agent = block.agent === undefined ? undefined : agentNamed(block.agent, ['schedules', index, 'agent'], around)
  const missed = parseMissed(block.missed)
  if (!deliverTo || !missed) return undefined
  const timezone = block.timezone ?? machineZone()
  return {
    id: toScheduleId(id),
    definition: {
      cron,
      timezone,
      ...(agent === undefined ? {} : { agent }),
      prompt,
      ...(digestOf ? { digestOf } : {}),
      deliverTo,
      missed,
      overlap,
    },
  }
}

/** The place of a setting: `['schedules', 0, 'agent']`. */
type At = readonly (string | number)[]

/** Returns the agent of that name; where there is none, that is a mistake. */
export function agentNamed(name: string, at: At, around: Surrounding): AgentId | undefined {
  const agent = toAgentId(name)
  if (around.agents.has(agent)) return agent
  report(around, at, () => {
    const known = [...around.agents]
    return `there is no agent ${name}; known: ${known.join(', ')}${suggestion(name, known)}`
  })
  return undefined
}

const FORM = 'write <channel>:<direct|group|channel>:<chat>[/<topic>], with @<account> behind a channel of several'

/** Returns the place, which has to be on a channel of the file; any other is a mistake. */
export function placeNamed(text: string, at: At, around: Surrounding): Address | undefined {
  const address = readAddress(text)
  if (address && around.accounts.has(`${address.channel}@${address.account}`)) return address
  report(around, at, () => {
    const known = [...around.accounts].map((name) => name.replace(/@default$/, '')).join(', ')
    const what = address ? `${formatAddress(address)} is on no channel of this file` : `"${text}" is no address`
    return `${what}; ${FORM}; channels: ${known || 'none'}`
  })
  return undefined
}

/** Undefined for a channel that does not exist. */
function readAddress(text: string): Address | undefined {
  try {
    return parseAddress(text)
  } catch {
    return undefined
  }
}

/** `telegram@default`. Also those that are down: what goes there waits. */
function accountsOf({ channels }: ConfigFile, down: Config['down']): readonly string[] {
  const configured = Object.entries(channels).flatMap(([channel, block]) =>
    Object.keys(block?.accounts ?? {}).map((account) => `${channel}@${account}`),
  )
  return [...configured, ...down.map(({ channel, account }) => `${channel}@${account}`)]
}

/** Its words name all there is to choose from: they are found when the message is read. */
function report({ mistakes }: Surrounding, at: At, words: () => string): void {
  const name = at.map((part, depth) => (typeof part === 'number' ? `[${part}]` : `${depth === 0 ? '' : '.'}${part}`))
  mistakes.push({
    path: [...at],
    get message() {
      return `${name.join('')}: ${words()}`
    },
  })
}
