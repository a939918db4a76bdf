import { describe, expect, it } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { toScheduleId } from '../../src/core/ids.ts'
import type { CronDefinition } from '../../src/core/schedule.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { sample } from '../sample.ts'
import { type Household, recorded, startHousehold } from './household.ts'
import { type SetClock, setClock } from './set-clock.ts'
import { startTwoMore, type TwoMore } from './three-platforms.ts'

const OFFICE = -1001000000002

/** Repeats what people said in the digest, and answers everything else with what it was asked. */
const summing: Script = (request) => {
  const text = lastUserText(request)
  const said = [...text.matchAll(/^> \[.*?\] (.*)$/gm)].map(([, line]) => line)
  if (!text.startsWith('Summarise')) return textReply(`heard ${text.split('\n').at(-1)}`)
  return textReply(said.length === 0 ? '<NO_REPLY>' : `Digest: ${said.join('; ')}`)
}

type Source = 'discord' | 'slack'

interface Scene extends Household, TwoMore {
  readonly clock: SetClock
  readonly topic: number
}

/** At 02:30 in Berlin the topic of the office's forum gets a digest of a channel elsewhere. */
async function office(source: Source, start: string): Promise<Scene> {
  const clock = setClock(start)
  const more = await startTwoMore()
  const timing = { timezone: 'Europe/Berlin', missed: { kind: 'once' }, overlap: 'skip' } as const
  let topic = 0
  const house = await startHousehold({
    script: summing,
    clock,
    beside: more,
    schedules: ({ world }) => {
      world.addChat({ type: 'supergroup', title: 'Office', id: OFFICE, forum: true, members: [111, 444] })
      topic = world.addTopic({ chat: OFFICE, name: 'Digest' })
      const digest: CronDefinition = {
        ...timing,
        cron: '30 2 * * *',
        prompt: 'Summarise the channel.',
        digestOf: parseAddress(`${source}:channel:${more.rooms[source]}`),
        deliverTo: parseAddress(`telegram:group:${OFFICE}/${topic}`),
      }
      const deliverTo = parseAddress('telegram:direct:111')
      const witness: CronDefinition = { ...timing, cron: '*/15 * * * *', prompt: 'tick', deliverTo }
      return [
        { id: toScheduleId('morning'), definition: digest },
        { id: toScheduleId('witness'), definition: witness },
      ]
    },
  })
  house.telegram.world.say({ from: 111, text: '/help' })
  await house.telegram.ledger.nextFromBot('sent')
  return Object.assign(house, more, { clock, topic })
}

/** Bob says something in the channel, to nobody, and it is stored. */
async function overhear({ discord, slack, rooms }: Scene, source: Source, text: string): Promise<void> {
  if (source === 'slack') {
    const { ts } = slack.world.say({ from: 'U444', channel: rooms.slack, text })
    return slack.ledger.confirmed(ts)
  }
  const { world, ledger } = discord
  world.say({ from: '444', channel: rooms.discord, text })
  // Its gateway acknowledges nothing: what was said later is answered later.
  world.say({ from: '444', channel: rooms.discord, text: `<@${world.bot.id}> so that ${text}` })
  await ledger.next((entry) => entry.kind === 'message' && entry.byBot && entry.text.includes(`so that ${text}`))
}

const nextIn = ({ telegram }: Household, chat: number, after: number) =>
  telegram.ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })

/** Sets the clock and waits until a tick has seen it: the witness is looked at after the digest. */
async function passTo(scene: Scene, at: string): Promise<void> {
  const mark = scene.telegram.ledger.mark()
  scene.clock.set(at)
  await nextIn(scene, 111, mark)
  await recorded(scene)
}

const digests = ({ telegram }: Household): string[] =>
  telegram.world.messages(OFFICE, { by: 'bot' }).map(({ message }) => message.text ?? '')

const lastRun = async ({ daemon }: Household) =>
  (await daemon.operator.schedules.list()).find(({ id }) => id === 'morning')?.last

const minutes = (at: string, count: number): string => new Date(Date.parse(at) + count * 60_000).toISOString()

const SEASONS = [
  { season: 'spring', before: '2026-03-29T01:15:01Z', due: '2026-03-29T01:30:01Z', next: '2026-03-30T00:30:01Z' },
  { season: 'autumn', before: '2026-10-25T00:15:01Z', due: '2026-10-25T00:30:01Z', next: '2026-10-26T01:30:01Z' },
] as const
const SOURCES = ['discord', 'slack'] as const
const CASES = SOURCES.flatMap((source) => SEASONS.map((season) => ({ source, ...season })))

describe("UB5: a scheduled digest of one platform's channel into a topic of another", () => {
  for (const { source, season, before, due, next } of sample(CASES, 3)) {
    const title = `UB5: ${source} to Telegram over the change of clocks in ${season}: once a day, each message once`
    it(title, async () => {
      const scene = await office(source, minutes(before, -10))
      await overhear(scene, source, 'dinner at seven')
      await passTo(scene, before)
      expect(digests(scene)).toEqual([])
      const mark = scene.telegram.ledger.mark()
      scene.clock.set(due)
      expect(await nextIn(scene, OFFICE, mark)).toMatchObject({ topic: scene.topic })
      await recorded(scene)
      // In autumn this is 02:30 once more.
      await passTo(scene, minutes(due, 60))
      await overhear(scene, source, 'bring bread')
      const later = scene.telegram.ledger.mark()
      scene.clock.set(next)
      expect(await nextIn(scene, OFFICE, later)).toMatchObject({ topic: scene.topic })

      const [first, second, ...more] = digests(scene)
      expect(more).toEqual([])
      expect(first).toMatch(/^Digest: Bob: dinner at seven/)
      expect(second).toMatch(/^Digest: Bob: bring bread/)
      expect(second).not.toContain('dinner')
    })
  }

  it.each(SOURCES)('UB5: %s to Telegram: nothing was said, the run is silent and counts', async (source) => {
    const scene = await office(source, '2026-11-21T01:20Z')
    await passTo(scene, '2026-11-21T01:30:01Z')
    await passTo(scene, '2026-11-21T01:45:01Z')
    await passTo(scene, '2026-11-21T02:00:01Z')

    // The witness may be done before the run is.
    await expect.poll(() => lastRun(scene)).toMatchObject({ state: 'done', outcome: 'silent' })
    expect(digests(scene)).toEqual([])
  })

  for (const source of SOURCES) {
    it(`UB5: ${source} to Telegram: a daemon that was down when it was due delivers it once`, async () => {
      const scene = await office(source, '2026-11-21T01:20Z')
      await overhear(scene, source, 'dinner at seven')
      await scene.daemon.stop()
      scene.clock.set('2026-11-21T01:40:01Z')
      const mark = scene.telegram.ledger.mark()
      await scene.restart()
      expect(await nextIn(scene, OFFICE, mark)).toMatchObject({ topic: scene.topic })
      await passTo(scene, '2026-11-21T01:45:01Z')
      await passTo(scene, '2026-11-21T02:00:01Z')

      expect(digests(scene)).toEqual([expect.stringMatching(/^Digest: Bob: dinner at seven/)])
      await expect.poll(() => lastRun(scene)).toMatchObject({ state: 'done', outcome: 'answered' })
    })
  }
})
