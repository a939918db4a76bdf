import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { LiveText } from '../../src/core/operate-events.ts'
import type { SessionEventReport } from '../../src/core/operate-sessions.ts'
import { lastUserText, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { type OpenStream, openLocal } from '../http/open-stream.ts'
import { type Household, startHousehold } from './household.ts'

type Seen = { readonly event: SessionEventReport } | { readonly text: LiveText } | { readonly other: string }

/** Reads frames up to the one that `last` accepts. */
async function seenUntil(stream: OpenStream, last: (seen: Seen) => boolean): Promise<Seen[]> {
  const all: Seen[] = []
  for (;;) {
    const frame = await stream.next()
    if (frame === undefined) throw new Error('The stream ended.')
    const data = JSON.parse(frame.data)
    const seen =
      frame.event === 'message' ? { event: data } : frame.event === 'delta' ? { text: data } : { other: frame.event }
    all.push(seen)
    if (last(seen)) return all
  }
}

const isType = (type: string) => (seen: Seen) => 'event' in seen && seen.event.type.replace('session:', '') === type

async function follow({ daemon, dataDir, telegram }: Household) {
  telegram.world.say({ from: 111, text: 'hello' })
  const first = async () => (await daemon.operator.sessions.list({ limit: 1, offset: 0, inactive: true })).sessions[0]
  await expect.poll(async () => (await first())?.turns, { timeout: 20_000 }).toBe(1)
  const session = await first()
  if (!session) throw new Error('Ada has a session.')
  const path = `/v1/sessions/${encodeURIComponent(session.id)}/events?deltas=true`
  return { session, stream: await openLocal(join(dataDir, 'parley.sock'), path) }
}

it('C8: nothing of a turn is delivered behind its cancelled event, and the next turn continues the numbers', async () => {
  const gate = createGate()
  const house = await startHousehold({
    script: (request) =>
      lastUserText(request).includes('long')
        ? textReply('one and two and three and four', { holds: [{ beforeDelta: 2, gate }] })
        : textReply(`echo ${lastUserText(request)}`),
  })
  const { session, stream } = await follow(house)
  const { world } = house.telegram
  world.say({ from: 111, text: 'a long one' })
  const before = await seenUntil(stream, (seen) => 'text' in seen && seen.text.text !== '')
  world.say({ from: 111, text: '/stop' })
  const cancelled = await seenUntil(stream, isType('turn_cancelled'))
  gate.release()
  const [end] = cancelled.slice(-1)
  const turn = end && 'event' in end ? end.event.turn : undefined
  expect(turn).toEqual(expect.stringMatching(/^turn_/))
  world.say({ from: 111, text: 'and now?' })
  const after = await seenUntil(stream, isType('turn_completed'))
  expect(
    after.filter((seen) => ('event' in seen ? seen.event.turn : 'text' in seen && seen.text.turn) === turn),
  ).toEqual([])
  const events = [...before, ...cancelled, ...after].flatMap((seen) => ('event' in seen ? [seen.event] : []))
  const { events: history, total } = await house.daemon.operator.sessions.history(session.id, { limit: 200 })
  expect(events).toEqual(history.slice(-events.length))
  expect(history.map(({ seq }) => seq)).toEqual(Array.from({ length: total }, (_, index) => index + 1))
})

it('S48, S31: the text of a running answer grows without a part of a marker, and ends with its turn', async () => {
  const answer = 'First <NO_REPLY> second, and a third that is long enough to come in several pieces <EMPTY_RESPONSE>'
  const house = await startHousehold({ script: () => textReply(answer, { delayMs: 30 }) })
  const { stream } = await follow(house)
  house.telegram.world.say({ from: 111, text: 'tell me' })
  const seen = await seenUntil(stream, isType('turn_completed'))
  const texts = seen.flatMap((one) => ('text' in one ? [one.text] : []))
  let shown = ''
  for (const { from, text } of texts) {
    shown = shown.slice(0, from) + text
    expect(shown).not.toMatch(/<|NO_REPLY|EMPTY/)
  }
  expect(texts.length).toBeGreaterThan(1)
  expect(shown).toMatch(/^First\s+second, and a third/)
})

it('a stop of the daemon does not wait for those who follow', async () => {
  const house = await startHousehold({})
  const { stream } = await follow(house)
  const stopped = house.daemon.stop()
  expect((await seenUntil(stream, (seen) => 'other' in seen && seen.other === 'end')).at(-1)).toEqual({ other: 'end' })
  await stopped
})
