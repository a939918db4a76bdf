import { describe, expect, it } from 'vitest'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { askingHousehold, codeOf, GROUP } from './asking-household.ts'

type Asking = Awaited<ReturnType<typeof askingHousehold>>

/** Resolves with the notice that answers a press. */
async function noticeOf({ ledger }: Asking, id: string): Promise<unknown> {
  const answered = await ledger.next(
    (entry) => entry.kind === 'call' && entry.method === 'answerCallbackQuery' && entry.params.callback_query_id === id,
  )
  return answered.kind === 'call' ? answered.params.text : undefined
}

/** Ada is asked about a payment of hers; returns the card and how its buttons are pressed. */
async function asked() {
  const house = await askingHousehold()
  house.world.say({ from: 111, text: 'pay cy' })
  const { message, text } = await house.heard(111, 'May I use')
  const code = codeOf(text)
  const press = (data: string, from = 111, at = { chat: 111, message: message.message_id }): Promise<unknown> =>
    noticeOf(house, house.world.press({ from, ...at, data }))
  return { house, message, code, press }
}

describe('a press on a card', () => {
  it('F-H07: twice at once has the call made once, and both are answered', async () => {
    const { house, code, press } = await asked()
    const notices = await Promise.all([press(`/approve ${code}`), press(`/approve ${code}`)])
    expect(notices).toEqual([expect.stringContaining('Allowed: pay'), expect.stringContaining('Allowed: pay')])
    await house.heard(111, 'it says: paid')
    expect(house.paid).toEqual(['cy'])
  })

  it('F-H07: yes and no at once: the first counts, the other is told that it is over', async () => {
    const { house, code, press } = await asked()
    const [yes, no] = await Promise.all([press(`/approve ${code}`), press(`/deny ${code}`)])
    const allowed = String(yes).includes('Allowed')
    expect(allowed ? no : yes).toContain('is over')
    await house.heard(111, 'it says')
    expect(house.paid).toEqual(allowed ? ['cy'] : [])
  })

  it('F-H07: of somebody who was owner when it was sent is refused, whatever it says', async () => {
    const { house, code, press } = await asked()
    await house.restart({
      routing: policy({
        people: [member('ada', 'telegram:111'), owner('bob', 'telegram:444')],
        access: { direct: 'public', groups: [] },
      }),
    })
    expect(await press(`/approve ${code}`)).toBe('Only my owner may do that.')
    expect(await press(`/approve ${code} here`)).toBe('Only my owner may do that.')
    expect(house.paid).toEqual([])
  })

  it('F-H07: of a bot is answered with nothing, of an id that many share with a refusal: neither decides', async () => {
    const { house, code, press } = await asked()
    house.world.addUser({ id: 900, firstName: 'Bot', username: 'some_bot', isBot: true })
    house.world.addUser({ id: 1087968824, firstName: 'Group', username: 'GroupAnonymousBot', isBot: true })
    expect(await press(`/approve ${code}`, 900)).toBeUndefined()
    expect(await press(`/approve ${code}`, 1087968824)).toBe('Only my owner may do that.')
    expect(house.paid).toEqual([])
    expect(await press(`/approve ${code}`)).toContain('Allowed: pay')
  })

  it('F-H07: on a forwarded card, in a chat of others, is refused to all but owners', async () => {
    const { house, message, code, press } = await asked()
    const copy = house.world.forward({ from: 111, chat: GROUP, of: { chat: 111, message } })
    house.world.say({ from: 444, chat: GROUP, text: '@parley_bot hello' })
    const { messageId } = await house.heard(GROUP, 'fine')
    expect(copy).not.toHaveProperty('reply_markup')
    const there = { chat: GROUP, message: messageId }
    for (const from of [444, 555])
      expect(await press(`/approve ${code}`, from, there)).toBe('Only my owner may do that.')
    expect(house.paid).toEqual([])
    expect(await press(`/approve ${code}`, 111, there)).toContain('Allowed: pay')
    await house.heard(111, 'it says: paid')
    expect(house.paid).toEqual(['cy'])
  })
})
