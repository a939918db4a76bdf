import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { agents } from '../fakes/routing-policy.ts'
import { askingHousehold, codeOf, GROUP } from './asking-household.ts'
import { stored } from './injected-stage.ts'

type Asking = Awaited<ReturnType<typeof askingHousehold>>

/** Ada is asked about a payment and allows it from now on. */
async function allowed(
  where: 'here' | 'everywhere',
  { rules = [], ...more }: Parameters<typeof askingHousehold>[0] = {},
) {
  const house = await askingHousehold({ rules, ...more })
  const code = codeOf(await house.say(111, 'pay cy', 'May I use'))
  const after = house.ledger.mark()
  expect(await house.say(111, `/approve ${code} ${where}`, 'Allowed')).toContain(`/approvals forget ${code}`)
  await house.heard(111, 'it says: paid', after)
  return { house, code }
}

/** Bob asks for a payment in the group; returns what Ada or the group hears next. */
async function groupPays({ world, ledger }: Asking, to: string): Promise<string> {
  const after = ledger.mark()
  world.say({ from: 444, chat: GROUP, text: `@parley_bot pay ${to}` })
  return (await ledger.nextFromBot('sent', { after, where: ({ text }) => /May I use|it says/.test(text) })).text
}

describe('a rule that an owner gives with an answer', () => {
  it('T32: holds where it was given until it is taken back, and is listed meanwhile', async () => {
    const { house, code } = await allowed('here')
    expect(await house.say(111, 'pay dan', 'it says')).toContain('paid')
    expect(await house.say(111, '/approvals', 'Without asking')).toContain(`/approvals forget ${code}`)
    await house.restart()
    expect(await house.say(111, 'pay eve', 'it says')).toContain('paid')
    await house.say(111, `/approvals forget ${code}`, 'Forgotten')
    await house.say(111, 'pay fay', 'May I use')
    await house.say(111, `/approvals forget ${code}`, 'no standing rule')
    expect(house.paid).toEqual(['cy', 'dan', 'eve'])
  })

  it('T32: holds for nobody else, there or elsewhere', async () => {
    const { house } = await allowed('everywhere')
    expect(await groupPays(house, 'dan')).toContain('May I use')
    expect(house.paid).toEqual(['cy'])
  })

  it('T32: given where a member spoke, holds for members there, and for no strangers', async () => {
    const house = await askingHousehold()
    const code = codeOf(await groupPays(house, 'cy'))
    const after = house.ledger.mark()
    await house.say(111, `/approve ${code} here`, 'Allowed')
    await house.heard(GROUP, 'it says: paid', after)
    expect(await groupPays(house, 'dan')).toContain('paid')
    house.world.say({ from: 555, chat: GROUP, text: 'I am new here' })
    expect(await groupPays(house, 'eve')).toContain('May I use')
    expect(house.paid).toEqual(['cy', 'dan'])
  })

  it('T32: is for those whose words were shown when it was asked, whoever speaks before the answer', async () => {
    const house = await askingHousehold()
    const after = house.ledger.mark()
    const code = codeOf(await house.say(111, '@parley_bot pay cy', 'May I use', GROUP))
    await stored(house, house.world.say({ from: 444, chat: GROUP, text: 'I am off' }).message_id)
    await house.say(111, `/approve@parley_bot ${code} here`, 'Allowed', GROUP)
    await house.heard(GROUP, 'it says: paid', after)
    expect(await house.say(111, '/approvals', 'Without asking')).toContain('for owners')
    expect(await groupPays(house, 'dan')).toContain('May I use')
    expect(house.paid).toEqual(['cy'])
  })

  it('T32: is not given where a stranger has spoken; the call itself still may be allowed', async () => {
    const house = await askingHousehold()
    house.world.say({ from: 555, chat: GROUP, text: 'I am new here' })
    const code = codeOf(await groupPays(house, 'cy'))
    await house.say(111, `/approve ${code} here`, 'Only once')
    const after = house.ledger.mark()
    await house.say(111, `/approve ${code}`, 'Allowed')
    await house.heard(GROUP, 'it says: paid', after)
    expect(await house.say(111, '/approvals', 'nothing')).not.toContain('Without asking')
  })

  it('T32: is not given afterwards with a call that was allowed once', async () => {
    const house = await askingHousehold()
    const code = codeOf(await house.say(111, 'pay cy', 'May I use'))
    await house.say(111, `/approve ${code}`, 'Allowed')
    await house.say(111, `/approve ${code} here`, 'is over')
    await house.say(111, `/approve ${code} nowhere`, 'for a standing rule')
    expect(await house.say(111, 'pay dan', 'May I use')).toContain('dan')
  })

  it('T32: holds no more where a member has spoken, and had it forgotten', async () => {
    const house = await askingHousehold({ rules: [{ tools: ['pay'], who: ['owner'], action: 'allow' }] })
    const pay = (to: string) => house.say(111, `@parley_bot pay ${to}`, '', GROUP)
    expect(await pay('cy')).toContain('it says: paid')
    await house.say(444, '@parley_bot pay bob the rest', 'fine', GROUP)
    await house.say(444, '/forget@parley_bot me yes', '', GROUP)
    expect(await pay('dan')).toContain('May I use')
    expect(JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages)).not.toContain('bob the rest')
    expect(house.paid).toEqual(['cy'])
  })

  it('T32: lifts no rule of the configuration that denies', async () => {
    const { house } = await allowed('here', {
      rules: [{ tools: ['pay'], who: ['member'], in: [`telegram:group:${GROUP}`], action: 'deny' }],
    })
    expect(await groupPays(house, 'dan')).toContain('Denied')
    expect(house.paid).toEqual(['cy'])
  })

  it('T32: everywhere is for no other agent', async () => {
    const dispatch = [{ match: { chat: String(GROUP) }, agent: toAgentId('work') }]
    const { house, code } = await allowed('everywhere', { routing: { agents: agents('main', 'work'), dispatch } })
    const after = house.ledger.mark()
    house.world.say({ from: 111, chat: GROUP, text: '@parley_bot pay dan' })
    expect((await house.heard(GROUP, '', after)).text).toContain('May I use')
    expect(await house.say(111, '/approvals', 'Without asking')).toContain(
      `pay everywhere, for owners, by ada: /approvals forget ${code}`,
    )
    expect(house.paid).toEqual(['cy'])
  })

  it('T32: here is for no other agent that comes to have the same conversation, and is listed with its agent', async () => {
    const { house } = await allowed('here', { routing: { agents: agents('main', 'work') } })
    const { config } = house
    await house.restart({
      agents: config.agents.toReversed(),
      routing: { ...config.routing, agents: agents('work', 'main') },
    })
    expect(await house.say(111, 'pay dan', '')).toContain('May I use')
    expect(await house.say(111, '/approvals', 'Without asking')).toContain('by the agent main')
    expect(house.paid).toEqual(['cy'])
  })
})
