import type { z } from 'zod'
import { catalogue } from '../../adapters/index.ts'
import type { ChannelPlugin } from '../../src/channels/adapter.ts'
import type { ChannelSetup, Examination, ExamineRequest, SetupPlace } from '../../src/channels/setup.ts'
import type { Address } from '../../src/core/address.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import type { Finding } from '../../src/core/finding.ts'
import { toAccountId } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'

export type Platform = keyof typeof catalogue

interface Asked extends Partial<ExamineRequest> {
  readonly clock?: Clock
  readonly account?: string
}

export function setupOf(platform: Platform): Promise<ChannelSetup<never>> {
  return (catalogue[platform] as ChannelPlugin<never>).loadSetup()
}

/** Examines an account whose block of the file is `block`; without further words a daemon runs beside. */
export async function examine(platform: Platform, block: object, asked: Asked = {}): Promise<Examination> {
  const { clock = systemClock, account = 'default', signal = new AbortController().signal, ...request } = asked
  const setup = await setupOf(platform)
  const schema: z.ZodType = catalogue[platform].configSchema
  const services = { clock, logger: silentLogger, random: () => 0 }
  const settings = { account, config: schema.parse(block) as never, services }
  return setup.examine(settings, { places: [], beside: true, signal, ...request })
}

/** Returns the findings that are not good, as `check state`. */
export function troubles({ findings }: Examination): readonly string[] {
  return findings.filter(({ state }) => state !== 'ok').map(({ check, state }) => `${check} ${state}`)
}

export function findingsOf({ findings }: Examination, check: string): readonly Finding[] {
  return findings.filter((finding) => finding.check === check)
}

export function placeOf(
  channel: Platform,
  chat: string | number,
  more: Partial<Address> & { readonly title?: string } = {},
): SetupPlace {
  const { title, ...address } = more
  return {
    address: { channel, account: toAccountId('default'), chatType: 'group', chat: String(chat), ...address },
    ...(title === undefined ? {} : { title }),
  }
}
