import { expect, test } from 'vitest'
import { approversOf, decideToolUse, type Speaking } from '../../src/approvals/tool-policy.ts'
import type { ToolRule } from '../../src/core/approval.ts'
import type { ToolReach } from '../../src/core/call-gate.ts'
import { toAgentId, toPersonId } from '../../src/core/ids.ts'

const MAIN = toAgentId('main')
const ADA: Speaking = { person: toPersonId('ada'), role: 'owner' }
const BOB: Speaking = { person: toPersonId('bob'), role: 'member' }
const GUEST: Speaking = { role: 'guest' }

const rule = (action: ToolRule['action'], who: readonly string[], more: Partial<ToolRule> = {}): ToolRule => ({
  ...{ tools: ['pay'], who, action },
  ...more,
})

const decide = (
  rules: readonly ToolRule[],
  speaking: readonly Speaking[],
  {
    tool = 'pay',
    reach = 'beyond',
    place = 'telegram:direct:1',
  }: { tool?: string; reach?: ToolReach; place?: string } = {},
) => decideToolUse(rules, { tool, agent: MAIN, reach, speaking, place: [place] })

test('T32: without a rule, what acts beyond the conversation is asked about and the rest is allowed', () => {
  expect(decide([], [ADA])).toBe('ask')
  expect(decide([], [ADA], { reach: 'inside' })).toBe('allow')
  expect(decide([], [ADA], { reach: 'judged' })).toBe('allow')
})

test('T32: a rule has to fit everybody whose words the turn was shown, and nobody is nobody', () => {
  const owners = [rule('allow', ['owner'])]
  expect(decide(owners, [ADA])).toBe('allow')
  expect(decide(owners, [ADA, BOB])).toBe('ask')
  expect(decide(owners, [])).toBe('ask')
  expect(decide([rule('allow', ['member'])], [ADA, BOB])).toBe('allow')
  expect(decide([rule('allow', ['member'])], [ADA, GUEST])).toBe('ask')
  expect(decide([rule('allow', ['bob'])], [BOB])).toBe('allow')
  expect(decide([rule('allow', ['bob'])], [ADA])).toBe('ask')
  expect(decide([rule('allow', ['everybody'])], [ADA, GUEST])).toBe('allow')
  expect(decide([rule('allow', ['everybody'])], [])).toBe('allow')
})

test('T32: for each person the first rule counts, of all of them the strictest', () => {
  const rules = [rule('deny', ['bob']), rule('allow', ['member']), rule('ask', ['everybody'])]
  expect(decide(rules, [ADA])).toBe('allow')
  expect(decide(rules, [ADA, BOB])).toBe('deny')
  expect(decide(rules, [ADA, GUEST])).toBe('ask')
})

test('T32: a rule may be for some tools and for some places, each with its topics', () => {
  const files = [rule('allow', ['owner'], { tools: ['files_*'] })]
  expect(decide(files, [ADA], { tool: 'files_read' })).toBe('allow')
  expect(decide(files, [ADA], { tool: 'files' })).toBe('ask')
  const there = [rule('allow', ['owner'], { in: ['telegram:group:-1'] })]
  expect(decide(there, [ADA], { place: 'telegram:group:-1' })).toBe('allow')
  expect(decide(there, [ADA], { place: 'telegram:group:-1/7' })).toBe('allow')
  expect(decide(there, [ADA], { place: 'telegram:group:-12' })).toBe('ask')
})

test('T32: a rule may ask about a tool that stays inside, or deny it', () => {
  expect(decide([rule('ask', ['everybody'])], [ADA], { reach: 'inside' })).toBe('ask')
  expect(decide([rule('deny', ['everybody'])], [ADA], { reach: 'judged' })).toBe('deny')
})

test('T32: besides owners those answer whom every rule names that asks because of somebody', () => {
  const [bob, cy] = [toPersonId('bob'), toPersonId('cy')]
  const rules = [
    rule('allow', ['owner']),
    rule('ask', ['bob'], { approvers: [bob, cy] }),
    rule('ask', ['member'], { approvers: [cy] }),
  ]
  const CY: Speaking = { person: cy, role: 'member' }
  const approvers = (...speaking: Speaking[]) => approversOf(rules, { tool: 'pay', speaking, place: ['x'] })
  expect(approvers(BOB)).toEqual([bob, cy])
  expect(approvers(ADA, BOB)).toEqual([bob, cy])
  expect(approvers(BOB, CY)).toEqual([cy])
  // No rule fits a stranger, and nobody's: an owner alone answers.
  expect(approvers(BOB, GUEST)).toEqual([])
  expect(approvers()).toEqual([])
  expect(approvers(ADA)).toEqual([])
})

test('T32: a rule of a place holds in its topics and for the sessions of each sender there, and nowhere else', () => {
  const here = [rule('deny', ['everybody'], { in: ['telegram:group:-1'] })]
  for (const place of ['telegram:group:-1', 'telegram:group:-1/5', 'telegram:group:-1|sender=bob'])
    expect(decide(here, [BOB], { place })).toBe('deny')
  expect(decide(here, [BOB], { place: 'telegram:group:-12' })).toBe('ask')
})

test('T32: a rule that an owner gave in a chat holds in that conversation alone, under each name of its chat', () => {
  const standing = [
    { code: 'a', tool: 'pay', agent: MAIN, who: 'owner', by: 'ada', at: 0, in: 'telegram:group:-1' } as const,
  ]
  const verdict = (...place: string[]) =>
    decideToolUse([], { tool: 'pay', agent: MAIN, reach: 'beyond', speaking: [ADA], place, standing })
  expect(verdict('telegram:group:-1')).toBe('allow')
  expect(verdict('telegram:group:-100', 'telegram:group:-1')).toBe('allow')
  expect(verdict('telegram:group:-1/7')).toBe('ask')
  expect(verdict('telegram:group:-1|sender=telegram:111')).toBe('ask')
})
