import { expect, test } from 'vitest'
import { Seen } from '../../adapters/discord/inbound/positions.ts'
import { createOutbound as createDiscordOutbound } from '../../adapters/discord/outbound/send.ts'
import type { CallOptions, CallOutcome } from '../../adapters/telegram/connection/client.ts'
import { createOutbound } from '../../adapters/telegram/outbound/send.ts'
import { parseAddress } from '../../src/core/address.ts'
import { RecordingSink } from '../contracts/recording-sink.ts'
import { ManualClock } from './telegram/manual-clock.ts'

const HOUR = 3_600_000
const { signal } = new AbortController()
const rendered = { text: '<b>bold', plain: 'bold', markup: 'html' } as const

test('F-E05: a mended send has what is left of its 15 s, however the clock is set meanwhile', async () => {
  for (const step of [-HOUR, HOUR]) {
    const clock = new ManualClock()
    const deadlines: number[] = []
    const client = {
      close: () => {},
      async call(_method: string, _params: object, { deadlineMs }: CallOptions): Promise<CallOutcome> {
        deadlines.push(deadlineMs)
        if (deadlines.length > 1) return { kind: 'answered', result: { message_id: 5 } }
        await clock.advance(4_000)
        clock.setBy(step)
        return { kind: 'refused', code: 400, description: "Bad Request: can't parse entities" }
      },
    }
    const address = parseAddress('telegram:direct:111')
    await createOutbound(client as never, clock).send({ address, key: 'k', rendered }, signal)
    expect(deadlines).toEqual([15_000, 11_000])
  }
})

test('F-E05: a Discord send has what is left of its 15 s after its chat was looked up', async () => {
  const clock = new ManualClock()
  const deadlines: number[] = []
  const client = {
    async call(_call: object, { deadlineMs }: CallOptions) {
      deadlines.push(deadlineMs)
      return { kind: 'failed', reason: 'over', bytesMayHaveLeft: false }
    },
  }
  const directs = {
    async locate() {
      await clock.advance(4_000)
      clock.setBy(-HOUR)
      return { id: '1000000000000000000' }
    },
  }
  const outbound = createDiscordOutbound({ client, directs, clock } as never)
  await outbound.send({ address: parseAddress('discord:direct:222'), key: 'k', rendered }, signal)
  expect(deadlines).toEqual([11_000])
})

test('F-E05: up to when Discord told everything is known by its own clock', async () => {
  const sink = new RecordingSink()
  const clock = new ManualClock()
  const right = clock.now()
  clock.setBy(24 * HOUR)
  const seen = new Seen(sink.state, clock)
  await seen.saw(seen.now())
  seen.proveUpTo(right)
  await clock.advance(5_000)
  seen.received()
  await seen.storeReceived()
  expect(seen.at).toBe(right + 5_000)
  clock.setBy(-48 * HOUR)
  await clock.advance(5_000)
  seen.received()
  await seen.storeReceived()
  expect(seen.at).toBe(right + 10_000)
  seen.proveUpTo(right + 60_000)
  expect(seen.now()).toBe(right + 60_000)
})
