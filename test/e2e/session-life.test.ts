import { describe, expect, it } from 'vitest'
import { type Household, startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

async function tell(house: Household, text: string, from = 111, chat?: number): Promise<string> {
  const mark = house.telegram.ledger.mark()
  house.telegram.world.say({ from, text, ...(chat === undefined ? {} : { chat }) })
  return (await house.telegram.ledger.nextFromBot('sent', { after: mark })).text
}

/** Resolves once every turn before is on record as ended: what people see may be there a moment earlier. */
async function settled(house: Household): Promise<void> {
  await house.daemon.operator.sessions.post('telegram:direct:111', { text: 'are you done?' })
}

const listed = async (house: Household, inactive = false) =>
  (await house.daemon.operator.sessions.list({ limit: 50, offset: 0, inactive })).sessions

describe('participants', () => {
  it('S22, S45: whoever writes in a group takes part in it once, answered or not, also over a restart', async () => {
    const house = await startHousehold()
    const { id: chat } = house.telegram.world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444, 555] })
    house.telegram.world.say({ from: 444, chat, text: 'dinner at seven' })
    for (const from of [555, 555, 111]) await tell(house, '@parley_bot when?', from, chat)
    await house.restart()
    await tell(house, '@parley_bot and now?', 555, chat)
    const { participants } = await house.daemon.operator.sessions.show(`telegram:group:${chat}`)
    expect(participants).toEqual(['telegram:444', 'telegram:555', 'telegram:111'])
  })

  it('S45: the sender of a direct message takes part in that session', async () => {
    const house = await startHousehold({ routing: { access: { direct: 'public', groups: [] } } })
    await tell(house, 'hello', 444)
    const { participants } = await house.daemon.operator.sessions.show('telegram:direct:444')
    expect(participants).toEqual(['telegram:444'])
  })
})

describe('the life of a session', () => {
  it('S12, S11: after three days without a word it is inactive, at once after a start; the next message takes it up', async () => {
    const clock = setClock('2026-11-21T08:00:00Z')
    const house = await startHousehold({ clock })
    await tell(house, 'hello')
    await settled(house)
    const [before] = await listed(house)
    clock.skip(3 * 86_400_000 + 60_000)
    await house.restart()
    expect(await listed(house)).toEqual([])
    expect((await listed(house, true))[0]).toMatchObject({ id: before?.id, status: 'inactive' })
    await tell(house, 'me again')
    await settled(house)
    expect((await listed(house))[0]).toMatchObject({ id: before?.id, turns: 4 })
  })

  it('S41, C32: after a deletion the chat begins afresh, and nothing of the old one comes back with a restart', async () => {
    const house = await startHousehold()
    await tell(house, 'a secret')
    await settled(house)
    const [old] = await listed(house)
    await house.daemon.operator.sessions.delete('telegram:direct:111')
    expect(await listed(house, true)).toEqual([])
    await tell(house, 'hello')
    await house.restart()
    const [fresh] = await listed(house, true)
    expect(fresh?.id).not.toBe(old?.id)
    expect(fresh).toMatchObject({ turns: 1, description: 'hello' })
  })

  it('T37: what a session was told last, where and how the last run ended', async () => {
    const house = await startHousehold()
    await tell(house, 'hello')
    await settled(house)
    expect(await house.daemon.operator.sessions.show('telegram:direct:111')).toMatchObject({
      systemSent: true,
      abortedLastRun: false,
      lastChannel: 'telegram',
      lastTo: 'telegram:direct:111',
    })
  })
})

describe('send policy of a session', () => {
  it('T26, T30: a denied session runs no model and says nothing, over /new and a restart; null inherits again', async () => {
    const house = await startHousehold()
    await tell(house, 'hello')
    await house.daemon.operator.sessions.patch('telegram:direct:111', { sendPolicy: 'deny' })
    const denied = house.telegram.world.say({ from: 111, text: 'anybody?' })
    await house.telegram.ledger.confirmed(house.telegram.ledger.updateIdOf(denied))
    const [why] = await house.daemon.operator.why(String(denied.message_id))
    expect(why).toMatchObject({ decision: 'context', reason: 'send_policy', outcome: 'refused: send_policy' })
    expect(await tell(house, '/new')).toContain('fresh')
    await house.restart()
    const again = house.telegram.world.say({ from: 111, text: 'still nobody?' })
    await house.telegram.ledger.confirmed(house.telegram.ledger.updateIdOf(again))
    expect((await house.daemon.operator.why(String(again.message_id)))[0]).toMatchObject({ reason: 'send_policy' })
    await house.daemon.operator.sessions.patch('telegram:direct:111', { sendPolicy: null })
    expect(await tell(house, 'and now?')).toContain('and now?')
  })
})
