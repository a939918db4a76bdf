import { type Address, formatAddress, parseAddress } from '../core/address.ts'
import { type AgentId, toAgentId, toScheduleId } from '../core/ids.ts'
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

interface Surrounding {
  readonly agents: ReadonlySet<AgentId>
  readonly accounts: ReadonlySet<string>
  readonly mistakes: Mistake[]
}

type Block = ConfigFile['schedules'][number]
type Field = 'id' | 'agent' | 'digestOf' | 'deliverTo'

/** The schedules with their addresses, in places and by agents that exist. */
export function buildSchedules(
  file: ConfigFile,
  known: { readonly agents: readonly AgentId[]; readonly down: Config['down'] },
): { readonly schedules: readonly ConfiguredSchedule[]; readonly mistakes: readonly Mistake[] } {
  const accounts = new Set(accountsOf(file, known.down))
  const around: Surrounding = { agents: new Set(known.agents), accounts, mistakes: [] }
  const earlier = new Set<string>()
  const schedules = file.schedules.flatMap((block, index) => {
    if (earlier.has(block.id)) report(around, { index, field: 'id' }, () => `there is another schedule ${block.id}`)
    earlier.add(block.id)
    return build(block, index, around) ?? []
  })
  return { schedules, mistakes: around.mistakes }
}

/** Returns the mistakes in schedule times that the calendar shows. */
export async function timingMistakes({ schedules }: ConfigFile, check: CheckTiming): Promise<readonly Mistake[]> {
  const checked = await Promise.all(
    schedules.map(async ({ cron, timezone = ownTimezone() }, index): Promise<Mistake[]> => {
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
  const deliverTo = place(block.deliverTo, { index, field: 'deliverTo' }, around)
  const digestOf = block.digestOf && place(block.digestOf, { index, field: 'digestOf' }, around)
  const agent = block.agent === undefined ? undefined : agentNamed(block.agent, index, around)
  const missed = parseMissed(block.missed)
  if (!deliverTo || !missed) return undefined
  const timezone = block.timezone ?? ownTimezone()
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

function ownTimezone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

interface At {
  readonly index: number
  readonly field: Field
}

function agentNamed(name: string, index: number, around: Surrounding): AgentId | undefined {
  const agent = toAgentId(name)
  if (around.agents.has(agent)) return agent
  report(around, { index, field: 'agent' }, () => {
    const known = [...around.agents]
    return `there is no agent ${name}; known: ${known.join(', ')}${suggestion(name, known)}`
  })
  return undefined
}

const FORM = 'write <channel>:<direct|group|channel>:<chat>[/<topic>], with @<account> behind a channel of several'

function place(text: string, at: At, around: Surrounding): Address | undefined {
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
function report({ mistakes }: Surrounding, { index, field }: At, words: () => string): void {
  mistakes.push({
    path: ['schedules', index, field],
    get message() {
      return `schedules[${index}].${field}: ${words()}`
    },
  })
}
