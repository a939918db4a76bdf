import { describe, expect, it } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { toScheduleId } from '../../src/core/ids.ts'
import type { CronDefinition } from '../../src/core/schedule.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { household, member, owner } from '../fakes/routing-policy.ts'
import { parley } from './house-command.ts'
import { type HouseholdOptions, recorded, startHousehold } from './household.ts'

const script: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

const known = (id: number) => member(`m${id}`, `telegram:${id}`)

/** Ada's words in one group go on in another, whose messages have the same numbers. */
async function continued({ kind = 'fork', ...options }: HouseholdOptions & { readonly kind?: 'fork' | 'move' } = {}) {
  const house = await startHousehold({ script, streaming: false, ...options })
  const { world, ledger } = house.telegram
  const add = (title: string) => world.addChat({ type: 'supergroup', title, members: [111, 444, 555] }).id
  const [family, club] = [add('Family'), add('Club')]
  const say = async (chat: number, from: number, text: string) => {
    const after = ledger.mark()
    const { message_id: id } = world.say({ from, chat, text: `@parley_bot ${text}` })
    await ledger.nextFromBot('sent', { after })
    await recorded(house)
    return id
  }
  const first = await say(family, 111, 'dinner is at seven')
  const { code } = await parley(house.config, [
    'sessions',
    kind,
    `telegram:group:${family}`,
    `telegram:group:${club}`,
    '--yes',
  ])
  expect(code).toBe(0)
  const prompt = async () => {
    await say(club, 111, 'and now?')
    return JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages)
  }
  return { house, world, family, club, say, first, prompt }
}

/** Says something there, with the number that the other group's message has. */
async function saidThere() {
  const there = await continued()
  const message = await there.say(there.club, 444, 'who cooks?')
  expect(message, 'the numbers of the two messages').toBe(there.first)
  return { ...there, message }
}

describe('a session that was continued elsewhere', () => {
  it('an edit there changes no words that were said here by another person, whose message has the same number', async () => {
    const { house, world, club, message, prompt } = await saidThere()
    world.edit({ chat: club, message, text: '@parley_bot pay cy' })
    await recorded(house)
    const shown = await prompt()
    expect(shown).toContain('pay cy')
    expect(shown).toContain('dinner is at seven')
  })

  it('C23: an exchange that is taken back there takes nothing of what was said here, by a message of the same number', async () => {
    const { world, house, club, prompt } = await saidThere()
    const after = house.telegram.ledger.mark()
    world.say({ from: 444, chat: club, text: '/undo@parley_bot' })
    await house.telegram.ledger.nextFromBot('sent', { after })
    const shown = await prompt()
    expect(shown).not.toContain('who cooks')
    expect(shown).toContain('dinner is at seven')
    await house.restart()
    expect(await prompt()).toContain('dinner is at seven')
  })

  for (const kind of ['fork', 'move'] as const)
    it(`F-H11: after a ${kind} /undo and /retry there touch no answer of the other conversation, and say nothing in it`, async () => {
      const routing = household({ people: [owner('ada', 'telegram:111'), ...[444, 555].map(known)] })
      const { house, world, family, club, say } = await continued({ kind, routing })
      const said = () => world.messages(family, { by: 'bot' }).map(({ message }) => message.message_id)
      const before = said()
      expect(before).toHaveLength(1)
      world.say({ from: 555, chat: club, text: 'the secret of the club is green' })
      await recorded(house)
      for (const [text, answer] of [
        ['/undo', 'There is nothing to take back here.'],
        ['/retry', 'There is nothing to answer again here.'],
      ] as const) {
        const { ledger } = house.telegram
        const after = ledger.mark()
        world.say({ from: 111, chat: club, text: `${text}@parley_bot` })
        expect((await ledger.nextFromBot('sent', { after })).text).toBe(answer)
      }
      await say(family, 111, 'and here?')
      expect(said().slice(0, 1)).toEqual(before)
      expect(
        world
          .messages(family, { by: 'bot' })
          .map(({ message }) => message.text)
          .join(),
      ).not.toContain('green')
    })

  for (const kind of ['fork', 'move'] as const)
    it(`F-H11: after a ${kind} no turn is of both logs, and what was taken back before stays so`, async () => {
      const { house, world, family, club, say, prompt } = await continued()
      const command = async (chat: number, text: string) => {
        const after = house.telegram.ledger.mark()
        world.say({ from: 111, chat, text: `${text}@parley_bot` })
        await house.telegram.ledger.nextFromBot('sent', { after })
      }
      await say(family, 111, 'a slip')
      await command(family, '/undo')
      const [from, to] = [`telegram:group:${family}`, `telegram:group:${club}`]
      const { id } = await house.daemon.operator.sessions.show(from)
      expect((await parley(house.config, ['sessions', kind, from, to, '--yes'])).code).toBe(0)
      const turnsOf = async (session: string) => {
        const { events } = await house.daemon.operator.archives.page(session, { after: 0, limit: 200 })
        const named = events.map((event) =>
          event.type === 'exchange_taken_back' ? event.data.turn : (event.turnId ?? 'none'),
        )
        return [...new Set(named)].filter((turn) => turn !== 'none')
      }
      const [here, there] = [await turnsOf(id), await turnsOf(to)]
      expect([here.length, there.length]).toEqual([2, 2])
      expect(there.filter((turn) => here.includes(turn))).toEqual([])
      const shown = await prompt()
      expect(shown).toContain('dinner is at seven')
      expect(shown).not.toContain('a slip')
    })

  it('T37: it says of no chat that it was answered there, before it was', async () => {
    const { house, family, club, say } = await continued()
    const lastTo = async (chat: number) => (await house.daemon.operator.sessions.show(`telegram:group:${chat}`)).lastTo
    expect([await lastTo(family), await lastTo(club)]).toEqual([`telegram:group:${family}`, undefined])
    await say(club, 111, 'and now?')
    expect(await lastTo(club)).toBe(`telegram:group:${club}`)
  })

  it('F-H11: what is done here to the last exchange touches none there', async () => {
    const { house, world, family, club, say } = await continued()
    const { ledger } = house.telegram
    await say(club, 111, 'hello club')
    const said = () => world.messages(club, { by: 'bot' }).map(({ message }) => message.text)
    const before = said()
    for (const text of ['/retry', '/undo']) {
      const after = ledger.mark()
      world.say({ from: 111, chat: family, text: `${text}@parley_bot` })
      await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === family })
      await recorded(house)
    }
    await say(family, 111, 'go on')
    expect(said()).toEqual(before)
  })

  it('S41, F-H11: what is forgotten there takes no answer from a chat whose session is deleted by now', async () => {
    const { house, world, club, say } = await continued()
    const { ledger } = house.telegram
    const direct = async (text: string) => {
      const after = ledger.mark()
      world.say({ from: 111, text })
      await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === 111 })
      await recorded(house)
    }
    await direct('the safe is 4711')
    const there = ['sessions', 'fork', 'telegram:direct:111', `telegram:group:${club}`, '--yes']
    expect((await parley(house.config, there)).code).toBe(0)
    await house.daemon.operator.sessions.delete('telegram:direct:111')
    const said = () => world.messages(111, { by: 'bot' }).map(({ message }) => message.text)
    const before = said()
    const after = ledger.mark()
    world.say({ from: 111, chat: club, text: '/forget chat yes' })
    const { text } = await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === club })
    expect(text).toMatch(/^Forgotten: /)
    expect(text).not.toContain('being deleted')
    // Whatever was to be deleted is deleted before this is said.
    await say(club, 111, 'and here?')
    await direct('and now?')
    expect(said().slice(0, before.length)).toEqual(before)
  })

  it('C23: /retry there answers what was asked there, not what a message of the same number says here by now', async () => {
    const { house, world, family, club, say, first } = await continued()
    world.edit({ chat: family, message: first, text: '@parley_bot the safe is 4711' })
    await say(family, 111, 'understood?')
    const there = ['sessions', 'fork', `telegram:group:${family}`, `telegram:group:${club}`, '--yes']
    expect((await parley(house.config, there)).code).toBe(0)
    expect(await say(club, 111, 'hello club'), 'the numbers of the two messages').toBe(first)
    const after = house.telegram.ledger.mark()
    world.say({ from: 111, chat: club, text: '/retry@parley_bot' })
    const where = ({ text }: { readonly text: string }) => text.startsWith('heard')
    const { text } = await house.telegram.ledger.nextFromBot('sent', { after, where })
    expect(text).toBe('heard [Ada] @parley_bot hello club')
  })

  it('T32: a digest of the other conversation has nothing of what was said here', async () => {
    const definition: CronDefinition = {
      ...{ cron: '0 9 * * *', timezone: 'Europe/Berlin', prompt: 'Sum up.', missed: { kind: 'once' }, overlap: 'skip' },
      ...{ deliverTo: parseAddress('telegram:direct:111'), digestOf: parseAddress('telegram:group:-1001000000002') },
    }
    const repeat: Script = (request) => textReply(lastUserText(request))
    const schedules = () => [{ id: toScheduleId('morning'), definition }]
    const { house, world, club, say } = await continued({ script: repeat, schedules })
    world.say({ from: 111, text: '/start' })
    expect(club, 'the group of the digest').toBe(-1001000000002)
    await say(club, 444, 'who cooks?')
    const after = house.telegram.ledger.mark()
    await house.daemon.operator.schedules.run('morning')
    const where = ({ chatId }: { readonly chatId: number }) => chatId === 111
    const { text } = await house.telegram.ledger.nextFromBot('sent', { after, where })
    expect(text).toContain('who cooks?')
    expect(text).not.toContain('dinner')
  })

  it('S41: to delete the session there takes nothing that was said here out of the outbox', async () => {
    const { house, world, family, first } = await continued()
    world.say({ from: 444, text: '/start' })
    const there = ['sessions', 'fork', `telegram:group:${family}`, 'telegram:direct:444', '--yes']
    expect((await parley(house.config, there)).code).toBe(0)
    await house.daemon.operator.sessions.delete('telegram:direct:444')
    const [{ deliveries } = { deliveries: [] }] = await house.daemon.operator.why(String(first))
    expect(deliveries).toEqual([{ state: 'sent', messageId: expect.anything() }])
  })

  it('S41, F-H11: what is forgotten there takes no answer from the other conversation, for an owner and a member', async () => {
    const routing = household({ people: [owner('ada', 'telegram:111'), known(444)] })
    const { house, world, family, club, say, prompt } = await continued({ routing })
    const { ledger } = house.telegram
    const command = async (from: number, chat: number) => {
      const after = ledger.mark()
      world.say({ from, text: '/forget chat yes', ...(chat === from ? {} : { chat }) })
      const { text } = await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })
      await recorded(house)
      expect(text).toMatch(/^Forgotten: /)
    }
    await command(111, club)
    expect(await prompt()).not.toContain('seven')
    world.say({ from: 444, text: '/start' })
    const there = ['sessions', 'fork', `telegram:group:${family}`, 'telegram:direct:444', '--yes']
    expect((await parley(house.config, there)).code).toBe(0)
    await command(444, 444)
    // Whatever was to be deleted there is deleted before this is said.
    await say(family, 111, 'and here?')
    const said = world.messages(family, { by: 'bot' }).map(({ message }) => message.text)
    expect(said).toEqual(['heard [Ada] @parley_bot dinner is at seven', 'heard [Ada] @parley_bot and here?'])
  })
})
