import { get } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import { type Household, recorded, startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

const PRIVATE = 1_234_567_890

async function family(options: { readonly privacy?: boolean } = {}): Promise<Household & { readonly chat: number }> {
  const bots = [{ token: '7000001:rehearsal', canReadAllGroupMessages: options.privacy !== true }]
  const house = await startHousehold({ telegram: { bots } })
  const id = Number(`-100${PRIVATE}`)
  house.telegram.world.addChat({ id, type: 'supergroup', title: 'Family', members: [111, 444, 555] })
  return Object.assign(house, { chat: id })
}

describe('why', () => {
  it('a link, an inbox id, a trace id and a platform id name the same message', async () => {
    const { telegram, chat, daemon } = await family()
    const said = telegram.world.say({ from: 444, chat, text: '@parley_bot when is dinner?' })
    await telegram.ledger.nextFromBot('sent')
    const [found] = await daemon.operator.why(`https://t.me/c/${PRIVATE}/${said.message_id}`)
    expect(found).toMatchObject({ decision: 'run', reason: 'mentioned', messageId: String(said.message_id) })
    for (const name of [found?.inboxId, found?.traceId, String(said.message_id)]) {
      expect(await daemon.operator.why(name ?? '')).toEqual([found])
    }
  })

  it('a message of ours stands for the one it answered', async () => {
    const { telegram, chat, daemon } = await family()
    const said = telegram.world.say({ from: 444, chat, text: '@parley_bot when is dinner?' })
    const answer = await telegram.ledger.nextFromBot('sent')
    // The next answer of a chat leaves once the one before is on record.
    const mark = telegram.ledger.mark()
    telegram.world.say({ from: 444, chat, text: '@parley_bot and lunch?' })
    await telegram.ledger.nextFromBot('sent', { after: mark })
    const found = await daemon.operator.why(`https://t.me/c/${PRIVATE}/${answer.messageId}`)
    expect(found).toMatchObject([{ messageId: String(said.message_id) }])
  })

  it('`last` names the last message of all, an address the last one there, and commands are none; the status says where and when', async () => {
    const { telegram, chat, daemon } = await family()
    const { world, ledger } = telegram
    expect(await daemon.operator.why('last')).toEqual([])
    const say = async (text: string, where: { readonly chat?: number }) => {
      const after = ledger.mark()
      const { message_id: id } = world.say({ from: 111, text, ...where })
      await ledger.nextFromBot('sent', { after })
      return String(id)
    }
    const there = await say('@parley_bot when is dinner?', { chat })
    const direct = await say('hello', {})
    await say('/whoami', {})
    expect(await daemon.operator.why('last')).toMatchObject([{ messageId: direct, title: 'Ada' }])
    expect(await daemon.operator.why(`telegram:group:${chat}`)).toMatchObject([{ messageId: there, title: 'Family' }])
    expect(await daemon.operator.why('telegram:group:-5')).toEqual([])
    const { lastIn, lastOut } = await daemon.operator.status()
    const here = { address: 'telegram:direct:111', title: 'Ada', at: expect.any(Number) }
    expect([lastIn, lastOut]).toEqual([here, here])
  })

  it('a link to another chat does not find the message of the same number', async () => {
    const { telegram, chat, daemon } = await family()
    const said = telegram.world.say({ from: 444, chat, text: '@parley_bot when is dinner?' })
    await telegram.ledger.nextFromBot('sent')
    expect(await daemon.operator.why(`https://t.me/c/99/${said.message_id}`)).toEqual([])
  })

  it('every stage that looked is in the trace, the last one with the setting that would flip it', async () => {
    const { telegram, chat, daemon } = await family()
    const overheard = telegram.world.say({ from: 444, chat, text: 'dinner at seven' })
    telegram.world.say({ from: 444, chat, text: '@parley_bot ok?' })
    await telegram.ledger.nextFromBot('sent')
    const [why] = await daemon.operator.why(`t.me/c/${PRIVATE}/${overheard.message_id}`)
    expect(why?.steps.map(({ stage }) => stage)).toEqual(
      expect.arrayContaining(['sender', 'identity', 'access', 'send-policy', 'dispatch', 'session', 'group-rule']),
    )
    expect(why?.steps.at(-1)).toMatchObject({ verdict: 'stop', config: 'routing.access.groups[0].trigger' })
  })

  it('what privacy mode hid is told as such, and what another poller took', async () => {
    const { telegram, chat, daemon } = await family({ privacy: true })
    const hidden = telegram.world.say({ from: 444, chat, text: 'dinner at seven' })
    const link = `https://t.me/c/${PRIVATE}/${hidden.message_id}`
    expect(await daemon.operator.why(link)).toEqual([])
    expect(await daemon.operator.unseen(link)).toContainEqual(expect.stringContaining('privacy mode is on'))

    const mark = telegram.ledger.mark()
    const stray = get(`${telegram.apiRoot}/bot7000001:rehearsal/getUpdates?timeout=50`)
    stray.on('error', () => {})
    await telegram.ledger.nextCall('getUpdates', { after: mark, where: ({ answer }) => answer?.ok === false })
    const taken = telegram.ledger.mark()
    stray.destroy()
    await telegram.ledger.listening({ after: taken })
    expect(await daemon.operator.unseen(link)).toContainEqual(
      expect.stringContaining('another instance polls this token'),
    )
  })
})

/** Answers for one person alone go to their direct chat, once there is one. Resolves with the place in the ledger behind it. */
async function acquainted(telegram: Household['telegram'], from: number): Promise<number> {
  telegram.world.say({ from, text: 'hello' })
  await telegram.ledger.nextFromBot('sent', { where: ({ chatId }) => chatId === from })
  return telegram.ledger.mark()
}

const SUMMARY =
  'Remembered and not answered: the bot was not addressed; the setting routing.access.groups[0].trigger changes that.'

describe('/why in a chat', () => {
  it('a reply with /why tells the owner in one sentence, and the steps behind trace, settings included', async () => {
    const { telegram, chat } = await family()
    const mark = await acquainted(telegram, 111)
    const overheard = telegram.world.say({ from: 444, chat, text: 'dinner at seven' })
    telegram.world.say({ from: 111, chat, text: '/why', replyTo: overheard })
    const { text, chatId } = await telegram.ledger.nextFromBot('sent', { after: mark })
    expect(chatId).toBe(111)
    expect(text).toBe(SUMMARY)
    const traced = telegram.ledger.mark()
    telegram.world.say({ from: 111, chat, text: '/why trace', replyTo: overheard })
    const steps = (await telegram.ledger.nextFromBot('sent', { after: traced })).text ?? ''
    expect(steps.split('\n')[0]).toBe(SUMMARY)
    expect(steps).toContain('decision: remember it without an answer (not addressed)')
  })

  it('the steps of a message that was forgotten have no words any more', async () => {
    const { telegram } = await family()
    const say = async (text: string): Promise<string> => {
      const mark = telegram.ledger.mark()
      telegram.world.say({ from: 111, text })
      return (await telegram.ledger.nextFromBot('sent', { after: mark })).text ?? ''
    }
    await say('the alarm code is 4711')
    expect(await say('/forget last')).toMatch(/^Forgotten/)
    const steps = await say('/why trace')
    expect(steps).toContain('outcome: forgotten')
    expect(steps).toContain('✓ access: forgotten')
    expect(steps).not.toMatch(/: *(?:;|$)/m)
  })

  it('a bare /why means the last message of that chat', async () => {
    const { telegram, chat } = await family()
    const mark = await acquainted(telegram, 111)
    telegram.world.say({ from: 444, chat, text: 'dinner at seven' })
    telegram.world.say({ from: 111, chat, text: '/whoami' })
    telegram.world.say({ from: 111, chat, text: '/why' })
    const { text } = await telegram.ledger.nextFromBot('sent', {
      after: mark,
      where: (entry) => entry.text?.startsWith('Remembered') ?? false,
    })
    expect(text).toBe(SUMMARY)
  })

  it('a bare /why of somebody who said nothing there shows nothing of others', async () => {
    const { telegram, chat } = await family()
    const mark = await acquainted(telegram, 555)
    telegram.world.say({ from: 444, chat, text: 'dinner at seven' })
    telegram.world.say({ from: 555, chat, text: '/why' })
    const { text } = await telegram.ledger.nextFromBot('sent', { after: mark })
    expect(text).toMatch(/^I know no recent message of this chat/)
  })

  it('a stranger who asked to be let in: the owner is shown the command that lets them in', async () => {
    const { telegram, daemon } = await family()
    const said = telegram.world.say({ from: 555, text: 'hello' })
    await telegram.ledger.nextFromBot('sent', { where: ({ chatId }) => chatId === 555 })
    const [found] = await daemon.operator.why(String(said.message_id))
    const [asked] = await daemon.operator.admissions.list()
    expect(found?.summary).toMatch(
      /^Refused: direct chats are for known people only, not for a stranger; `\/admit \w+` lets them in\.$/,
    )
    expect(found?.summary).toContain(asked?.code)
  })

  it('everybody may ask about what they wrote, without the settings, and about nobody else', async () => {
    const { telegram, chat } = await family()
    const bobs = telegram.world.say({ from: 444, chat, text: 'dinner at seven' })
    const mark = await acquainted(telegram, 444)
    telegram.world.say({ from: 555, chat, text: '/why', replyTo: bobs })
    telegram.world.say({ from: 444, chat, text: '/why', replyTo: bobs })
    const { text } = await telegram.ledger.nextFromBot('sent', { after: mark })
    expect(text).toMatch(/^Remembered and not answered: .*; a message that mentions the bot is answered\.$/)
    expect(text).not.toContain('setting')
    expect(telegram.ledger.calls('sendMessage', mark)).toHaveLength(1)
  })

  it('a message that never came: the owner is told what may have kept it away', async () => {
    const { telegram } = await family({ privacy: true })
    telegram.world.say({ from: 111, text: `/why https://t.me/c/${PRIVATE}/4711` })
    const { text } = await telegram.ledger.nextFromBot('sent')
    expect(text).toContain('it never reached me')
    expect(text).toContain('privacy mode is on')
  })

  it('of what was refused long ago it is told that the record has aged out', async () => {
    const clock = setClock('2026-11-21T08:00Z')
    const house = await startHousehold({ clock })
    const { telegram, daemon } = house
    const said = telegram.world.say({ from: 555, text: 'let me in' })
    await telegram.ledger.nextFromBot('sent')
    const [found] = await daemon.operator.why(String(said.message_id))
    expect(found).toMatchObject({ outcome: 'refused: stranger' })
    await recorded(house)
    clock.skip(31 * 86_400_000)
    await vi.waitFor(async () => expect(await daemon.operator.why(found?.traceId ?? '')).toEqual([]), 10_000)
    expect(await daemon.operator.unseen(found?.traceId ?? '')).toEqual([
      expect.stringMatching(
        /^Its record has aged out: what was refused or ignored, and commands, from before 2026-11-22/,
      ),
    ])
    expect((await daemon.operator.unseen('tr_nothing')).at(-1)).toMatch(/^Or it came long ago/)
  })
})
