import { describe, expect, it } from 'vitest'
import type { InboundDelete } from '../../src/core/message.ts'
import type { GroupRule, RoutingPolicy } from '../../src/core/policy.ts'
import { decide, decidingStep, verdict } from '../fakes/decide.ts'
import { direct, edit, group, message, user } from '../fakes/dispatch.ts'
import { household } from '../fakes/routing-policy.ts'

const STRANGER = user('999')

function policy(common: Partial<RoutingPolicy>, rule: Partial<GroupRule> = {}): RoutingPolicy {
  const groups = [{ match: { chat: '-100' }, who: 'public', trigger: 'mention', ...rule }] as const
  return household({ access: { direct: 'public', groups }, ...common })
}

function deletion(changes: Partial<InboundDelete> = {}): InboundDelete {
  const { text: _text, mentioned: _m, mentionsOthers: _o, attachments: _a, ...rest } = message()
  return { ...rest, kind: 'delete', original: 'e1', sender: { id: 'unknown', kind: 'anonymous' }, ...changes }
}

describe('an edit', () => {
  it.each([
    ['ignore', 'ignore/edits', 'ignore/edits'],
    ['update', 'amend/edited', 'amend/edited'],
    ['rerun', 'run/mentioned', 'amend/edited'],
  ] as const)('edits: %s: addressed %s, unaddressed %s', (edits, addressed, unaddressed) => {
    const verdicts = [true, false].map((mentioned) =>
      verdict(decide(policy({ edits }), edit({ sender: STRANGER, mentioned }))),
    )
    expect(verdicts).toEqual([addressed, unaddressed])
  })

  it('follows the rule of its chat, and in direct chats what holds everywhere', () => {
    const own = policy({ edits: 'rerun' }, { edits: 'ignore' })
    const decision = decide(own, edit({ sender: STRANGER }))
    expect(verdict(decision)).toBe('ignore/edits')
    expect(decidingStep(decision)).toMatchObject({ because: 'edits: ignore', config: 'routing.access.groups[0].edits' })
    expect(verdict(decide(own, edit({ address: direct('111'), sender: user('111') })))).toBe('run/direct')
  })

  it('passes the same gate as a message', () => {
    const closed = policy({ edits: 'rerun' }, { who: 'owner' })
    expect(verdict(decide(closed, edit({ sender: STRANGER, mentioned: true })))).toBe('refuse/access')
  })
})

describe('a deletion', () => {
  it('follows the rule of its chat, whoever did it', () => {
    expect(verdict(decide(policy({}), deletion()))).toBe('amend/deleted')
    expect(verdict(decide(policy({ deletions: 'ignore' }), deletion()))).toBe('ignore/deletions')
    const own = decide(policy({}, { deletions: 'ignore' }), deletion())
    expect(verdict(own)).toBe('ignore/deletions')
    expect(decidingStep(own)).toHaveProperty('config', 'routing.access.groups[0].deletions')
    expect(verdict(decide(policy({}, { deletions: 'ignore' }), deletion({ address: group('-2') })))).toBe(
      'amend/deleted',
    )
    expect(verdict(decide(policy({}), deletion({ address: direct('5') })))).toBe('amend/deleted')
  })
})
