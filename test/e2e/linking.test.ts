import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openConnection } from '../../src/store/engines/sqlite-connection.ts'
import { owner, policy } from '../fakes/routing-policy.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'
import { type Household, startHousehold } from './household.ts'
import { startTwoMore, type TwoMore } from './three-platforms.ts'

removeTempFolders()

type Whole = Household & TwoMore

/** Ada owns the agent by her Telegram id alone; nobody else may talk. */
async function house(): Promise<Whole> {
  const more = await startTwoMore()
  const routing = policy({ people: [owner('ada', 'telegram:111')] })
  return Object.assign(await startHousehold({ routing, beside: more }), more)
}

/** What the bot answers in a direct chat, from this moment on, that contains these words. */
function answers({ telegram, discord, slack }: Whole, words: string) {
  const after = telegram.ledger.mark()
  const [onDiscord, onSlack] = [discord.ledger.mark(), slack.ledger.mark()]
  return {
    telegram: (): Promise<{ text: string }> =>
      telegram.ledger.nextFromBot('sent', { after, where: ({ text }) => text.includes(words) }),
    discord: () =>
      discord.ledger.next((one) => one.kind === 'message' && one.byBot && one.text.includes(words), {
        after: onDiscord,
      }),
    slack: () =>
      slack.ledger.next((one) => one.kind === 'message' && one.byBot && one.text.includes(words), { after: onSlack }),
  }
}

async function codeFor(of: Whole): Promise<string> {
  const shown = answers(of, 'Within ten minutes')
  of.telegram.world.say({ from: 111, text: '/link' })
  return /\b(\w{5}-\w{5})\b/.exec((await shown.telegram()).text)?.[1] ?? ''
}

describe('linking', () => {
  it('K16: an id that is that person already is not linked beside it, where it would outlive the configuration', async () => {
    const { operator } = (await house()).daemon
    await expect(operator.people.link('ada', 'telegram:111')).rejects.toMatchObject({ code: 'conflict' })
    expect((await operator.people.list()).changes).toEqual([])
  })

  it.each(['/link ', ''])(
    'S19: a stranger who sends the code of the owner elsewhere, behind "%s", is the owner there from the next message on',
    async (command) => {
      const of = await house()
      const { discord } = of
      const refused = answers(of, 'only talk to people')
      discord.world.say({ from: '222', text: 'hello' })
      await refused.discord()
      const code = await codeFor(of)
      const [linked, told] = [answers(of, 'You are ada to me here too'), answers(of, '/unlink discord:222')]
      discord.world.say({ from: '222', text: `${command}${code}` })
      await linked.discord()
      await told.telegram()
      const answered = answers(of, 'echo hello again')
      discord.world.say({ from: '222', text: 'hello again' })
      await answered.discord()

      const again = answers(of, 'not valid')
      discord.world.say({ from: '555', text: `/link ${code}` })
      await again.discord()
      await of.restart()
      const after = answers(of, 'echo still me')
      discord.world.say({ from: '222', text: 'still me' })
      await after.discord()
      expect((await of.daemon.operator.people.list()).changes).toMatchObject([
        { kind: 'linked', person: 'ada', id: 'discord:222', by: 'telegram:111' },
      ])
    },
  )

  it.each([
    ['discord', 'discord:222'],
    ['slack', 'slack:'],
  ] as const)(
    'an owner by the claim code who asked on %s before they were linked asks no longer, and what they wrote is answered',
    async (there, id) => {
      const more = await startTwoMore()
      const of = Object.assign(await startHousehold({ routing: policy(), beside: more }), more)
      const { telegram, daemon } = of
      const say = (text: string): unknown =>
        there === 'discord' ? of.discord.world.say({ from: '222', text }) : of.slack.world.say({ from: 'U333', text })
      const claimed = answers(of, 'You are my owner now')
      telegram.world.say({
        from: 111,
        text: `/claim ${new URL((await daemon.operator.status()).claims[0]?.link ?? '').searchParams.get('start')}`,
      })
      await claimed.telegram()
      const [refused, card] = [answers(of, 'only talk to people'), answers(of, 'asks to talk to me')]
      say('is it me?')
      await refused[there]()
      await card.telegram()
      expect(await daemon.operator.admissions.list()).toMatchObject([
        { key: expect.stringContaining(id), state: 'asked' },
      ])
      const code = await codeFor(of)
      const [answered, closed] = [answers(of, 'echo is it me?'), telegram.ledger.mark()]
      say(`/link ${code}`)
      await answered[there]()
      await telegram.ledger.nextFromBot('edited', {
        after: closed,
        where: ({ text }) => text.includes('This is owner to me by now.'),
      })
      expect(await daemon.operator.admissions.list()).toEqual([])
      expect((await daemon.operator.people.list()).people).toMatchObject([
        {
          name: 'owner',
          role: 'owner',
          ids: [
            { id: 'telegram:111', from: 'claim' },
            { id: expect.stringContaining(id), from: 'link' },
          ],
        },
      ])
    },
  )

  it('F-H13: what the owner parts is a stranger at once', async () => {
    const of = await house()
    const { telegram, slack } = of
    const linked = answers(of, 'You are ada to me here too')
    slack.world.say({ from: 'U333', text: `/link ${await codeFor(of)}` })
    await linked.slack()
    const { people } = await of.daemon.operator.people.list()
    const id = people[0]?.ids.find(({ from }) => from === 'link')?.id ?? ''
    expect(id).toMatch(/^slack:[^/]+\/u333$/)
    const parted = answers(of, 'is not ada to me any more')
    telegram.world.say({ from: 111, text: `/unlink ${id}` })
    await parted.telegram()
    const refused = answers(of, 'only talk to people')
    slack.world.say({ from: 'U333', text: 'hello?' })
    await refused.slack()
  })

  it('F-H13: what the owner asked for before a crash is done at the next start', async () => {
    const path = join(tempFolder(), 'parley.db')
    const of = await startHousehold({ config: { store: { path } } })
    await of.daemon.operator.people.link('ada', 'telegram:9001')
    const { world, ledger } = of.telegram
    world.say({ from: 111, text: '/unlink telegram:9002' })
    await ledger.nextFromBot('sent')
    // The same command, stored and not begun when the process ended.
    const connection = openConnection(path)
    connection.run(
      `INSERT INTO inbox (id, channel, account, event_key, kind, trace_id, message_id, state, dispatch, decision)
        SELECT id || 'x', channel, account, event_key || 'x', kind, trace_id, message_id, 'waiting',
        replace(dispatch, '9002', '9001'), decision FROM inbox WHERE kind = 'control'`,
      [],
    )
    connection.close()
    const answered = ledger.nextFromBot('sent', { after: ledger.mark() })
    await of.restart()
    expect((await answered).text).toContain('telegram:9001 is not ada to me any more')
    expect(JSON.stringify((await of.daemon.operator.people.list()).people)).not.toContain('9001')
  })

  it('F-H13: what somebody asked for before a crash is not done once they are parted from the owner', async () => {
    const path = join(tempFolder(), 'parley.db')
    const of = await startHousehold({ config: { store: { path } } })
    const { world, ledger } = of.telegram
    await of.daemon.operator.people.link('ada', 'telegram:555')
    world.addUser({ id: 666, firstName: 'Mal' })
    const asked = ledger.nextFromBot('sent', { where: ({ chatId }) => chatId === 666 })
    world.say({ from: 666, text: 'let me in' })
    await asked
    const [applicant] = await of.daemon.operator.admissions.list()
    const refused = ledger.nextFromBot('sent', { where: ({ text }) => text.startsWith('Nobody has asked') })
    world.say({ from: 555, text: '/admit zzzzz' })
    await refused
    // The command with the right code, stored and not begun when the process ended.
    const connection = openConnection(path)
    connection.run(
      `INSERT INTO inbox (id, channel, account, event_key, kind, trace_id, message_id, state, dispatch, decision)
        SELECT id || 'x', channel, account, event_key || 'x', kind, trace_id, message_id, 'waiting',
        replace(dispatch, 'zzzzz', $1), decision FROM inbox WHERE kind = 'control'`,
      [applicant?.code ?? ''],
    )
    connection.close()
    await of.daemon.operator.people.unlink('telegram:555')
    const answered = ledger.nextFromBot('sent', { after: ledger.mark(), where: ({ chatId }) => chatId === 555 })
    await of.restart()
    expect((await answered).text).toContain('Please send it again')
    expect(await of.daemon.operator.admissions.list()).toMatchObject([{ code: applicant?.code, state: 'asked' }])
  })

  it('F-H12: a code is never shown in a group, and one that is typed there is spent', async () => {
    const of = await house()
    const { telegram, discord } = of
    const { id: chat } = telegram.world.addChat({ type: 'supergroup', title: 'Family', members: [111] })
    const sent = answers(of, 'direct chat')
    telegram.world.say({ from: 111, chat, text: '/link@parley_bot' })
    expect((await sent.telegram()).text).not.toContain('/link ')
    const code = await codeFor(of)
    const spent = answers(of, 'spent')
    telegram.world.say({ from: 111, chat, text: `/link@parley_bot ${code}` })
    await spent.telegram()
    const refused = answers(of, 'not valid')
    discord.world.say({ from: '222', text: `/link ${code}` })
    await refused.discord()
  })

  it('F-H12: a code that a stranger types in a place nobody opened is spent too, without a word there', async () => {
    const of = await house()
    const { telegram, discord } = of
    const { id: chat } = telegram.world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444] })
    const code = await codeFor(of)
    const typed = telegram.world.say({ from: 444, chat, text: `/link@parley_bot ${code}` })
    await expect
      .poll(async () => (await of.daemon.operator.why(String(typed.message_id))).map(({ outcome }) => outcome))
      .toContain('refused: access')
    const refused = answers(of, 'not valid')
    discord.world.say({ from: '222', text: `/link ${code}` })
    await refused.discord()
    expect(telegram.world.messages(chat, { by: 'bot' })).toEqual([])
  })

  it('a stranger gets no code', async () => {
    const of = await house()
    const told = answers(of, 'I do not know you here')
    of.telegram.world.say({ from: 555, text: '/link' })
    await told.telegram()
  })
})
