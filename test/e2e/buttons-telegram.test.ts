import { describe, expect, it } from 'vitest'
import { askingHousehold, codeOf, GROUP } from './asking-household.ts'
import { setClock } from './set-clock.ts'

type Asking = Awaited<ReturnType<typeof askingHousehold>>

/** The callback data of a message's buttons, by their labels; empty where it has none. */
function buttonsOf(message: { readonly reply_markup?: unknown }): Record<string, string> {
  const { inline_keyboard: rows = [] } = (message.reply_markup ?? {}) as {
    inline_keyboard?: { text: string; callback_data: string }[][]
  }
  return Object.fromEntries(rows.flat().map(({ text, callback_data: data }) => [text, data]))
}

/** Presses a button of a message, and returns the notice that only this person sees. */
async function press({ world, ledger }: Asking, from: number, at: { chat: number; message: number }, data: string) {
  const id = world.press({ from, ...at, data })
  const answered = await ledger.next(
    (entry) => entry.kind === 'call' && entry.method === 'answerCallbackQuery' && entry.params.callback_query_id === id,
  )
  return answered.kind === 'call' ? answered.params.text : undefined
}

/** Asks for a payment in a chat; returns the card, where it stands, and what becomes of it. */
async function asked(house: Asking, chat = 111, text = 'pay cy') {
  const after = house.ledger.mark()
  house.world.say({ from: chat === GROUP ? 444 : chat, text, ...(chat === GROUP ? { chat } : {}) })
  const { message, text: card } = await house.heard(111, 'May I use', after)
  const at = { chat: 111, message: message.message_id }
  const closed = async () => {
    // A card whose answer was lost in a leap of the clock stands there twice.
    const edited = await house.ledger.nextFromBot('edited', {
      after,
      where: ({ text: now }) => now.includes('May I use'),
    })
    return { text: edited.text, buttons: buttonsOf(edited.message) }
  }
  return { card, at, code: codeOf(card), buttons: buttonsOf(message), closed, after }
}

describe('a question with buttons on Telegram', () => {
  it('S7: is answered by one press, and closed with who answered', async () => {
    const house = await askingHousehold()
    const { at, code, buttons, closed, after } = await asked(house)
    expect(buttons).toEqual({
      'Allow once': `/approve ${code}`,
      'Always here': `/approve ${code} here`,
      Deny: `/deny ${code}`,
    })
    expect(await press(house, 111, at, `/approve ${code}`)).toContain('Allowed: pay')
    await house.heard(111, 'it says: paid', after)
    const { text, buttons: left } = await closed()
    expect(text).toContain('"to": "cy"')
    expect(text).toMatch(/Allowed once by ada\.$/)
    expect(left).toEqual({})
    expect(await press(house, 111, at, `/deny ${code}`)).toContain('is over')
    expect(house.paid).toEqual(['cy'])
  })

  it('S7: is closed as well where it was answered by a command', async () => {
    const house = await askingHousehold()
    const { code, closed } = await asked(house)
    await house.say(111, `/deny ${code}`, 'Refused')
    expect(await closed()).toMatchObject({ text: expect.stringMatching(/Refused by ada\.$/), buttons: {} })
  })

  it('S20, F-H07: a press of somebody else is refused to them alone, and decides nothing', async () => {
    const house = await askingHousehold()
    const { code, closed } = await asked(house, GROUP, '@parley_bot pay cy')
    const { messageId: message } = await house.heard(GROUP, 'I have asked')
    const before = house.world.messages(GROUP, { by: 'bot' }).length
    expect(await press(house, 444, { chat: GROUP, message }, `/approve ${code}`)).toBe('Only my owner may do that.')
    expect(await press(house, 555, { chat: GROUP, message }, `/approve ${code}`)).toBe('Only my owner may do that.')
    expect(house.paid).toEqual([])
    expect(house.world.messages(GROUP, { by: 'bot' })).toHaveLength(before)
    await house.say(111, `/approve ${code}`, 'Allowed')
    expect((await closed()).text).toContain('Allowed once by ada')
    expect(house.paid).toEqual(['cy'])
  })

  it('F-G08: a press that no button of ours offered does nothing, and says so', async () => {
    const house = await askingHousehold()
    const { at, code } = await asked(house)
    expect(await press(house, 111, at, 'ap_7')).toContain('does nothing any more')
    expect(await press(house, 111, at, `approve ${code}`)).toContain('does nothing any more')
    expect(await press(house, 111, at, '/approve zzzzz')).toContain('asked nothing')
    expect(house.paid).toEqual([])
  })

  it('S8: is closed when nobody has answered within ten minutes', async () => {
    const clock = setClock('2026-11-24T10:00:00Z')
    const house = await askingHousehold({ clock })
    const waits = clock.timerOf(120_000, 5_000)
    const { closed, after, at, code } = await asked(house)
    await waits
    clock.skip(121_000)
    await house.heard(111, 'it says: ', after)
    clock.skip(480_000)
    expect((await closed()).text).toContain('Nobody answered within ten minutes')
    expect(await press(house, 111, at, `/approve ${code}`)).toContain('is over')
    expect(house.paid).toEqual([])
  })

  it('F-H07: is closed when its turn is stopped', async () => {
    const house = await askingHousehold()
    const { closed } = await asked(house)
    await house.say(111, '/stop', 'Stopped')
    expect((await closed()).text).toContain('not wanted any more')
  })

  it('F-H07: one that was answered while no daemon could edit it is closed after the restart', async () => {
    const house = await askingHousehold()
    const held = house.telegram.faults.add({ method: 'editMessageText', action: { kind: 'hold', when: 'before' } })
    const { code, closed, at } = await asked(house)
    await press(house, 111, at, `/approve ${code}`)
    await held.reached
    const restarted = house.restart()
    held.release('drop')
    await restarted
    expect((await closed()).text).toContain('Allowed once by ada')
  })
})
