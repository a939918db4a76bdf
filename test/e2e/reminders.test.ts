import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { recorded, startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import { type SetClock, setClock } from './set-clock.ts'
import { startTwoMore } from './three-platforms.ts'

const GROUP = -1001000000001
const HOUR_MS = 3_600_000
const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['schedule'] }]

/** Does what a message says: `schedule_create {"text":"x","every":"1h"}` calls that tool. */
const script: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says: ${result}`)
  const [, name, input] = /(schedule_\w+) (\{.*\})/.exec(lastUserText(request)) ?? []
  if (name === undefined || input === undefined) return textReply(`heard ${lastUserText(request)}`)
  return { blocks: [{ type: 'tool_use', name, input: JSON.parse(input) }] }
}

async function household(clock: SetClock = setClock('2026-11-24T09:20:00Z')) {
  const house = await startHousehold({
    ...{ script, clock, streaming: false },
    config: { agents },
    routing: policy({
      people: [
        { ...owner('ada', 'telegram:111'), timezone: 'Europe/Berlin' },
        { ...member('bob', 'telegram:444'), timezone: 'America/New_York' },
      ],
      access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
    }),
  })
  const { world, ledger } = house.telegram
  world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444, 555] })
  const heard = async (chat: number, words: string, after = 0): Promise<string> =>
    (await ledger.nextFromBot('sent', { after, where: ({ chatId, text }) => chatId === chat && text.includes(words) }))
      .text
  const say = async (from: number, text: string, words: string, chat = from): Promise<string> => {
    const after = ledger.mark()
    world.say({ from, text, ...(chat === from ? {} : { chat }) })
    return heard(chat, words, after)
  }
  /** Moves the clock once nothing is being sent, which would be cut. */
  const skip = async (ms: number): Promise<void> => {
    await recorded(house)
    clock.skip(ms)
  }
  const requests = () => house.anthropic?.ledger.requests() ?? []
  return { house, requests, world, ledger, heard, say, clock, skip }
}

const idIn = (text: string): string => /cancel (r\w+)/.exec(text)?.[1] ?? /"id":"(r\w+)"/.exec(text)?.[1] ?? ''

describe('a reminder', () => {
  it('is confirmed in the zone of its person, said without a model when it is due, and over then', async () => {
    const { say, heard, ledger, skip, requests } = await household()
    expect(await say(111, '/remind at five call mum', 'I remind')).toContain(
      'Tuesday 24 November 2026 at 17:00 (Europe/Berlin)',
    )
    expect(await say(444, '/remind at 17:00 call mum', 'I remind')).toContain('at 17:00 (America/New_York)')
    const [after, asked] = [ledger.mark(), requests().length]
    await skip(7 * HOUR_MS)
    expect(await heard(111, 'Reminder', after)).toContain('Reminder: call mum')
    expect(await say(111, '/remind list', 'no reminder')).toContain('There is no reminder here')
    expect(await say(444, '/remind', 'call mum')).toContain('by bob')
    expect(requests()).toHaveLength(asked)
  })

  it('on several days is said with day, hour, zone and end, and what has no one meaning is asked back', async () => {
    const { say, heard, ledger, skip } = await household()
    expect(await say(111, '/remind every monday and thursday at 8, 2 times, bins', 'I remind')).toContain(
      'at 08:00, only on Monday and Thursday, next Thursday 26 November 2026 at 08:00 (Europe/Berlin), until Monday 30 November 2026 at 08:00 (Europe/Berlin).',
    )
    expect(await say(111, '/remind nächsten Freitag um 9 Bericht', 'I remind')).toContain(
      'Friday 4 December 2026 at 09:00',
    )
    expect(await say(111, '/remind next week call mum', 'On which day')).toContain(
      'next monday at 9 or 5 december at 9',
    )
    const after = ledger.mark()
    await skip(47 * HOUR_MS)
    expect(await heard(111, 'Reminder', after)).toContain('Reminder: bins')
    expect(await say(111, '/remind list', 'bins')).toContain('next Monday 30 November')
    const last = ledger.mark()
    await skip(4 * 24 * HOUR_MS)
    expect(await heard(111, 'Reminder', last)).toContain('Reminder: bins')
    expect(await say(111, '/remind list', 'Bericht')).not.toContain('bins')
  })

  it('is part of the conversation: the next turn there is shown that it was said', async () => {
    const { say, heard, skip, requests } = await household()
    await say(111, '/remind 20m stretch', 'I remind')
    await skip(HOUR_MS / 3)
    await heard(111, 'Reminder: stretch')
    await say(111, 'what was that?', 'heard')
    expect(JSON.stringify(requests().at(-1)?.messages)).toContain('Reminder: stretch')
  })

  it('F-A03: that came due while the daemon was down is said once after the start, and says since when', async () => {
    const { house, say, heard, ledger, clock, world } = await household()
    await say(111, '/remind 20m stretch', 'I remind')
    const after = ledger.mark()
    await recorded(house)
    await house.daemon.stop()
    clock.skip(2 * HOUR_MS)
    await house.restart()
    expect(await heard(111, 'Reminder', after)).toContain('It was due on Tuesday 24 November 2026 at 10:40')
    await say(111, 'hello', 'heard')
    expect(
      world.messages(111, { by: 'bot' }).filter(({ message }) => JSON.stringify(message).includes('Reminder')),
    ).toHaveLength(1)
  })

  it('comes again and again until it is cancelled, by whoever made it or an owner', async () => {
    const { say, heard, ledger, skip, world } = await household()
    const id = idIn(await say(444, '/remind every 2h drink', 'I remind'))
    for (let round = 0; round < 2; round++) {
      const after = ledger.mark()
      await skip(2 * HOUR_MS)
      await heard(444, 'Reminder: drink', after)
    }
    expect(await say(555, `/remind cancel ${id}`, 'let in')).toContain('only for people my owner has let in')
    expect(await say(444, `/remind cancel ${id}`, 'Cancelled')).toContain('drink')
    expect(await say(444, `/remind cancel ${id}`, 'no reminder')).toContain('There is no reminder')
    const before = world.messages(444, { by: 'bot' }).length
    await skip(4 * HOUR_MS)
    await say(111, 'hello', 'heard')
    expect(world.messages(444, { by: 'bot' })).toHaveLength(before)
  })

  it('in a group is for all there, by the name of whoever made it, and nobody sees those of a direct chat', async () => {
    const { say, heard, skip } = await household()
    await say(444, '/remind 20m secret', 'I remind')
    await say(444, '/remind@parley_bot 20m dinner', 'I remind', GROUP)
    const list = await say(111, '/remind@parley_bot list', 'dinner', GROUP)
    expect(list).not.toContain('secret')
    expect(await say(111, '/remind list', 'no reminder')).toBeTruthy()
    await skip(HOUR_MS / 3)
    expect(await heard(GROUP, 'Reminder')).toBe('Reminder for bob: dinner')
  })

  it.each([
    ['/remind call mum', 'Say it as in'],
    ['/remind yesterday at 9 call mum', 'is over'],
    ['/remind every 1m x', 'too often'],
    ['/remind 20m', 'There is no text'],
    ['/remind cancel', '/remind cancel <id>'],
    ['/remind cancel rzzzzz', 'There is no reminder rzzzzz'],
  ])('%s is answered with what is wrong', async (typed, words) => {
    const { say } = await household()
    expect(await say(111, typed, words)).toContain(words)
  })
})

describe('the agent', () => {
  it('makes, lists and cancels schedules for who asks, in their zone; a task asks the model then', async () => {
    const { say, heard, skip, ledger } = await household()
    const made = await say(
      444,
      'schedule_create {"text":"look at the mail","at":"2026-11-24T17:00","task":true}',
      'it says',
    )
    expect(made).toContain('at 17:00 (America/New_York)')
    expect(await say(444, 'schedule_list {}', 'it says')).toContain('look at the mail')
    const other = await say(444, 'schedule_create {"text":"drink","every":"2h"}', 'it says')
    expect(await say(444, `schedule_cancel {"id":"${idIn(other)}"}`, 'it says')).toContain('"cancelled"')
    const after = ledger.mark()
    await skip(13 * HOUR_MS)
    expect(await heard(444, 'heard look at the mail', after)).toBeTruthy()
  })

  it('F-H13: makes none for strangers, and none in the run of a schedule', async () => {
    const { say, heard, skip, ledger } = await household()
    expect(await say(555, 'schedule_create {"text":"x","every":"2h"}', 'it says')).toContain('let in by name')
    await say(
      111,
      `schedule_create {"text":"schedule_create {\\"text\\":\\"y\\",\\"every\\":\\"2h\\"}","at":"in 20 minutes","task":true}`,
      'it says',
    )
    const after = ledger.mark()
    await skip(HOUR_MS / 3)
    expect(await heard(111, 'it says', after)).toContain('not by the run of a schedule')
  })

  it('F-H13: cancels for nobody else’s words, and a job ends with the one who made it', async () => {
    const { say, skip, house, world } = await household()
    const id = idIn(await say(111, '/remind@parley_bot every 2h dinner', 'I remind', GROUP))
    const tried = await say(444, `@parley_bot schedule_cancel {"id":"${id}"}`, 'it says', GROUP)
    expect(tried).toContain('Only ada or an owner cancels that')
    await say(444, '/remind every 2h drink', 'I remind')
    await house.restart({
      routing: policy({ people: [owner('ada', 'telegram:111')], access: { direct: 'public', groups: [] } }),
    })
    const before = world.messages(444, { by: 'bot' }).length
    await skip(2 * HOUR_MS)
    await say(111, 'hello', 'heard')
    expect(world.messages(444, { by: 'bot' })).toHaveLength(before)
  })
})

describe('"remind me at five"', () => {
  it.each(['telegram', 'discord', 'slack'] as const)('on %s is confirmed and said there', async (platform) => {
    const clock = setClock('2026-11-24T09:20:00Z')
    const beside = await startTwoMore({ streaming: false })
    const house = await startHousehold({
      ...{ script, clock, beside, streaming: false },
      config: { agents },
      routing: policy({
        people: [{ ...owner('ada', 'telegram:111', 'discord:222', 'slack:U333'), timezone: 'Europe/Berlin' }],
        access: { direct: 'owner', groups: [] },
      }),
    })
    const text = 'schedule_create {"text":"call mum","at":"at five"}'
    const words = async (part: string): Promise<string> => {
      const where = ({ text: said }: { readonly text: string }): boolean => said.includes(part)
      return (await nextSent[platform](where)).text
    }
    const { telegram } = house
    const { discord, slack } = beside
    const nextSent = {
      telegram: (where: (entry: { readonly text: string }) => boolean) =>
        telegram.ledger.nextFromBot('sent', { where }),
      discord: (where: (entry: { readonly text: string }) => boolean) => discord.ledger.nextFromBot('sent', { where }),
      slack: (where: (entry: { readonly text: string }) => boolean) => slack.ledger.nextFromBot('sent', { where }),
    }
    if (platform === 'telegram') telegram.world.say({ from: 111, text })
    else if (platform === 'discord') discord.world.say({ from: '222', text })
    else slack.world.say({ from: 'U333', text })
    expect(await words('it says')).toContain('at 17:00 (Europe/Berlin)')
    await recorded(house)
    clock.set('2026-11-24T16:00:01Z')
    expect(await words('Reminder')).toBe('Reminder: call mum')
  })
})
