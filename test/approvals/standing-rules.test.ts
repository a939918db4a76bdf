import { expect, test } from 'vitest'
import { inForce } from '../../src/approvals/standing-rules.ts'
import type { StandingRule } from '../../src/core/approval.ts'
import { toAgentId } from '../../src/core/ids.ts'

const rule = (code: string, by: string): StandingRule => ({
  ...{ code, tool: 'order', agent: toAgentId('main'), who: 'owner', by, at: 0 },
})

test('S7: a standing rule holds as long as whoever gave it is an owner', async () => {
  const rules = [rule('a', 'ada'), rule('b', 'bob'), rule('c', 'ada')]
  expect(await inForce(rules, async (by) => by === 'ada')).toEqual([rules[0], rules[2]])
})
