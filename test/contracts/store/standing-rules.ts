import { expect, it } from 'vitest'
import type { StandingRule } from '../../../src/core/approval.ts'
import { toAgentId } from '../../../src/core/ids.ts'
import type { ContractPart } from './under-test.ts'

const agent = toAgentId('main')
const HERE: StandingRule = { code: 'bbbbb', tool: 'pay', agent, in: 'telegram:-1', who: 'member', by: 'ada', at: 1 }
const EVERYWHERE: StandingRule = { code: 'aaaaa', tool: 'pay', agent, who: 'owner', by: 'telegram:111', at: 2 }

export const standingRuleContract: ContractPart = (underTest) => {
  it('T32: those given in a chat are kept as they are until they are taken back', async () => {
    await underTest.store.write(async ({ standingRules }) => {
      await standingRules.add(EVERYWHERE)
      await standingRules.add(HERE)
      await standingRules.add({ ...HERE, tool: 'another' })
    })
    const { read, write } = await underTest.reopen()
    expect(await read.standingRules.all()).toEqual([HERE, EVERYWHERE])
    expect(await write((tx) => tx.standingRules.remove('bbbbb'))).toBe(true)
    expect(await write((tx) => tx.standingRules.remove('bbbbb'))).toBe(false)
    expect(await read.standingRules.all()).toEqual([EVERYWHERE])
  })
}
