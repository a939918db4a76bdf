import { describe, expect, it } from 'vitest'
import type { ToolRule } from '../../src/core/approval.ts'
import { askingHousehold, codeOf } from './asking-household.ts'

const GROUP = -2001
const SPOT = `telegram:group:${GROUP}`

/** A group of Ada and Bob, which becomes a supergroup when it is told to. */
async function group(rules: readonly ToolRule[] = []) {
  const house = await askingHousehold({ rules })
  house.world.addChat({ type: 'group', title: 'Garden', id: GROUP, members: [111, 444] })
  const pay = (from: number, to: string, chat: number) => house.say(from, `@parley_bot pay ${to}`, '', chat)
  return { house, pay }
}

describe('a rule about tools that names a group', () => {
  it('F-C07: denies there what it denied, after the group has become a supergroup', async () => {
    const { house, pay } = await group([
      { tools: ['pay'], who: ['everybody'], in: [SPOT], action: 'deny' },
      { tools: ['pay'], who: ['member'], action: 'allow' },
    ])
    expect(await pay(444, 'dan', GROUP)).toContain('Denied')
    const { id } = house.world.migrate(GROUP)
    expect(await pay(444, 'eve', id)).toContain('Denied')
    await house.restart()
    expect(await pay(444, 'fay', id)).toContain('Denied')
    expect(house.paid).toEqual([])
    const warned = house.log.lines.filter(({ sentence }) => sentence === 'A setting is doubtful')
    expect(warned.map(({ fields }) => fields.warning)).toEqual([
      `tools.policy[0].in: ${SPOT} is the former name of telegram:group:${id}; write that`,
    ])
  })

  it('F-C07: given by an owner in an answer, holds after the group has become a supergroup', async () => {
    const { house, pay } = await group()
    const code = codeOf(await pay(111, 'cy', GROUP))
    const after = house.ledger.mark()
    await house.say(111, `/approve@parley_bot ${code} here`, 'Allowed', GROUP)
    await house.heard(GROUP, 'it says: paid', after)
    const { id } = house.world.migrate(GROUP)
    expect(await pay(111, 'dan', id)).toContain('it says: paid')
    expect(house.paid).toEqual(['cy', 'dan'])
  })
})
